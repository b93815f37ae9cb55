/**
 * The cached decision of an isolate for one dependency. The isolate admits and defers by the component's last answer, for
 * the time that the answer allows. It holds no rule of its own.
 */
import type { Decision, Deferral, Receipt } from "../contract/types.js";
import { type Instant, ago, instant } from "./instant.js";

/** A decision that is made without asking. */
export type LocalDecision = Exclude<Decision, { kind: "probe" }>;

/** A request to the object: its number among those of the isolate, and when it was sent. */
export interface Sent {
  number: number;
  at: Instant;
}

/** The share of its time after which one request asks anew, while the others go on by the cached decision. */
const REFRESH_AFTER = 2 / 3;

/** The cached decision. */
export class CachedDecision {
  /** Whether other calls can use an answer too: not with `fresh_ms` 0. */
  shareable = true;
  #sequence = 0;
  /** The number after which the isolate has learnt nothing newer. */
  #learnt = 0;
  #last: { at: Instant; decision: LocalDecision } | null = null;
  #fresh = false;

  /** Numbers a request that is sent now. */
  send(): Sent {
    this.#sequence += 1;
    return { number: this.#sequence, at: instant() };
  }

  /** Caches an answer to an acquire. One that was sent before the isolate learnt something newer counts for its own call only. */
  note(decision: Decision, sent: Sent): void {
    if (decision.kind !== "probe") this.shareable = decision.freshForMs > 0;
    if (sent.number < this.#learnt) return;
    this.#learn();
    this.#fresh = decision.kind !== "probe";
    this.#last = { at: sent.at, decision: decision.kind === "probe" ? waiting(decision.expiresInMs, "probing") : decision };
  }

  /**
   * Acts on a receipt at once: one that may not fit the cached decision replaces it. A report with a lease may close the
   * breaker, and so may an operator's act, which has no permit. That a breaker is closed counts only if nothing newer is known.
   */
  learn(permit: string | null, { applied, state, dueInMs }: Receipt, sent: Sent): void {
    if (applied && state === "closed" && permit !== null && !permit.includes(":")) return;
    if (state === "closed" && sent.number < this.#learnt) {
      // Answers that were sent after it may be newer still.
      this.#fresh = false;
      return;
    }
    this.invalidate();
    const decision = state === "closed" ? unconditional(permit ?? "") : waiting(dueInMs ?? 0, state === "open" ? "open" : "probing");
    this.#last = { at: instant(), decision };
  }

  /** Ends the cached decision: something newer is known. */
  invalidate(): void {
    this.#learn();
    this.#fresh = false;
  }

  /** The decision for a call now; null where the object must be asked. `draw` is uniform over [0, 1). */
  decide(now: Instant, draw: () => number): LocalDecision | null {
    const past = this.#past(now);
    if (this.#last === null || past >= this.timeMs) return null;
    return drawn(this.#last.decision, past, draw);
  }

  /** The last decision, of any age, for an object out of reach; null where it says nothing any more. Never a probe. */
  lastKnown(now: Instant, draw: () => number): LocalDecision | null {
    if (this.#last === null) return null;
    const past = ago(this.#last.at, now);
    const { decision } = this.#last;
    if (decision.kind === "defer" && past >= decision.retryAfterMs) return null;
    return drawn(decision, past, draw);
  }

  /** Whether one request asks anew, in the last part of the cached decision. An open window is not asked for before its end. */
  refreshDue(now: Instant): boolean {
    if (this.#last === null) return true;
    const { decision } = this.#last;
    if (decision.kind === "defer" && decision.retryAfterMs <= decision.freshForMs) return false;
    return this.#past(now) >= this.timeMs * REFRESH_AFTER;
  }

  /** The time in ms, from when it was asked for, for which the cached decision may be used. */
  get timeMs(): number {
    if (this.#last === null || !this.#fresh) return 0;
    const { decision } = this.#last;
    return decision.kind === "proceed" ? decision.freshForMs : Math.min(decision.freshForMs, decision.retryAfterMs);
  }

  #learn(): void {
    this.#sequence += 1;
    this.#learnt = this.#sequence;
  }

  #past(now: Instant): number {
    return this.#last === null ? 0 : ago(this.#last.at, now);
  }
}

function unconditional(permit: string): LocalDecision {
  return { kind: "proceed", permit, freshForMs: 0, percent: 100, slowerThanMs: null };
}

function waiting(retryAfterMs: number, reason: Deferral["reason"]): LocalDecision {
  return { kind: "defer", retryAfterMs, spreadMs: 0, reason, freshForMs: 0, admission: null };
}

/** A cached decision for one more call: the share of a ramp is drawn anew, and a deferral lasts for the rest of its time. */
function drawn(decision: LocalDecision, past: number, draw: () => number): LocalDecision {
  const admission = decision.kind === "proceed" ? decision : decision.admission;
  if (admission !== null && (admission.percent >= 100 || draw() * 100 < admission.percent)) return { ...admission, kind: "proceed" };
  if (decision.kind === "defer") return { ...decision, retryAfterMs: Math.max(1, Math.ceil(decision.retryAfterMs - past)) };
  // The object is asked again when the cached decision ends.
  const left = Math.max(1, Math.ceil(decision.freshForMs - past));
  return { kind: "defer", retryAfterMs: left, spreadMs: left, reason: "ramping", freshForMs: left, admission: null };
}
