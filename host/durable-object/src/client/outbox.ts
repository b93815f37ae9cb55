/**
 * Outcomes that an isolate has counted for one dependency, until they are delivered.
 *
 * They are delivered in numbered batches, one at a time. A batch stays as it is until the object has answered it, and the
 * object counts each number once, so a batch may be sent again when its answer was lost.
 */
import type { Batch, Blame, Receipt, Report, Tally } from "../contract/types.js";
import { Claim } from "./claim.js";
import { type Instant, ago } from "./instant.js";

/** The longest time in ms that outcomes are kept: later they would say nothing about the present. */
const LONGEST_KEPT = 60_000;
/** The most permits that outcomes are kept for. A new permit comes with each change of state. */
const MOST_PERMITS = 32;

interface Counts {
  successes: number;
  slowSuccesses: number;
  failures: number;
  slowFailures: number;
  blame: Blame;
  since: Instant;
}

/** The outbox. */
export class Outbox {
  /** The claim of the request that delivers. */
  readonly delivery = new Claim();
  /** The claim of the request that delivers once the cached decision ends, where no call comes before. */
  readonly handover = new Claim();
  /** When the last batch was sent. */
  lastSent: Instant | null = null;
  readonly #sender = crypto.randomUUID();
  #pending = new Map<string, Counts>();
  #batch: { number: number; counts: Map<string, Counts> } | null = null;
  #settled = 0;
  #receipts = new Map<string, Receipt>();

  /** Whether outcomes wait. */
  get empty(): boolean {
    return this.#pending.size === 0 && this.#batch === null;
  }

  /** The number of the last batch, the one that waits included. */
  get latest(): number {
    return this.#settled + (this.#batch === null ? 0 : 1) + (this.#pending.size === 0 ? 0 : 1);
  }

  /** Counts an outcome, and returns the number of its batch. */
  count(permit: string, { outcome, caller, cause, retryAfterMs }: Report, slow: boolean, now: Instant): number {
    let counts = this.#pending.get(permit);
    if (counts === undefined) {
      counts = { successes: 0, slowSuccesses: 0, failures: 0, slowFailures: 0, blame: {}, since: now };
      this.#pending.set(permit, counts);
    }
    const kind = outcome === "success" ? (slow ? "slowSuccesses" : "successes") : slow ? "slowFailures" : "failures";
    counts[kind] += 1;
    if (outcome !== "success") counts.blame = { caller, cause, retryAfterMs };
    if (this.#pending.size > MOST_PERMITS) this.#drop(this.#pending, () => true, 1, "too many changes of state");
    return (this.#batch?.number ?? this.#settled) + 1;
  }

  /** The batch to send: the one without an answer, or a new one of all that waits; null where nothing does. */
  batch(now: Instant): Batch | null {
    for (const counts of [this.#pending, this.#batch?.counts]) {
      if (counts !== undefined) this.#drop(counts, ({ since }) => ago(since, now) > LONGEST_KEPT, counts.size, "too old");
    }
    if (this.#batch?.counts.size === 0) this.#end();
    if (this.#batch === null) {
      if (this.#pending.size === 0) return null;
      this.#batch = { number: this.#settled + 1, counts: this.#pending };
      this.#pending = new Map();
    }
    const settled = [...this.#batch.counts].map(([permit, { blame, since: _, ...counts }]) => {
      return { permit, tally: { ...counts, ...blame } satisfies Tally };
    });
    return { sender: this.#sender, number: this.#batch.number, settled };
  }

  /** The object has counted a batch. */
  delivered({ number, settled }: Batch, receipts: Receipt[]): void {
    if (this.#batch?.number !== number) return;
    this.#receipts = new Map();
    settled.forEach(({ permit }, index) => {
      const receipt = receipts[index];
      if (receipt !== undefined) this.#receipts.set(permit, receipt);
    });
    this.#end();
  }

  /** The object refuses a batch for good. */
  refused({ number }: Batch, why: string): void {
    if (this.#batch?.number !== number) return;
    this.#drop(this.#batch.counts, () => true, this.#batch.counts.size, why);
    this.#end();
  }

  /** Whether a batch has been settled: delivered, or dropped. */
  settled(number: number): boolean {
    return this.#settled >= number;
  }

  /** The receipt for a permit in the last batch. */
  receipt(permit: string): Receipt | null {
    return this.#receipts.get(permit) ?? null;
  }

  /** Drops all that waits, and says so. */
  abandon(why: string): void {
    for (const counts of [this.#pending, this.#batch?.counts]) {
      if (counts !== undefined) this.#drop(counts, () => true, counts.size, why);
    }
  }

  #end(): void {
    this.#settled = this.#batch?.number ?? this.#settled;
    this.#batch = null;
  }

  #drop(from: Map<string, Counts>, which: (counts: Counts) => boolean, most: number, why: string): void {
    const dropped = [...from].filter(([, counts]) => which(counts)).slice(0, most);
    let [successes, failures] = [0, 0];
    for (const [permit, counts] of dropped) {
      from.delete(permit);
      successes += counts.successes + counts.slowSuccesses;
      failures += counts.failures + counts.slowFailures;
    }
    if (dropped.length > 0) {
      console.error(`halfopen: ${successes} successes and ${failures} failures were not reported: ${why}`);
    }
  }
}
