/**
 * What callers see. The words come from the contract; numbers of 64 bits become what JSON can carry: lengths of time and
 * counts are numbers, capped at 2^53 - 1, and permits, tokens and epochs are strings.
 *
 * @module
 */
import type * as wit from "../generated/interfaces/halfopen-breaker-types.js";

/** The tags of a variant. Those that may grow can also hold a word of a later version. */
type Word<V extends { tag: string }> = Exclude<V["tag"], "other"> | (string & {});

/** The state of a breaker. */
export type State = wit.State;
/** What an operator forces; `none` takes it back. */
export type Mode = wit.Mode;
/** How a call ended. */
export type Outcome = wit.Outcome;
/** Whose a policy is. */
export type PolicyOrigin = wit.PolicyOrigin;
/** Why a call is deferred. */
export type DeferReason = Word<wit.DeferReason>;
/** Why a report changed nothing. */
export type StaleReason = Word<wit.StaleReason>;
/** Why a state changed. */
export type TransitionReason = Word<wit.TransitionReason>;

/** A call is admitted. */
export interface Admission {
  /** What the outcome is reported with: `EPOCH`. */
  permit: string;
  /** For so many ms from when `acquire` was sent, an isolate may admit further calls under this permit without asking. */
  freshForMs: number;
  /** Of those further calls, so many percent: below 100 during a ramp. */
  percent: number;
  /** A call that takes so many ms or more is slow; null where slow calls are not told apart. */
  slowerThanMs: number | null;
}

/** A probe is granted. */
export interface Probe {
  /** What the outcome is reported with: `EPOCH:TOKEN`. */
  permit: string;
  /** The token of the lease. Tokens only ever rise for a dependency, so it serves as a fencing token. */
  token: string;
  /** The lease ends so many ms after `acquire` was sent. */
  expiresInMs: number;
  /** A call that takes so many ms or more is slow; null where slow calls are not told apart. */
  slowerThanMs: number | null;
}

/** A call is deferred. */
export interface Deferral {
  /** Come back in so many ms; never 0. */
  retryAfterMs: number;
  /** Add a random 0 to so many ms, anew for each caller, so that they do not return together. */
  spreadMs: number;
  /** Why. */
  reason: DeferReason;
  /** For so many ms from when `acquire` was sent, an isolate may defer further calls without asking. */
  freshForMs: number;
  /** During a ramp: what an isolate may admit further calls with, by drawing. */
  admission: Admission | null;
}

/** What the object answers to `acquire`. */
export type Decision =
  | ({ kind: "proceed" } & Admission)
  | ({ kind: "probe" } & Probe)
  | ({ kind: "defer" } & Deferral);

/** Outcomes of many closed-state calls. What is left out is 0. */
export interface Tally {
  /** Successes that were not slow. */
  successes?: number | bigint;
  /** Successes that were slow. */
  slowSuccesses?: number | bigint;
  /** Failures and timeouts that were not slow. */
  failures?: number | bigint;
  /** Failures and timeouts that were slow. */
  slowFailures?: number | bigint;
}

/** What a report, a renewal, a release or a control call came to. */
export interface Receipt {
  /** Whether it counted. */
  applied: boolean;
  /** Why it did not; null where it did. */
  stale: StaleReason | null;
  /** The state after it. */
  state: State;
  /** The instant at which the next probe is due, in ms since the epoch of Unix; null while closed, and while forced. */
  nextDue: number | null;
  /** The changes of state that it brought about, in order. */
  transitions: Transition[];
}

/** One change of state, or one lost probe (half-open to half-open). */
export interface Transition {
  /** The state before. */
  from: State;
  /** The state after. */
  to: State;
  /** The instant, in ms since the epoch of Unix. */
  at: number;
  /** The epoch after. */
  epoch: string;
  /** Why. */
  reason: TransitionReason;
}

/** What is known of a dependency. */
export interface Inspection {
  /** The state. */
  state: State;
  /** What an operator forced, while it lasts. */
  override: Forced | null;
  /** Whether the next `acquire` would be granted a lease; never while forced. */
  probeDue: boolean;
  /** The live leases. */
  leases: Lease[];
  /** Successful probes since the breaker became half-open. */
  successes: number;
  /** The backoff level of the last opening. */
  level: number;
  /** Calls in the window now. None are counted while open or half-open. */
  calls: number;
  /** Failures in the window now. */
  failures: number;
  /** Slow calls in the window now. */
  slow: number;
  /** Failures in a row; they do not age. */
  failuresInRow: number;
  /** The epoch. */
  epoch: string;
  /** The instant of the last change of state; null where there has been none. */
  since: number | null;
  /** The instant at which the next probe is due; null while closed, and while forced without an end. */
  nextDue: number | null;
}

/** What an operator forced. */
export interface Forced {
  /** Open or closed. */
  mode: Mode;
  /** The instant at which it was set. */
  since: number;
  /** It ends by itself in so many ms; null where it lasts. */
  endsInMs: number | null;
  /** The operator's note. */
  note: string;
}

/** A live lease. */
export interface Lease {
  /** Its token. */
  token: string;
  /** Who holds it. */
  caller: string;
  /** It ends in so many ms. */
  expiresInMs: number;
}
