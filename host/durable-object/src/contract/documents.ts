/**
 * The documents of the contract, in the JSON form that all hosts share: keys in snake_case. Later versions may add keys.
 *
 * @module
 */
import type { Mode, PolicyOrigin, State } from "./types.js";

/**
 * The policy of a breaker. Every `*_ms` is 1 to 2,592,000,000 (30 days) and every percentage 1 to 100 unless said
 * otherwise. The component checks it, and names all faults at once.
 */
export interface Policy {
  /** Trip after this number of failures in a row; 0 to 1,000,000, 0 = off. Default 5. */
  consecutive_failures: number;
  /** Trip when failures make up a percentage of the window; null = off. Default 50 percent of at least 20 calls. */
  failure_rate: { percent: number; minimum_calls: number } | null;
  /** Count slow calls, and trip when they make up a percentage of the window; null = off, the default. */
  slow_calls: { slower_than_ms: number; percent: number; minimum_calls: number } | null;
  /** The outcomes that the percentages are taken of: those of the last ms (10 to 86,400,000, a multiple of 10) or calls (1 to 1,000). Default 30,000 ms. */
  window: { ms: number } | { calls: number };
  /** The length of the first open window, before jitter. Default 5,000. */
  open_ms: number;
  /** Each backoff level multiplies the open window by this; 1 to 100. Default 2. */
  open_multiplier: number;
  /** The longest open window, before jitter. Default 300,000. */
  open_max_ms: number;
  /** Lengthen each open window by a random 0 to this percentage; 0 to 100. Default 20. */
  jitter_percent: number;
  /** A breaker that has been closed for this time starts its backoff afresh; from 0. Default 60,000. */
  stable_after_ms: number;
  /** The length of a probe's lease unless it is renewed; at most `probe_max_ms`. Default 5,000. */
  lease_ms: number;
  /** The longest a lease can last with all its renewals. Default 60,000. */
  probe_max_ms: number;
  /** The number of leases that may be live at once; 1 to 100. Default 1. */
  probes: number;
  /** The number of successful probes that close the breaker; 1 to 1,000,000. Default 1. */
  successes_to_close: number;
  /** When a lease expires without a report: let the next caller probe at once, or open again. Default `reprobe`. */
  lost_probe: "reprobe" | "reopen";
  /** Admit calls gradually after probes have closed the breaker; null = all at once, the default. */
  ramp: { over_ms: number; from_percent: number } | null;
  /** For this time an isolate may act on its last answer without asking again; from 0, 0 = it asks every time. Default 250. */
  fresh_ms: number;
}

/** A policy as it is given: a key that is left out has its built-in default. */
export type PolicyInput = { [K in keyof Policy]?: Policy[K] | (null extends Policy[K] ? "off" : never) | undefined };

/** The policy of a dependency. */
export interface PolicyInForce {
  /** The policy, with all its keys. */
  policy: Policy;
  /** Whether it is the host's default or the dependency's own. */
  origin: PolicyOrigin;
}

/** An inspection of a breaker. */
export interface Inspection {
  /** The name. */
  dependency: string;
  /** The instant of the inspection, in ms since the Unix epoch. */
  at: number;
  /** The state. */
  state: State;
  /** The override of an operator, while it lasts. */
  override: Override | null;
  /** Whether the next `acquire` would be granted a lease; never while forced. */
  probe_due: boolean;
  /** The live leases. */
  leases: Lease[];
  /** Successful probes since the breaker became half-open. */
  successes: number;
  /** The backoff level of the last opening. */
  level: number;
  /** Calls in the window now; none are counted while open or half-open. */
  calls: number;
  /** Failures in the window now. */
  failures: number;
  /** Slow calls in the window now. */
  slow: number;
  /** Failures in a row; they do not age. */
  failures_in_row: number;
  /** The epoch. */
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

/** An override of an operator. */
export interface Override {
  /** The state that is forced. */
  mode: Exclude<Mode, "none">;
  /** The instant at which it was set. */
  since: number;
  /** It ends by itself after this many ms; null for an override without end. */
  ends_in_ms: number | null;
  /** The operator. */
  by: string;
  /** The operator's note. */
  note: string;
}

/** A live lease. */
export interface Lease {
  /** Its token. */
  token: number;
  /** Its holder. */
  caller: string;
  /** It ends after this many ms. */
  expires_in_ms: number;
}

/** A change of state, or an event that leaves the state as it is. */
export interface Transition {
  /** The state before. */
  from: State;
  /** The state after. */
  to: State;
  /** The instant, in ms since the Unix epoch. */
  at: number;
  /** The epoch after. */
  epoch: number;
  /** Why: `consecutive-failures`, `probe-due`, `forced`, … */
  reason: string;
  /** The operator. */
  by?: string;
  /** The operator's note. */
  note?: string;
  /** The caller of the failure that brought it about, or the holder of the lost lease. */
  caller?: string;
  /** The cause of the failure that brought it about. */
  cause?: string;
  /** The calls in the window that a trip empties. */
  calls?: number;
  /** The failures in it. */
  failures?: number;
  /** The slow calls in it. */
  slow?: number;
  /** The failures in a row before the trip. */
  failures_in_row?: number;
}

