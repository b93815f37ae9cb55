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
/** Outcomes under one permit that come within this time in ms are counted, and grow too old, together. */
const TOGETHER = 5_000;
/** The most counts that are kept. A new permit comes with each change of state. */
const MOST = 32;

/** Outcomes under one permit. */
interface Counts {
  permit: string;
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
  readonly #dependency: string;
  /** Made with the first batch: a breaker may be made in global scope, where nothing random is to be had. */
  #sender: string | null = null;
  #pending: Counts[] = [];
  #batch: { number: number; counts: Counts[] } | null = null;
  #settled = 0;
  #receipts = new Map<string, Receipt>();

  constructor(dependency: string) {
    this.#dependency = dependency;
  }

  /** Whether outcomes wait. */
  get empty(): boolean {
    return this.#pending.length === 0 && this.#batch === null;
  }

  /** The number of the last batch, the one that waits included. */
  get latest(): number {
    return this.#settled + (this.#batch === null ? 0 : 1) + (this.#pending.length === 0 ? 0 : 1);
  }

  /** Counts an outcome, and returns the number of its batch. */
  count(permit: string, { outcome, caller, cause, retryAfterMs }: Report, slow: boolean, now: Instant): number {
    let counts = this.#pending.findLast((counts) => counts.permit === permit && ago(counts.since, now) < TOGETHER);
    if (counts === undefined) {
      counts = { permit, successes: 0, slowSuccesses: 0, failures: 0, slowFailures: 0, blame: {}, since: now };
      this.#pending.push(counts);
      if (this.#pending.length > MOST) this.#dropped(this.#pending.splice(0, 1), "too many wait");
    }
    const kind = outcome === "success" ? (slow ? "slowSuccesses" : "successes") : slow ? "slowFailures" : "failures";
    counts[kind] += 1;
    if (outcome !== "success") counts.blame = { caller, cause, retryAfterMs };
    return (this.#batch?.number ?? this.#settled) + 1;
  }

  /** The batch to send: the one without an answer, or a new one of all that waits; null where nothing does. */
  batch(now: Instant): Batch | null {
    this.#pending = this.#young(this.#pending, now, "too old");
    if (this.#batch !== null) {
      this.#batch.counts = this.#young(this.#batch.counts, now, "too old; they were sent, and the object has not answered");
      if (this.#batch.counts.length === 0) this.#end();
    }
    if (this.#batch === null) {
      if (this.#pending.length === 0) return null;
      this.#batch = { number: this.#settled + 1, counts: this.#pending };
      this.#pending = [];
    }
    const settled = this.#batch.counts.map(({ permit, blame, since: _, ...counts }) => {
      return { permit, tally: { ...counts, ...blame } satisfies Tally };
    });
    return { sender: (this.#sender ??= crypto.randomUUID()), number: this.#batch.number, settled };
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
    this.#dropped(this.#batch.counts, why);
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
    this.#dropped([...(this.#batch?.counts ?? []), ...this.#pending], why);
    this.#pending = [];
    this.#end();
  }

  #end(): void {
    this.#settled = this.#batch?.number ?? this.#settled;
    this.#batch = null;
  }

  /** The counts that are young enough. The others are dropped. */
  #young(counts: Counts[], now: Instant, why: string): Counts[] {
    const [old, young] = [[], []] as [Counts[], Counts[]];
    for (const one of counts) {
      const age = ago(one.since, now);
      // A clock that steps back makes nothing old.
      if (!Number.isFinite(age)) one.since = now;
      (Number.isFinite(age) && age > LONGEST_KEPT ? old : young).push(one);
    }
    this.#dropped(old, why);
    return young;
  }

  #dropped(dropped: Counts[], why: string): void {
    if (dropped.length === 0) return;
    let [successes, failures] = [0, 0];
    for (const counts of dropped) {
      successes += counts.successes + counts.slowSuccesses;
      failures += counts.failures + counts.slowFailures;
    }
    const name = JSON.stringify(this.#dependency);
    console.error(`halfopen: ${successes} successes and ${failures} failures of ${name} were dropped: ${why}`);
  }
}
