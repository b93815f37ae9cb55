/**
 * A claim of one request on work that all requests of an isolate share. Promises belong to one request, so the other
 * requests check the claim from time to time instead.
 */
import { type Instant, ago, instant, sleep } from "./instant.js";

/** The longest time between two checks of a claim, in ms. */
const LONGEST_PAUSE = 8;

/** A claim. It ends after the given time by itself, because its request may be cut off. */
export class Claim {
  #holder: { from: Instant; withinMs: number } | null = null;

  /** Whether a request holds the claim. */
  held(now: Instant): boolean {
    return this.#holder !== null && ago(this.#holder.from, now) < this.#holder.withinMs;
  }

  /** Takes the claim, and returns the function that ends it; null where another request holds it. */
  take(now: Instant, withinMs: number): (() => void) | null {
    if (this.held(now)) return null;
    const holder = { from: now, withinMs };
    this.#holder = holder;
    return () => {
      if (this.#holder === holder) this.#holder = null;
    };
  }

  /** Ends when no request holds the claim any more, or after the given time: the holder may have more patience. */
  async ended(withinMs = Number.POSITIVE_INFINITY): Promise<void> {
    const begun = instant();
    for (let pause = 1; this.held(instant()) && ago(begun, instant()) < withinMs; pause = Math.min(pause * 2, LONGEST_PAUSE)) await sleep(pause);
  }
}
