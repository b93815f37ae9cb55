/**
 * The types that callers see. The words are those of the contract. Numbers of 64 bits become numbers of JavaScript, capped
 * at 2^53 - 1; permits and tokens are texts.
 */
import type * as wit from "../../generated/interfaces/halfopen-breaker-types.js";

/** The tags of a variant. A variant that may grow can also hold a word of a later version. */
type Word<V extends { tag: string }> = Exclude<V["tag"], "other"> | (string & {});

/** The state of a breaker. */
export type State = wit.State;
/** The state that an operator forces; `none` takes an override back. */
export type Mode = wit.Mode;
/** How a call ended. */
export type Outcome = wit.Outcome;
/** Whose a policy is. */
export type PolicyOrigin = wit.PolicyOrigin;
/** Why a call is deferred; `unreachable` where the object could not be asked. */
export type DeferReason = Word<wit.DeferReason>;
/** Why a report changed nothing. */
export type StaleReason = Word<wit.StaleReason>;

/** A call is admitted. */
export interface Admission {
  /** `EPOCH`. */
  permit: string;
  /** For this many ms from when `acquire` was sent, an isolate may admit further calls under this permit without asking. */
  freshForMs: number;
  /** The percentage of those further calls that it may admit: below 100 during a ramp. */
  percent: number;
  /** A call that takes this many ms or longer is slow; null where slow calls are not told apart. */
  slowerThanMs: number | null;
}

/** A probe is granted. */
export interface Probe {
  /** `EPOCH:TOKEN`. */
  permit: string;
  /** Tokens only ever rise for a dependency, so it serves as a fencing token. */
  token: string;
  /** The lease ends this many ms after `acquire` was sent. */
  expiresInMs: number;
  /** With all its renewals the lease ends this many ms after its grant at the latest. */
  longestMs: number;
  slowerThanMs: number | null;
}

/** A call is deferred. */
export interface Deferral {
  /** Come back after this many ms; never 0. */
  retryAfterMs: number;
  /** Add a random 0 to this many ms, anew for each caller, so that they do not return together. */
  spreadMs: number;
  reason: DeferReason;
  /** For this many ms from when `acquire` was sent, an isolate may defer further calls without asking. */
  freshForMs: number;
  /** During a ramp: the admission that an isolate may admit further calls with, by drawing. */
  admission: Admission | null;
}

/** The object's answer to `acquire`. */
export type Decision =
  | ({ kind: "proceed" } & Admission)
  | ({ kind: "probe" } & Probe)
  | ({ kind: "defer" } & Deferral);

/** Why a call failed. The caller and the cause are cut at 128 bytes. */
export interface Blame {
  caller?: string | undefined;
  cause?: string | undefined;
  /** How long the dependency itself asks to be left alone, in ms (an HTTP `Retry-After`, say). */
  retryAfterMs?: number | bigint | null | undefined;
}

/** The outcome of one call. */
export interface Report extends Blame {
  outcome: Outcome;
  /** How long it took, in ms, where that is known. */
  tookMs?: number | bigint | null | undefined;
}

/** The outcomes of many closed-state calls. A count that is left out is 0. The blame is that of the last failure. */
export interface Tally extends Blame {
  /** Successes that were not slow. */
  successes?: number | bigint | undefined;
  slowSuccesses?: number | bigint | undefined;
  /** Failures and timeouts that were not slow. */
  failures?: number | bigint | undefined;
  slowFailures?: number | bigint | undefined;
}

/** Outcomes that an isolate has counted, by permit. The object counts each number of a sender once. */
export interface Batch {
  /** The sender: an isolate, for one dependency. */
  sender: string;
  /** Numbers only ever rise for a sender. */
  number: number;
  settled: { permit: string; tally: Tally }[];
}

/** The answer to a batch. */
export interface Settled<D> {
  /** The receipt for each permit; none where the batch had been counted before. */
  receipts: Receipt[];
  /** The decision for a call after it. */
  decision: D;
}

/** The operator who acts on a breaker by hand, and the reason. Each is cut at 128 bytes. */
export interface Operator {
  by?: string | undefined;
  note?: string | undefined;
}

/** The answer to a report, a renewal, a release and an operator's act. */
export interface Receipt {
  /** Whether it counted. */
  applied: boolean;
  /** Why it did not; null where it did. */
  stale: StaleReason | null;
  /** The state after it. */
  state: State;
  /** The instant at which the next probe is due, in ms since the Unix epoch; null while closed, and while forced without an end. */
  nextDue: number | null;
  /** The same, in ms from now by the object's clock. */
  dueInMs: number | null;
}
