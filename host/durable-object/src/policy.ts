/**
 * Policies, in the JSON form that all hosts share: names in snake_case, a nested table whole, null = off.
 *
 * @module
 */
import type * as wit from "../generated/interfaces/halfopen-breaker-types.js";
import { U64_MAX, isRecord, kind } from "./arguments.js";
import { number } from "./convert.js";
import { type PolicyFault, invalidPolicy } from "./faults.js";

/**
 * What a breaker goes by. Every `*_ms` is 1 to 2,592,000,000 (30 days) unless said otherwise, every percentage 1 to 100.
 * The component checks the ranges, all at once.
 */
export interface Policy {
  /** Trip after so many failures in a row; 0 to 1,000,000, 0 = off. Default 5. */
  consecutive_failures: number;
  /** Trip when failures make up a percentage of the window; null = off. Default 50 percent of at least 20 calls. */
  failure_rate: { percent: number; minimum_calls: number } | null;
  /** Count slow calls, and trip when they make up a percentage of the window; null = off, the default. */
  slow_calls: { slower_than_ms: number; percent: number; minimum_calls: number } | null;
  /** What the percentages are taken of: the last so many ms (10 to 86,400,000, a multiple of 10) or calls (1 to 1,000). Default 30,000 ms. */
  window: { ms: number } | { calls: number };
  /** How long the first open window lasts, before jitter. Default 5,000. */
  open_ms: number;
  /** Each backoff level multiplies the open window by this; 1 to 100. Default 2. */
  open_multiplier: number;
  /** The longest open window, before jitter. Default 300,000. */
  open_max_ms: number;
  /** Lengthen each open window by a random 0 to so many percent; 0 to 100. Default 20. */
  jitter_percent: number;
  /** Closed for so long, the backoff starts afresh; from 0. Default 60,000. */
  stable_after_ms: number;
  /** How long the lease of a probe lasts unless it is renewed; at most `probe_max_ms`. Default 5,000. */
  lease_ms: number;
  /** The longest a lease can last with all its renewals. Default 60,000. */
  probe_max_ms: number;
  /** How many leases may be live at once; 1 to 100. Default 1. */
  probes: number;
  /** How many successful probes close the breaker; 1 to 1,000,000. Default 1. */
  successes_to_close: number;
  /** When a lease expires without a report: let the next claimant in at once, or open again. Default `reprobe`. */
  lost_probe: wit.LostProbe;
  /** Admit calls gradually after probes have closed the breaker; null = all at once, the default. */
  ramp: { over_ms: number; from_percent: number } | null;
  /** How long an isolate may act on its last look; from 0, 0 = it asks every time. Default 250. */
  fresh_ms: number;
}

/** A policy as given: what is left out has its built-in default. */
export type PolicyInput = { [K in keyof Policy]?: Policy[K] | undefined };

/** The policy that a dependency goes by. */
export interface PolicyInForce {
  /** The policy. */
  policy: Policy;
  /** Whether it is the host's default or the dependency's own. */
  origin: wit.PolicyOrigin;
}

const U32_MAX = 0xffff_ffff;
const FIELDS: readonly (keyof Policy)[] = [
  "consecutive_failures",
  "failure_rate",
  "slow_calls",
  "window",
  "open_ms",
  "open_multiplier",
  "open_max_ms",
  "jitter_percent",
  "stable_after_ms",
  "lease_ms",
  "probe_max_ms",
  "probes",
  "successes_to_close",
  "lost_probe",
  "ramp",
  "fresh_ms",
];

/**
 * Reads a policy; what it leaves out comes from `defaults`. Its shape is judged here, its ranges by the component: a
 * number that fits no integer becomes the largest, which is out of every range.
 */
export function readPolicy(input: unknown, defaults: wit.Policy): wit.Policy {
  const reader = new Reader();
  const table = reader.table("policy", "", input, FIELDS, []);
  const u32 = (key: keyof Policy, byDefault: number): number => reader.u32(dashed(key), table[key], byDefault);
  const u64 = (key: keyof Policy, byDefault: bigint): bigint => reader.u64(dashed(key), table[key], byDefault);
  const failureRate = reader.optional("failure-rate", table["failure_rate"], ["percent", "minimum_calls"]);
  const slowCalls = reader.optional("slow-calls", table["slow_calls"], ["slower_than_ms", "percent", "minimum_calls"]);
  const ramp = reader.optional("ramp", table["ramp"], ["over_ms", "from_percent"]);
  const policy: wit.Policy = {
    consecutiveFailures: u32("consecutive_failures", defaults.consecutiveFailures),
    ...present("failureRate", defaults.failureRate, failureRate, (rate) => ({
      percent: reader.u32("failure-rate.percent", rate["percent"], 0),
      minimumCalls: reader.u32("failure-rate.minimum-calls", rate["minimum_calls"], 0),
    })),
    ...present("slowCalls", defaults.slowCalls, slowCalls, (slow) => ({
      slowerThanMs: reader.u64("slow-calls.slower-than-ms", slow["slower_than_ms"], 0n),
      percent: reader.u32("slow-calls.percent", slow["percent"], 0),
      minimumCalls: reader.u32("slow-calls.minimum-calls", slow["minimum_calls"], 0),
    })),
    window: reader.window(table["window"], defaults.window),
    openMs: u64("open_ms", defaults.openMs),
    openMultiplier: reader.float("open-multiplier", table["open_multiplier"], defaults.openMultiplier),
    openMaxMs: u64("open_max_ms", defaults.openMaxMs),
    jitterPercent: u32("jitter_percent", defaults.jitterPercent),
    stableAfterMs: u64("stable_after_ms", defaults.stableAfterMs),
    leaseMs: u64("lease_ms", defaults.leaseMs),
    probeMaxMs: u64("probe_max_ms", defaults.probeMaxMs),
    probes: u32("probes", defaults.probes),
    successesToClose: u32("successes_to_close", defaults.successesToClose),
    lostProbe: reader.lostProbe(table["lost_probe"], defaults.lostProbe),
    ...present("ramp", defaults.ramp, ramp, (ramp) => ({
      overMs: reader.u64("ramp.over-ms", ramp["over_ms"], 0n),
      fromPercent: reader.u32("ramp.from-percent", ramp["from_percent"], 0),
    })),
    freshMs: u64("fresh_ms", defaults.freshMs),
  };
  if (reader.faults.length > 0) throw invalidPolicy(reader.faults);
  return policy;
}

/** A policy in JSON's form. */
export function writePolicy(policy: wit.Policy): Policy {
  const { failureRate, slowCalls, window, ramp } = policy;
  return {
    consecutive_failures: policy.consecutiveFailures,
    failure_rate: failureRate ? { percent: failureRate.percent, minimum_calls: failureRate.minimumCalls } : null,
    slow_calls: slowCalls
      ? {
          slower_than_ms: number(slowCalls.slowerThanMs),
          percent: slowCalls.percent,
          minimum_calls: slowCalls.minimumCalls,
        }
      : null,
    window: window.tag === "ms" ? { ms: number(window.val) } : { calls: window.val },
    open_ms: number(policy.openMs),
    open_multiplier: policy.openMultiplier,
    open_max_ms: number(policy.openMaxMs),
    jitter_percent: policy.jitterPercent,
    stable_after_ms: number(policy.stableAfterMs),
    lease_ms: number(policy.leaseMs),
    probe_max_ms: number(policy.probeMaxMs),
    probes: policy.probes,
    successes_to_close: policy.successesToClose,
    lost_probe: policy.lostProbe,
    ramp: ramp ? { over_ms: number(ramp.overMs), from_percent: ramp.fromPercent } : null,
    fresh_ms: number(policy.freshMs),
  };
}

/** A table that was given, or `off`, or left out. */
type Given = Record<string, unknown> | "off" | undefined;

/** A table as a property that is absent where it is off. */
function present<K extends string, T>(
  key: K,
  byDefault: T | undefined,
  given: Given,
  read: (table: Record<string, unknown>) => T,
): { [P in K]?: T } {
  const value = given === undefined ? byDefault : given === "off" ? undefined : read(given);
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: T };
}

/** Collects what is wrong with the shape of a policy. */
class Reader {
  readonly faults: PolicyFault[] = [];

  table(
    field: string,
    prefix: string,
    value: unknown,
    known: readonly string[],
    required: readonly string[],
  ): Record<string, unknown> {
    if (!isRecord(value)) {
      this.#fault(field, `must be an object, not ${kind(value)}`);
      return {};
    }
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) this.#fault(`${prefix}${key.slice(0, 40)}`, `is unknown; known are ${known.join(", ")}`);
    }
    for (const key of required) {
      if (value[key] === undefined) this.#fault(`${prefix}${dashed(key)}`, "is missing; a nested table is whole");
    }
    return value;
  }

  optional(field: string, value: unknown, keys: readonly string[]): Given {
    if (value === undefined) return undefined;
    if (value === null || value === "off") return "off";
    const faults = this.faults.length;
    const table = this.table(field, `${field}.`, value, keys, keys);
    return this.faults.length > faults ? "off" : table;
  }

  window(value: unknown, byDefault: wit.Window): wit.Window {
    if (value === undefined) return byDefault;
    const keys = isRecord(value) ? Object.keys(value) : [];
    if (isRecord(value) && keys.length === 1 && keys[0] === "ms") {
      return { tag: "ms", val: this.u64("window.ms", value["ms"], 0n) };
    }
    if (isRecord(value) && keys.length === 1 && keys[0] === "calls") {
      return { tag: "calls", val: this.u32("window.calls", value["calls"], 0) };
    }
    this.#fault("window", 'must be {"ms": ...} or {"calls": ...}');
    return byDefault;
  }

  lostProbe(value: unknown, byDefault: wit.LostProbe): wit.LostProbe {
    if (value === undefined) return byDefault;
    if (value === "reprobe" || value === "reopen") return value;
    this.#fault("lost-probe", `must be "reprobe" or "reopen", not ${kind(value)}`);
    return byDefault;
  }

  float(field: string, value: unknown, byDefault: number): number {
    if (value === undefined) return byDefault;
    if (typeof value === "number") return value;
    this.#fault(field, `must be a number, not ${kind(value)}`);
    return byDefault;
  }

  u32(field: string, value: unknown, byDefault: number): number {
    const whole = this.u64(field, value, BigInt(byDefault));
    return whole > U32_MAX ? U32_MAX : Number(whole);
  }

  u64(field: string, value: unknown, byDefault: bigint): bigint {
    if (value === undefined) return byDefault;
    if (typeof value === "bigint") return value >= 0n && value <= U64_MAX ? value : U64_MAX;
    if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : U64_MAX;
    this.#fault(field, `must be a number, not ${kind(value)}`);
    return byDefault;
  }

  #fault(field: string, why: string): void {
    this.faults.push({ field, why });
  }
}

function dashed(key: string): string {
  return key.replaceAll("_", "-");
}
