/** The answers of a client to `acquire`: a permit, or a deferral. */
import { type Fault, messageOf } from "../contract/faults.js";
import { checkedReport } from "../contract/report.js";
import type { Deferral, Outcome, Receipt, Report } from "../contract/types.js";

/** What an answer rests on: the object, this isolate's cached decision, or the choice for an object out of reach. */
export type Basis = "object" | "local" | "fail-open" | "fail-closed" | "last-known";

/** A call is deferred. Make no call. */
export interface Deferred extends Pick<Deferral, "retryAfterMs" | "spreadMs" | "reason"> {
  deferred: true;
  /** What the answer rests on. */
  basis: Basis;
  /** Why the object could not be asked; null where it was, or need not be. */
  fault: Fault | null;
}

/** How a permit is settled. */
export interface Settling {
  report(report: Report): Promise<Receipt | null>;
  renew(): Promise<Receipt>;
}

/** A call is admitted: make it, and report its outcome. */
export class Permit {
  readonly deferred = false;
  /** Whether the call is one of many, or the probe that decides. */
  readonly role: "call" | "probe";
  /** The permit as text, which may be handed to another Worker. Null where nothing is recorded. */
  readonly text: string | null;
  /** For a probe: the fencing token of its lease. */
  readonly token: string | null;
  /** For a probe: the lease ends this many ms after `acquire` was called. */
  readonly expiresInMs: number | null;
  /** For a probe: with all renewals the lease ends this many ms after `acquire` was called at the latest. */
  readonly longestMs: number | null;
  /** What the answer rests on. With `fail-open` and `last-known` nothing of the call is recorded. */
  readonly basis: Basis;
  readonly #settling: Settling;
  readonly #settled = Promise.withResolvers<void>();

  constructor(
    terms: Pick<Permit, "role" | "text" | "basis"> & Partial<Pick<Permit, "token" | "expiresInMs" | "longestMs">>,
    settling: Settling,
  ) {
    this.role = terms.role;
    this.text = terms.text;
    this.token = terms.token ?? null;
    this.expiresInMs = terms.expiresInMs ?? null;
    this.longestMs = terms.longestMs ?? null;
    this.basis = terms.basis;
    this.#settling = settling;
  }

  /** Ends when the outcome has been reported, or after the given time. */
  async settled(withinMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([this.#settled.promise, over]);
    clearTimeout(timer);
  }

  /**
   * Reports the outcome of the call. The answer is null where the outcome was counted in this isolate, to be handed over
   * within `fresh_ms`, or is not recorded at all.
   *
   * @throws BreakerError
   * @throws TypeError where it is no outcome and no report; nothing was counted then
   */
  async report(report: Outcome | Report): Promise<Receipt | null> {
    return await this.#settle(asReport(report));
  }

  /** Gives the permit back: the call says nothing about the dependency. */
  release(): Promise<Receipt | null> {
    return this.#settle({ outcome: "ignored" });
  }

  /** Renews the lease of a probe. {@link Breaker.call} does so by itself. */
  renew(): Promise<Receipt> {
    return this.#settling.renew();
  }

  async #settle(report: Report): Promise<Receipt | null> {
    try {
      return await this.#settling.report(report);
    } finally {
      this.#settled.resolve();
    }
  }
}

/**
 * A report, also where only the outcome is given.
 *
 * @throws TypeError
 */
export function asReport(given: unknown): Report {
  try {
    return checkedReport(typeof given === "string" ? { outcome: given } : given);
  } catch (error) {
    throw new TypeError(`a report is "success", "failure", "timeout" or "ignored", or { outcome, cause, ... }: ${messageOf(error)}`);
  }
}
