/**
 * The documents of the contract, in the JSON form that all hosts share: keys in snake_case, a length of time in a key that
 * ends in `_ms`, an instant in ms since the Unix epoch. Later versions may add keys. `wit/types.wit` describes each key.
 */
import type { Mode, PolicyOrigin, State } from "./types.js";

/** The policy of a breaker. The component checks it, and names all faults at once. */
export interface Policy {
  /** Trip after this number of failures in a row; 0 = off. Default 5. */
  consecutive_failures: number;
  /** Trip when failures make up a percentage of the window; null = off. Default 50 percent of at least 20 calls. */
  failure_rate: { percent: number; minimum_calls: number } | null;
  /** Count slow calls, and trip when they make up a percentage of the window; null = off, the default. */
  slow_calls: { slower_than_ms: number; percent: number; minimum_calls: number } | null;
  /** The outcomes that the percentages are taken of: those of the last ms, or the last calls. Default 30,000 ms. */
  window: { ms: number } | { calls: number };
  /** The length of the first open window, before jitter. Default 5,000. */
  open_ms: number;
  /** Each backoff level multiplies the open window by this. Default 2. */
  open_multiplier: number;
  /** The longest open window, before jitter. Default 300,000. */
  open_max_ms: number;
  /** Lengthen each open window by a random 0 to this percentage. Default 20. */
  jitter_percent: number;
  /** A breaker that has been closed for this time starts its backoff afresh. Default 60,000. */
  stable_after_ms: number;
  /** The length of a probe's lease unless it is renewed. Default 5,000. */
  lease_ms: number;
  /** The longest a lease can last with all its renewals. Default 60,000. */
  probe_max_ms: number;
  /** The number of leases that may be live at once. Default 1. */
  probes: number;
  /** The number of successful probes that close the breaker. Default 1. */
  successes_to_close: number;
  /** When a lease expires without a report: let the next caller probe at once, or open again. Default `reprobe`. */
  lost_probe: "reprobe" | "reopen";
  /** Admit calls gradually after probes have closed the breaker; null = all at once, the default. */
  ramp: { over_ms: number; from_percent: number } | null;
  /** For this time an isolate may act on its last answer without asking again; 0 = it asks every time. Default 250. */
  fresh_ms: number;
}

/** A policy as it is given: a key that is left out has its built-in default. */
export type PolicyInput = { [K in keyof Policy]?: Policy[K] | (null extends Policy[K] ? "off" : never) | undefined };

/** The policy of a dependency, with all its keys, and whose it is. */
export interface PolicyInForce {
  policy: Policy;
  origin: PolicyOrigin;
}

/** An inspection of a breaker. */
export interface Inspection {
  dependency: string;
  at: number;
  state: State;
  /** The override of an operator, while it lasts. */
  override: { mode: Exclude<Mode, "none">; since: number; ends_in_ms: number | null; by: string; note: string } | null;
  /** Whether the next `acquire` would be granted a lease; never while forced. */
  probe_due: boolean;
  leases: { token: number; caller: string; expires_in_ms: number }[];
  /** Successful probes since the breaker became half-open. */
  successes: number;
  /** The backoff level of the last opening. */
  level: number;
  /** Calls in the window now, the failures and the slow ones among them; none are counted while open or half-open. */
  calls: number;
  failures: number;
  slow: number;
  /** Failures in a row; they do not age. */
  failures_in_row: number;
  epoch: number;
  /** The instant of the last change of state; null where there has been none. */
  since: number | null;
  /** The instant at which the next probe is due; null while closed, and while forced without an end. */
  next_due: number | null;
  /** The last failure that was counted or that settled a probe, since the breaker was made or reset. */
  last_failure: { at: number; caller: string; cause: string } | null;
  /** The last transition that raised the epoch. */
  last_change: Transition | null;
}

/** A change of state, or an event that leaves the state as it is. A key without a value is left out. */
export interface Transition {
  from: State;
  to: State;
  at: number;
  epoch: number;
  /** Why: `consecutive-failures`, `probe-due`, `forced`, … */
  reason: string;
  by?: string;
  note?: string;
  caller?: string;
  cause?: string;
  /** The counts that a trip empties. */
  calls?: number;
  failures?: number;
  slow?: number;
  failures_in_row?: number;
}
