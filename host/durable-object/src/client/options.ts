/**
 * Options of a client, and their checks: code that is not typed gets an error at once, and not at its first outage.
 *
 * @module
 */
import { invalidArgument } from "../contract/faults.js";
import { isRecord, kind, quote } from "../contract/values.js";
import { LONGEST_HOLD } from "./background.js";
import type { Place } from "./rpc.js";

const CHOICES = ["fail-closed", "fail-open", "last-known"] as const;

/**
 * The answer to an acquire when the object is out of reach, or fails: its storage, its component, a record of a later
 * release, a default policy that is not valid. Each outage is logged as an error.
 *
 * - `fail-closed`, the default, defers with the reason `unreachable`.
 * - `fail-open` admits. Nothing of such a call is recorded.
 * - `last-known` goes by this isolate's last answer: it admits, unrecorded, or defers for the rest; without one it defers.
 *   It never probes.
 */
export type WhenUnreachable = (typeof CHOICES)[number];

/** Options of a client. */
export interface BreakerOptions extends Place {
  /** Breakers of different namespaces see nothing of each other. Default `default`. */
  namespace?: string | undefined;
  /** The caller that leases and failures are kept with, as `inspect` shows it; up to 128 bytes. Default `worker`. */
  caller?: string | undefined;
  /** The operator of acts by hand, where the act names none; up to 128 bytes. Default none. */
  operator?: string | undefined;
  /** The answer to an acquire when the object is out of reach. Default `fail-closed`. */
  whenUnreachable?: WhenUnreachable | undefined;
  /** The time that the object has to answer, in ms. Default 2,000. */
  answerWithinMs?: number | undefined;
  /** The time limit of a call in ms, where the call names none. Default 25,000. */
  timeoutMs?: number | undefined;
  /** Whether the isolate acts on its cached decision for the time that the policy's `fresh_ms` allows. Default true. */
  localAdmission?: boolean | undefined;
}

/** Options with their defaults. */
export type CheckedOptions = Pick<BreakerOptions, keyof Place | "operator"> & {
  [K in Exclude<keyof BreakerOptions, keyof Place | "operator">]-?: Exclude<BreakerOptions[K], undefined>;
};

/** The longest time of a timer of the runtime, in ms. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** The longest time that an object has to answer, in ms: a request that its client has left ends 30 seconds later. */
const LONGEST_ANSWER = 20_000;
const LONGEST_TEXT = 128;

/**
 * Checks options, and fills in the defaults.
 *
 * @throws BreakerError
 */
export function checkedOptions(given: unknown): CheckedOptions {
  const options = fields("the options of a breaker", given, [
    "namespace",
    "caller",
    "operator",
    "whenUnreachable",
    "answerWithinMs",
    "timeoutMs",
    "localAdmission",
    "locationHint",
    "jurisdiction",
  ]);
  const choice = CHOICES.find((choice) => choice === (options["whenUnreachable"] ?? "fail-closed"));
  if (choice === undefined) {
    throw invalidArgument(`whenUnreachable must be one of ${CHOICES.join(", ")}, not ${kind(options["whenUnreachable"])}`);
  }
  const local = options["localAdmission"] ?? true;
  if (typeof local !== "boolean") throw invalidArgument(`localAdmission must be true or false, not ${kind(local)}`);
  return {
    namespace: text("namespace", options["namespace"]) ?? "default",
    caller: text("caller", options["caller"], LONGEST_TEXT) ?? "worker",
    operator: text("operator", options["operator"], LONGEST_TEXT),
    whenUnreachable: choice,
    answerWithinMs: ms("answerWithinMs", options["answerWithinMs"], LONGEST_ANSWER) ?? 2_000,
    timeoutMs: ms("timeoutMs", options["timeoutMs"], LONGEST_TIMER) ?? LONGEST_HOLD,
    localAdmission: local,
    ...(placeOf(options) as Place),
  };
}

/** The fields of an object, all of them known. */
export function fields(what: string, value: unknown, known: readonly string[]): Record<string, unknown> {
  if (!isRecord(value)) throw invalidArgument(`${what} must be an object, not ${kind(value)}`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalidArgument(`${what} have no ${quote(unknown)}; they have ${known.join(", ")}`);
  return value;
}

/** A length of time in whole ms, where one is given. */
export function ms(what: string, value: unknown, most = LONGEST_TIMER): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most) return Number(value);
  throw invalidArgument(`${what} must be a whole number from 1 to ${most}, not ${kind(value)}`);
}

function placeOf(options: Record<string, unknown>): Record<string, string> {
  const place: Record<string, string> = {};
  for (const key of ["locationHint", "jurisdiction"]) {
    const value = text(key, options[key]);
    if (value !== undefined) place[key] = value;
  }
  return place;
}

function text(what: string, value: unknown, most = Number.POSITIVE_INFINITY): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalidArgument(`${what} must be a string, not ${kind(value)}`);
  if (!value.isWellFormed()) throw invalidArgument(`${what} is not well-formed Unicode`);
  const { length } = new TextEncoder().encode(value);
  if (length > most) throw invalidArgument(`${what} must be at most ${most} bytes, not ${length}`);
  return value;
}
