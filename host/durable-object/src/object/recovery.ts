/** Scheduled recovery: an alarm when the next probe is due, and the probe itself. */
import { orAborted } from "../contract/abort.js";
import type { Inspection } from "../contract/documents.js";
import { BreakerError, invalidArgument, messageOf } from "../contract/faults.js";
import { retryAfterMs } from "../contract/retry-after.js";
import type { Outcome } from "../contract/types.js";
import { fields, isRecord, kind, ms, oneOf, present } from "../contract/values.js";
import { permit, word } from "./convert.js";
import type { Engine } from "./engine.js";
import type { ObjectOptions } from "./options.js";

/** Settings of the probe that an object runs by itself once an open window is over. */
export interface RecoverySettings {
  /** The URL that the object fetches as the probe; a status of 200 to 299 is a success. Without it the alarm only writes to the log. */
  healthUrl?: string;
  /** The method. Default `GET`. */
  method?: "GET" | "HEAD";
  /** Headers to send. The object stores them as they are, so a secret that must not rest on disk has no place here. */
  headers?: Record<string, string>;
  /** The time limit of the probe in ms, 1 to 60,000; at most three quarters of the lease. */
  timeoutMs?: number;
}

const CALLER = "scheduled recovery";
/** The least time between two probes of an object, in ms. */
const LEAST_GAP = 1_000;
/** The longest time to an alarm, in ms; one that is further away is set again then. */
const LONGEST_WAIT = 24 * 60 * 60 * 1_000;
const LONGEST_PROBE = 60_000;

/** Scheduled recovery of one object. */
export class Recovery {
  readonly #storage: DurableObjectStorage;
  readonly #engine: Engine;
  readonly #probe: ObjectOptions["probe"];
  #known: Map<string, RecoverySettings> | null = null;
  #lastProbe = 0;

  constructor(storage: DurableObjectStorage, engine: Engine, probe: ObjectOptions["probe"]) {
    this.#storage = storage;
    this.#engine = engine;
    this.#probe = probe;
  }

  /** The settings of a dependency. */
  settings(dependency: string): RecoverySettings | null {
    return this.#all().get(dependency) ?? null;
  }

  /** Sets or removes them. */
  set(dependency: string, value: unknown): RecoverySettings | null {
    const settings = value === null ? null : checked(value);
    // The component judges the name.
    this.#inspect(dependency);
    this.#engine.transaction(() => {
      if (settings === null) {
        this.#engine.store.change("DELETE FROM halfopen_recovery WHERE dependency = ?", dependency);
      } else {
        const text = JSON.stringify(settings);
        this.#engine.store.change("INSERT OR REPLACE INTO halfopen_recovery VALUES (?, ?)", dependency, text);
      }
    });
    this.#known = null;
    this.schedule();
    return settings;
  }

  /** Sets the alarm anew after a change of a record. The change stands also where the alarm cannot be set. */
  changed(dependency: string): void {
    try {
      if (this.#all().has(dependency)) this.schedule();
    } catch (error) {
      console.warn(`halfopen: the alarm of ${JSON.stringify(dependency)} was not set: ${messageOf(error)}`);
    }
  }

  /** Sets the alarm to when the next probe is due. It becomes durable together with what was written before it. */
  schedule(): void {
    const now = Number(this.#engine.now());
    let wait: number | null = null;
    for (const [dependency, settings] of this.#all()) {
      const due = this.#inspect(dependency).next_due;
      if (due === null) continue;
      let left = Math.min(Math.max(due - now, 0), LONGEST_WAIT);
      if (this.#runs(settings)) left = Math.max(left, Math.min(this.#lastProbe + LEAST_GAP - Date.now(), LEAST_GAP));
      // The log has it already.
      else if (left === 0) continue;
      wait = Math.min(wait ?? LONGEST_WAIT, left);
    }
    void (wait === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(Date.now() + Math.max(wait, 0)));
  }

  /** The alarm: runs the probes that are due. */
  async alarm(): Promise<void> {
    for (const [dependency, settings] of this.#all()) {
      if (!this.#inspect(dependency).probe_due) continue;
      if (this.#runs(settings)) await this.#recover(dependency, settings);
      else console.log(JSON.stringify({ halfopen: "probe due", dependency }));
    }
    this.schedule();
  }

  async #recover(dependency: string, settings: RecoverySettings): Promise<void> {
    const decision = this.#engine.run(({ breaker }) => breaker.acquire(dependency, CALLER));
    if (decision.tag !== "probe") return;
    const { permit: held, expiresIn } = decision.val;
    this.#lastProbe = Date.now();
    // No transaction is open here: the object answers other callers while the probe runs.
    const limit = Math.max(1, Math.min(settings.timeoutMs ?? LONGEST_PROBE, (Number(expiresIn) * 3) / 4));
    const signal = AbortSignal.timeout(Math.floor(limit));
    const { outcome, cause, retryAfter } = await this.#outcome(dependency, settings, String(held.lease ?? ""), signal);
    const took = BigInt(Math.max(0, Date.now() - this.#lastProbe));
    const report = { outcome, took, caller: CALLER, cause, ...(retryAfter === null ? {} : { retryAfter: BigInt(retryAfter) }) };
    const receipt = this.#engine.run(({ breaker }) => breaker.report(dependency, held, report));
    const stale = receipt.verdict.tag === "stale" ? word(receipt.verdict.val) : null;
    console.log(JSON.stringify({ halfopen: "probed", dependency, permit: permit(held), outcome, stale, state: receipt.state }));
  }

  async #outcome(
    dependency: string,
    settings: RecoverySettings,
    token: string,
    signal: AbortSignal,
  ): Promise<{ outcome: Outcome; cause: string; retryAfter: number | null }> {
    const ended = (outcome: Outcome, cause = "", retryAfter: number | null = null) => ({ outcome, cause, retryAfter });
    try {
      if (settings.healthUrl === undefined) {
        // A probe that ignores its signal is not waited for.
        return ended((await orAborted(this.#probe?.({ dependency, token, signal }), signal)) ?? "ignored");
      }
      const { method = "GET", headers = {} } = settings;
      const response = await fetch(settings.healthUrl, { method, headers, signal, redirect: "manual" });
      await response.body?.cancel();
      return response.ok ? ended("success") : ended("failure", `HTTP ${response.status}`, retryAfterMs(response));
    } catch (error) {
      return ended(signal.aborted ? "timeout" : "failure", messageOf(error));
    }
  }

  #runs(settings: RecoverySettings): boolean {
    return settings.healthUrl !== undefined || this.#probe !== undefined;
  }

  #all(): Map<string, RecoverySettings> {
    this.#known ??= new Map(
      this.#engine
        .transaction(() => this.#engine.store.select<Record<string, string>>("SELECT * FROM halfopen_recovery"))
        .map((row) => [String(row["dependency"]), stored(String(row["settings"]))]),
    );
    return this.#known;
  }

  #inspect(dependency: string): Inspection {
    return JSON.parse(this.#engine.run(({ control }) => control.inspect(dependency))) as Inspection;
  }
}

/** Settings as they were stored. */
function stored(text: string): RecoverySettings {
  try {
    return checked(JSON.parse(text));
  } catch (error) {
    const message = `the recovery settings are damaged; set them again: ${messageOf(error)}`;
    throw new BreakerError({ code: "storage", kind: "corrupt", message }, { cause: error });
  }
}

function checked(value: unknown): RecoverySettings {
  const known = ["healthUrl", "method", "headers", "timeoutMs"];
  const { healthUrl, method, headers, timeoutMs } = fields("the recovery settings", value, known);
  return present({
    healthUrl: healthUrl === undefined ? undefined : url(healthUrl),
    method: method === undefined ? undefined : oneOf("method", ["GET", "HEAD"], method),
    headers: headers === undefined ? undefined : checkedHeaders(headers),
    timeoutMs: ms("timeoutMs", timeoutMs, LONGEST_PROBE),
  });
}

function url(value: unknown): string {
  const parsed = typeof value === "string" && value.length <= 2048 && URL.canParse(value) ? new URL(value) : null;
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
    throw invalidArgument(`healthUrl must be an http or https URL of at most 2048 characters, not ${kind(value)}`);
  }
  return parsed.href;
}

function checkedHeaders(value: unknown): Record<string, string> {
  try {
    if (!isRecord(value)) throw new TypeError(`they are ${kind(value)}`);
    return Object.fromEntries(new Headers(value as Record<string, string>));
  } catch (error) {
    throw invalidArgument(`headers must be an object of header names and values: ${messageOf(error)}`);
  }
}
