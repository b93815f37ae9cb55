/**
 * Admission: by the cached decision of the isolate, by the object, or by the choice for an object out of reach; and the
 * delivery of the outcomes.
 */
import { BreakerError, type Fault, type Reply } from "../contract/faults.js";
import type { Admission, Decision, Deferral, Receipt, Report, Settled } from "../contract/types.js";
import { afterwards } from "./background.js";
import type { LocalDecision, Sent } from "./cached-decision.js";
import { type Instant, ago, instant, sleep } from "./instant.js";
import type { IsolateState } from "./isolate.js";
import type { WhenUnreachable } from "./options.js";
import { type Basis, type Deferred, Permit } from "./permit.js";
import type { Method, Rpc } from "./rpc.js";

/** A caller of an object out of reach comes back after this many ms, or more, and a random share of as many again. */
const UNREACHABLE_WAIT = 1_000;
/** The number of times that the object is asked when each lease has expired before it arrives. */
const LATE = 3;
/** The number of questions of other requests that a call waits for before it asks itself. */
const MOST_WAITS = 2;
/** A claim outlasts the time limit of its call by this many ms. */
const CLAIM_SLACK = 1_000;
/** Failures within this many ms share a delivery. */
const GATHER_MS = 3;
/** Deliveries that have met another one leave this share of the cached decision's time between them. */
const PACE = 0.4;
/** The longest time to a handover in ms: the runtime lets a request go on for 30 seconds after its response. */
const LONGEST_HANDOVER = 20_000;

/** How a client admits calls. */
export interface Terms {
  dependency: string;
  caller: string;
  whenUnreachable: WhenUnreachable;
  answerWithinMs: number;
  localAdmission: boolean;
}

/** Admits calls and takes their outcomes. */
export class Admitter {
  readonly #terms: Terms;
  readonly #rpc: Rpc;
  readonly #state: IsolateState;

  constructor(terms: Terms, rpc: Rpc, state: IsolateState) {
    this.#terms = terms;
    this.#rpc = rpc;
    this.#state = state;
  }

  /** The answer to a call. */
  async acquire(): Promise<Permit | Deferred> {
    const { decision, outage, outbox, question } = this.#state;
    for (let waits = 0; ; ) {
      const now = instant();
      const known = this.#known(now);
      // A delivery that is under way brings a decision along.
      if (known !== null && (outbox.delivery.held(now) || !decision.refreshDue(now))) return this.#local(known);
      if (outage.fault !== null && outage.rest(now) > 0) return this.#local(known) ?? this.#without(outage.fault, now);
      // Answers that no other call can use are asked for by each, but an object out of reach by one request at a time.
      const alone = outage.fault === null && !(this.#terms.localAdmission && decision.shareable);
      const end = alone ? null : question.take(now, this.#claimMs);
      if (alone || end !== null) return await this.#ask(end);
      if (known !== null) return this.#local(known);
      if (outage.fault !== null) return this.#without(outage.fault, now);
      if (waits === MOST_WAITS) return await this.#ask(null);
      waits += 1;
      await question.ended();
    }
  }

  /** Reports under a permit that is settled by itself: a probe's, or one that another Worker was given. */
  report(permit: string, report: Report): Promise<Receipt> {
    const named = { caller: this.#terms.caller, ...report };
    return this.receipt(permit, (o) => o.report(this.#terms.dependency, permit, named));
  }

  /** Renews the lease of a probe. */
  renew(permit: string): Promise<Receipt> {
    return this.receipt(permit, (o) => o.renew(this.#terms.dependency, permit));
  }

  /** The receipt of a method, also of one that comes late, is acted on at once. */
  async receipt(permit: string | null, method: Method<Receipt>): Promise<Receipt> {
    const sent = this.#state.decision.send();
    const late = (answer: Promise<Reply<Receipt>>): void => {
      afterwards(answer.then((reply) => (reply.ok ? this.#learn(permit, reply.value, sent) : undefined)));
    };
    return this.#learn(permit, await this.#rpc.call<Receipt>(method, late), sent);
  }

  #learn(permit: string | null, receipt: Receipt, sent: Sent): Receipt {
    this.#state.outage.over();
    this.#state.decision.learn(permit, receipt, sent);
    return receipt;
  }

  /** The answer by the object. `end` ends the claim of this question. */
  async #ask(end: (() => void) | null): Promise<Permit | Deferred> {
    const { decision: cached, outage } = this.#state;
    const begun = instant();
    try {
      for (let attempt = 0; attempt < LATE; attempt++) {
        const sent = cached.send();
        const decision = await this.#decide(sent);
        outage.over();
        cached.note(decision, sent);
        if (decision.kind === "proceed") return this.#permit(decision, "object");
        if (decision.kind === "defer") return deferred(decision, "object", null);
        if (ago(sent.at, instant()) < decision.expiresInMs) return this.#probe(decision);
      }
      const message = "a probe was granted, and its lease expired before the answer arrived; give it a longer lease_ms";
      throw new BreakerError({ code: "unreachable", message });
    } catch (error) {
      const fault = this.#failed(error, begun);
      const now = instant();
      return this.#local(this.#known(now)) ?? this.#without(fault, now);
    } finally {
      end?.();
    }
  }

  /** Asks the object, and delivers the outcomes that wait on the way. */
  async #decide(sent: Sent): Promise<Decision> {
    const { dependency, caller } = this.#terms;
    const { outbox } = this.#state;
    const now = instant();
    const end = outbox.empty ? null : outbox.delivery.take(now, this.#claimMs);
    const batch = end === null ? null : outbox.batch(now);
    if (batch !== null) outbox.lastSent = now;
    try {
      if (batch === null) return await this.#rpc.call<Decision>((o) => o.acquire(dependency, caller), (late) => this.#late(late, sent));
      // The decision comes after the outcomes, so their receipts say nothing newer.
      const answer = await this.#rpc.call<Settled<Decision>>(
        (o) => o.settleAndAcquire(dependency, caller, batch),
        (late) => {
          const decided = late.then((reply): Reply<Decision> => {
            if (!reply.ok) return reply;
            outbox.delivered(batch, reply.value.receipts);
            return { ok: true, value: reply.value.decision };
          });
          this.#late(decided, sent);
        },
      );
      outbox.delivered(batch, answer.receipts);
      return answer.decision;
    } finally {
      end?.();
    }
  }

  /** Learns from an answer that comes late. A probe is given back: it has no caller, and its lease would have to expire. */
  #late(answer: Promise<Reply<Decision>>, sent: Sent): void {
    afterwards(
      answer.then(async (reply) => {
        if (!reply.ok) return;
        this.#state.decision.note(reply.value, sent);
        if (reply.value.kind === "probe") await this.report(reply.value.permit, { outcome: "ignored" });
      }),
    );
  }

  #known(now: Instant): LocalDecision | null {
    return this.#terms.localAdmission ? this.#state.decision.decide(now, Math.random) : null;
  }

  /** An error of the object as the fault of an outage. The caller's own mistake is thrown. */
  #failed(error: unknown, sent: Instant): Fault {
    if (!(error instanceof BreakerError) || error.code === "invalid-dependency" || error.code === "invalid-argument") throw error;
    if (this.#state.outage.failed(error.fault, sent, instant())) {
      const { dependency, whenUnreachable } = this.#terms;
      console.error(`halfopen: ${JSON.stringify(dependency)} answers ${whenUnreachable}: ${error.message}`);
    }
    return error.fault;
  }

  #local(known: LocalDecision): Permit | Deferred;
  #local(known: LocalDecision | null): Permit | Deferred | null;
  #local(known: LocalDecision | null): Permit | Deferred | null {
    if (known === null) return null;
    return known.kind === "proceed" ? this.#permit(known.admission, "local") : deferred(known.deferral, "local", null);
  }

  /** The answer while the object is out of reach. */
  #without(fault: Fault, now: Instant): Permit | Deferred {
    const { whenUnreachable } = this.#terms;
    if (whenUnreachable === "fail-open") return unrecorded(whenUnreachable);
    const known = whenUnreachable === "last-known" ? this.#state.decision.lastKnown(now, Math.random) : null;
    if (known?.kind === "proceed") return unrecorded("last-known");
    if (known?.kind === "defer") return deferred(known.deferral, "last-known", fault);
    const retryAfterMs = Math.max(UNREACHABLE_WAIT, this.#state.outage.rest(now));
    const deferral: Deferral = { retryAfterMs, spreadMs: UNREACHABLE_WAIT, reason: "unreachable", freshForMs: 0, admission: null };
    return deferred(deferral, "fail-closed", fault);
  }

  #permit(admission: Admission, basis: Basis): Permit {
    const { permit: text } = admission;
    return new Permit({ role: "call", text, basis }, {
      report: (report) => this.#settle(admission, report),
      renew: () => this.renew(text),
    });
  }

  #probe({ permit: text, token, expiresInMs, longestMs }: Decision & { kind: "probe" }): Permit {
    return new Permit({ role: "probe", text, token, expiresInMs, longestMs, basis: "object" }, {
      report: (report) => this.report(text, report),
      renew: () => this.renew(text),
    });
  }

  /** Settles a closed-state call: a success waits while the cached decision is fresh, a failure is delivered at once. */
  async #settle(admission: Admission, report: Report): Promise<Receipt | null> {
    const { outcome, tookMs = null } = report;
    if (outcome === "ignored") return null;
    const slow = admission.slowerThanMs !== null && tookMs !== null && tookMs >= admission.slowerThanMs;
    const { outbox } = this.#state;
    const number = outbox.count(admission.permit, { caller: this.#terms.caller, ...report }, slow, instant());
    if (outcome === "success" && this.#terms.localAdmission && admission.freshForMs > 0) {
      this.#deliverLater();
      return null;
    }
    if (await this.#deliver(number, admission.freshForMs > 0 ? GATHER_MS : 0)) return outbox.receipt(admission.permit);
    this.#deliverLater();
    return null;
  }

  /** Delivers the outcomes up to a batch; false where they wait for an object out of reach. One request delivers at a time. */
  async #deliver(number: number, gatherMs: number): Promise<boolean> {
    const { decision, outage, outbox } = this.#state;
    for (let met = false; !outbox.settled(number); ) {
      const now = instant();
      if (outage.rest(now) > 0) return false;
      const end = outbox.delivery.take(now, this.#claimMs);
      if (end === null) {
        met = true;
        await outbox.delivery.ended();
        continue;
      }
      try {
        const pace = met && outbox.lastSent !== null ? decision.timeMs * PACE - ago(outbox.lastSent, now) : 0;
        if (Math.max(gatherMs, pace) > 0) await sleep(Math.max(gatherMs, pace));
        await this.#send();
      } catch (error) {
        this.#failed(error, now);
        return false;
      } finally {
        end();
      }
    }
    return true;
  }

  /** Sends one batch, and learns the object's present decision on the way where the breaker is closed. */
  async #send(): Promise<void> {
    const { decision: cached, outbox } = this.#state;
    const { dependency, caller } = this.#terms;
    const batch = outbox.batch(instant());
    if (batch === null) return;
    const sent = cached.send();
    outbox.lastSent = sent.at;
    const learn = ({ receipts, decision }: Settled<Decision | null>): void => {
      outbox.delivered(batch, receipts);
      // A decision comes after the outcomes, so their receipts say nothing newer.
      if (decision !== null) cached.note(decision, sent);
      else batch.settled.forEach(({ permit }, index) => receipts[index] && this.#learn(permit, receipts[index], sent));
    };
    try {
      const late = (answer: Promise<Reply<Settled<Decision | null>>>): void => {
        afterwards(answer.then((reply) => (reply.ok ? learn(reply.value) : undefined)));
      };
      learn(await this.#rpc.call<Settled<Decision | null>>((o) => o.settle(dependency, caller, batch), late));
    } catch (error) {
      if (error instanceof BreakerError && error.code.startsWith("invalid-")) outbox.refused(batch, error.message);
      throw error;
    }
  }

  /** Delivers once the cached decision or the outage ends, where no call asks before. */
  #deliverLater(): void {
    const { decision, outage, outbox } = this.#state;
    const now = instant();
    if (outbox.empty) return;
    const withinMs = outage.rest(now) || Math.min(decision.timeMs, LONGEST_HANDOVER);
    const end = outbox.handover.take(now, withinMs + CLAIM_SLACK);
    if (end === null) return;
    afterwards(
      sleep(withinMs).then(async () => {
        end();
        // Where another request has delivered since, the outcomes that wait are younger.
        const younger = outbox.lastSent !== null && ago(outbox.lastSent, instant()) < withinMs;
        if (younger || !(await this.#deliver(outbox.latest, 0))) this.#deliverLater();
      }),
    );
  }

  get #claimMs(): number {
    return this.#terms.answerWithinMs + CLAIM_SLACK;
  }
}

/** A permit of which nothing is recorded. */
function unrecorded(basis: Basis): Permit {
  return new Permit({ role: "call", text: null, basis }, {
    report: () => Promise.resolve(null),
    renew: () => Promise.reject(new BreakerError({ code: "invalid-argument", message: "there is no lease to renew" })),
  });
}

function deferred({ retryAfterMs, spreadMs, reason }: Deferral, basis: Basis, fault: Fault | null): Deferred {
  return { deferred: true, retryAfterMs, spreadMs, reason, basis, fault };
}
