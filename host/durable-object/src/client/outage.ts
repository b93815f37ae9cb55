/** The memory of an isolate of an object out of reach. It keeps callers from waiting for the object one after the other. */
import type { Fault } from "../contract/faults.js";
import { type Instant, ago } from "./instant.js";

/** The first wait in ms. Each attempt that fails doubles it. */
const FIRST_WAIT = 1_000;
/** The longest wait in ms. */
const LONGEST_WAIT = 10_000;

/** An outage, or none. */
export class Outage {
  #last: { at: Instant; waitMs: number; fault: Fault } | null = null;

  /** The fault of the last attempt; null where the object was in reach. */
  get fault(): Fault | null {
    return this.#last?.fault ?? null;
  }

  /** The rest of the wait in ms; 0 where the object may be asked. */
  rest(now: Instant): number {
    if (this.#last === null) return 0;
    const past = ago(this.#last.at, now);
    return Number.isFinite(past) ? Math.max(0, Math.ceil(this.#last.waitMs - past)) : 0;
  }

  /** An attempt that was sent then has failed. Attempts that were under way together count once. Returns whether it counted. */
  failed(fault: Fault, sent: Instant, now: Instant): boolean {
    if (this.#last !== null && ago(this.#last.at, now) < ago(sent, now)) return false;
    const waitMs = this.#last === null ? FIRST_WAIT : Math.min(this.#last.waitMs * 2, LONGEST_WAIT);
    this.#last = { at: now, waitMs, fault };
    return true;
  }

  /** The object has answered. */
  over(): void {
    this.#last = null;
  }
}
