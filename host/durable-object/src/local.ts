/**
 * What an isolate knows of one dependency between two looks: it admits and defers by what the component last said, for as
 * long as the component said, and counts outcomes until they are handed over. It holds no rule of its own.
 *
 * Only plain data is kept here: promises and stubs belong to one request and cannot be shared with another.
 *
 * @module
 */
import type { Admission, Decision, Deferral, Outcome } from "./types.js";

/** An instant by both clocks: the isolate may have been stopped, or the machine's clock set, in between. */
export interface Instant {
  wall: number;
  steady: number;
}

export function instant(): Instant {
  return { wall: Date.now(), steady: performance.now() };
}

/** How long ago something was, in ms, by whichever clock says more; forever where one has stepped back. */
export function ago(then: Instant, now: Instant): number {
  const [wall, steady] = [now.wall - then.wall, now.steady - then.steady];
  return wall < 0 || steady < 0 ? Number.POSITIVE_INFINITY : Math.max(wall, steady);
}

/** How many calls ended how, under one permit. */
export interface Counts {
  successes: number;
  slowSuccesses: number;
  failures: number;
  slowFailures: number;
}

/** What is decided without asking. */
export type LocalDecision = { kind: "proceed"; admission: Admission } | { kind: "defer"; deferral: Deferral };

interface Look {
  sent: Instant;
  decision: LocalDecision;
}

export class Local {
  /** When this isolate last put the dependency on the list of its namespace. */
  enlisted: Instant | null = null;
  #last: Look | null = null;
  #fresh = false;
  #pending = new Map<string, Counts>();
  #handover: { from: Instant; within: number } | null = null;

  /** Keeps what the object answered to an acquire that was sent then. */
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

  /** Something was learnt that the last look did not know: ask again. */
  forget(): void {
    this.#fresh = false;
  }

  /** What the last look allows to decide now; null where the object must be asked. `draw` is uniform over [0, 1). */
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

  /** What the last look said, however old; for when the object is out of reach. Never a probe. */
  lastKnown(now: Instant): LocalDecision | null {
    if (this.#last === null) return null;
    const { sent, decision } = this.#last;
    if (decision.kind === "proceed") return decision;
    const past = ago(sent, now);
    return past < decision.deferral.retryAfterMs ? rest(decision.deferral, past) : null;
  }

  /** For how many ms the last look may still be acted on. */
  freshFor(now: Instant): number {
    if (this.#last === null || !this.#fresh) return 0;
    const { sent, decision } = this.#last;
    const { freshForMs } = decision.kind === "proceed" ? decision.admission : decision.deferral;
    return Math.max(0, freshForMs - ago(sent, now));
  }

  /** Counts an outcome, to be handed over. */
  count(permit: string, outcome: Outcome, slow: boolean): void {
    if (outcome === "ignored") return;
    const counts = this.#pending.get(permit) ?? { successes: 0, slowSuccesses: 0, failures: 0, slowFailures: 0 };
    const kind = outcome === "success" ? (slow ? "slowSuccesses" : "successes") : slow ? "slowFailures" : "failures";
    counts[kind] += 1;
    this.#pending.set(permit, counts);
  }

  /** Takes what has been counted. It is handed over once: it may have arrived even where no answer came back. */
  take(): { permit: string; tally: Counts }[] {
    const taken = [...this.#pending].map(([permit, tally]) => ({ permit, tally }));
    this.#pending = new Map();
    return taken;
  }

  /** Whether somebody is to see to the handover within so many ms, because nobody else does. */
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

/** A call that the draw did not admit: the next look comes when this one ends. */
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
