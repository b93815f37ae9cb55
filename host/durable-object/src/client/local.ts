/**
 * The cached decision of an isolate for one dependency, and the outcomes that it has counted. The isolate admits and
 * defers by the component's last answer, for the time that the answer allows. It holds no rule of its own.
 *
 * Only plain data is kept here: promises and stubs belong to one request, and another request cannot use them.
 *
 * @module
 */
import type { Admission, Blame, Decision, Deferral, Report, Tally } from "../contract/types.js";

/** An instant by both clocks: the isolate may be stopped, or the machine's clock set, before the next one. */
export interface Instant {
  wall: number;
  steady: number;
}

/** The present instant. */
export function instant(): Instant {
  return { wall: Date.now(), steady: performance.now() };
}

/** The time since an instant in ms, by the clock that gives more; infinite where one has stepped back. */
export function ago(then: Instant, now: Instant): number {
  const [wall, steady] = [now.wall - then.wall, now.steady - then.steady];
  return wall < 0 || steady < 0 ? Number.POSITIVE_INFINITY : Math.max(wall, steady);
}

/** The outcomes under one permit, and the blame of the last failure. */
interface Counts {
  successes: number;
  slowSuccesses: number;
  failures: number;
  slowFailures: number;
  blame: Blame;
}

/** A decision that is made without asking. */
export type LocalDecision = { kind: "proceed"; admission: Admission } | { kind: "defer"; deferral: Deferral };

interface CachedDecision {
  sent: Instant;
  decision: LocalDecision;
}

/** The state of an isolate for one dependency. */
export class Local {
  /** When this isolate last put the dependency on the list of its namespace. */
  enlisted: Instant | null = null;
  #last: CachedDecision | null = null;
  #fresh = false;
  #pending = new Map<string, Counts>();
  #handover: { from: Instant; within: number } | null = null;

  /** Caches the object's answer to an acquire that was sent then. */
  note(decision: Decision, sent: Instant): void {
    this.#fresh = decision.kind !== "probe";
    if (decision.kind === "proceed") {
      const { kind, ...admission } = decision;
      this.#last = { sent, decision: { kind, admission } };
    } else if (decision.kind === "defer") {
      const { kind, ...deferral } = decision;
      this.#last = { sent, decision: { kind, deferral } };
    }
  }

  /** Ends the cached decision: something newer is known. */
  forget(): void {
    this.#fresh = false;
  }

  /** The decision for a call now; null where the object must be asked. `draw` is uniform over [0, 1). */
  decide(now: Instant, draw: () => number): LocalDecision | null {
    if (this.#last === null || !this.#fresh) return null;
    const { sent, decision } = this.#last;
    const past = ago(sent, now);
    if (decision.kind === "proceed") {
      const { admission } = decision;
      if (past >= admission.freshForMs) return null;
      return drawn(admission, draw) ? decision : ramping(admission, past);
    }
    const { deferral } = decision;
    if (past >= deferral.freshForMs || past >= deferral.retryAfterMs) return null;
    if (deferral.admission !== null && drawn(deferral.admission, draw)) {
      return { kind: "proceed", admission: deferral.admission };
    }
    return rest(deferral, past);
  }

  /** The last decision, of any age, for an object out of reach. Never a probe. */
  lastKnown(now: Instant): LocalDecision | null {
    if (this.#last === null) return null;
    const { sent, decision } = this.#last;
    if (decision.kind === "proceed") return decision;
    const past = ago(sent, now);
    return past < decision.deferral.retryAfterMs ? rest(decision.deferral, past) : null;
  }

  /** The time in ms for which the cached decision may still be used. */
  freshFor(now: Instant): number {
    if (this.#last === null || !this.#fresh) return 0;
    const { sent, decision } = this.#last;
    const { freshForMs } = decision.kind === "proceed" ? decision.admission : decision.deferral;
    return Math.max(0, freshForMs - ago(sent, now));
  }

  /** Counts an outcome, to be handed over. */
  count(permit: string, { outcome, caller, cause, retryAfterMs }: Report, slow: boolean): void {
    if (outcome === "ignored") return;
    const none = { successes: 0, slowSuccesses: 0, failures: 0, slowFailures: 0, blame: {} };
    const counts: Counts = this.#pending.get(permit) ?? none;
    const kind = outcome === "success" ? (slow ? "slowSuccesses" : "successes") : slow ? "slowFailures" : "failures";
    counts[kind] += 1;
    if (outcome !== "success") counts.blame = { caller, cause, retryAfterMs };
    this.#pending.set(permit, counts);
  }

  /** Takes the counted outcomes. They are handed over once: they may have arrived even where no answer came back. */
  take(): { permit: string; tally: Tally }[] {
    const taken = [...this.#pending].map(([permit, { blame, ...counts }]) => ({ permit, tally: { ...counts, ...blame } }));
    this.#pending = new Map();
    return taken;
  }

  /** Whether the caller is to make the handover within the given time, because no other request has claimed it. */
  claimHandover(now: Instant, within: number): boolean {
    // A request that had claimed it may have been cut off.
    const claimed = this.#handover !== null && ago(this.#handover.from, now) < this.#handover.within + 1_000;
    if (claimed) return false;
    this.#handover = { from: now, within };
    return true;
  }

  /** The handover has been made. */
  handedOver(): void {
    this.#handover = null;
  }
}

function drawn({ percent }: Admission, draw: () => number): boolean {
  return percent >= 100 || draw() * 100 < percent;
}

/** The deferral of a call that the draw did not admit: the object is asked again when the cached decision ends. */
function ramping(admission: Admission, past: number): LocalDecision {
  const left = Math.max(1, Math.ceil(admission.freshForMs - past));
  return {
    kind: "defer",
    deferral: { retryAfterMs: left, spreadMs: left, reason: "ramping", freshForMs: left, admission: null },
  };
}

function rest(deferral: Deferral, past: number): LocalDecision {
  return { kind: "defer", deferral: { ...deferral, retryAfterMs: Math.max(1, Math.ceil(deferral.retryAfterMs - past)) } };
}
