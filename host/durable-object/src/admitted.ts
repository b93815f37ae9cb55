/**
 * The answers of a client: a permit in hand, or a deferral.
 *
 * @module
 */
import type { Fault } from "./faults.js";
import type { DeferReason, Outcome, Receipt } from "./types.js";

/** What an answer rests on: the object, this isolate's last look, or the choice for when the object is out of reach. */
export type Basis = "object" | "local" | "fail-open" | "fail-closed" | "last-known";

/** A call is deferred. Make no call. */
export interface Deferred {
  deferred: true;
  /** Come back in so many ms, plus a random share of `spreadMs`. */
  retryAfterMs: number;
  /** Add a random 0 to so many ms, anew for each caller, so that they do not return together. */
  spreadMs: number;
  /** Why; `unreachable` where the object could not be asked. */
  reason: DeferReason;
  /** What the answer rests on. */
  basis: Basis;
  /** Why the object could not be asked; null where it was, or need not be. */
  fault: Fault | null;
}

/** How a permit is settled. */
export interface Settling {
  report(outcome: Outcome, tookMs: number | undefined): Promise<Receipt | null>;
  renew(): Promise<Receipt>;
}

/** A call is admitted: make it, and report how it ended. */
export class Admitted {
  readonly deferred = false;
  /** Whether the call is one of many, or the probe that decides. */
  readonly role: "call" | "probe";
  /** What the outcome is reported with; plain text, which may be handed to another Worker. Null where nothing is recorded. */
  readonly permit: string | null;
  /** For a probe: the fencing token of its lease. */
  readonly token: string | null;
  /** For a probe: the lease ends so many ms after `acquire` was called. */
  readonly expiresInMs: number | null;
  /** What the answer rests on. With `fail-open` and `last-known` nothing of the call is recorded. */
  readonly basis: Basis;
  readonly #settling: Settling;

  constructor(
    terms: Pick<Admitted, "role" | "permit" | "token" | "expiresInMs" | "basis">,
    settling: Settling,
  ) {
    this.role = terms.role;
    this.permit = terms.permit;
    this.token = terms.token;
    this.expiresInMs = terms.expiresInMs;
    this.basis = terms.basis;
    this.#settling = settling;
  }

  /**
   * Reports how the call ended, and how many ms it took where that is known. The answer is null where the outcome was
   * counted in this isolate, to be handed over within `fresh_ms`, or is not recorded at all.
   *
   * @throws BreakerError
   */
  report(outcome: Outcome, tookMs?: number): Promise<Receipt | null> {
    return this.#settling.report(outcome, tookMs);
  }

  /** Gives the permit back: the call says nothing about the dependency. */
  release(): Promise<Receipt | null> {
    return this.#settling.report("ignored", undefined);
  }

  /** Renews the lease of a probe. {@link Breaker.call} does so by itself. */
  renew(): Promise<Receipt> {
    return this.#settling.renew();
  }
}
