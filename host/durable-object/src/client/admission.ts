/** Admission: by the cached decision of the isolate, by the object, or by the choice for an object out of reach. */
import { BreakerError, type Fault } from "../contract/faults.js";
import type { Admission, Decision, Deferral, Settled } from "../contract/types.js";
import type { LocalDecision, Sent } from "./cached-decision.js";
import { settle } from "./delivery.js";
import { type Instant, ago, instant } from "./instant.js";
import type { Isolate } from "./isolate.js";
import { type Basis, type Deferred, Permit } from "./permit.js";

/** A caller of an object out of reach comes back after this many ms, or more, and a random share of as many again. */
const UNREACHABLE_WAIT = 1_000;
/** The number of times that the object is asked when each lease has expired before it arrives. */
const LATE = 3;
/** The number of questions of other requests that a call waits for before it asks itself. */
const MOST_WAITS = 2;

/** The answer to a call. */
export async function acquire(isolate: Isolate): Promise<Permit | Deferred> {
  const { outage } = isolate;
  const { decision, outbox, question } = isolate.state;
  for (let waits = 0; ; waits++) {
    const now = instant();
    const known = cached(isolate, now);
    // A delivery that is under way brings a decision along.
    if (known !== null && (outbox.delivery.held(now) || !decision.refreshDue(now))) return known;
    if (outage.fault !== null && outage.rest(now) > 0) return known ?? without(isolate, outage.fault, now);
    // Answers that no other call can use are asked for by each, but an object out of reach by one request at a time.
    const alone = outage.fault === null && !(isolate.terms.localAdmission && decision.shareable);
    const end = alone ? null : question.take(now, isolate.claimMs);
    if (alone || end !== null) return await ask(isolate).finally(() => end?.());
    if (known !== null) return known;
    if (outage.fault !== null) return without(isolate, outage.fault, now);
    if (waits === MOST_WAITS) return await ask(isolate);
    await question.ended(isolate.terms.answerWithinMs);
  }
}

/** The answer by the object. */
async function ask(isolate: Isolate): Promise<Permit | Deferred> {
  const begun = instant();
  try {
    for (let attempt = 0; attempt < LATE; attempt++) {
      const sent = isolate.state.decision.send();
      const decision = await decide(isolate, sent);
      if (decision.kind !== "probe") return answer(isolate, decision, "object");
      if (ago(sent.at, instant()) < decision.expiresInMs) return probe(isolate, decision);
    }
    const message = "a probe was granted, and its lease expired before the answer arrived; give it a longer lease_ms";
    throw new BreakerError({ code: "unreachable", message });
  } catch (error) {
    const fault = isolate.failed(error, begun);
    const now = instant();
    return cached(isolate, now) ?? without(isolate, fault, now);
  }
}

/** Asks the object, and delivers the outcomes that wait on the way. */
async function decide(isolate: Isolate, sent: Sent): Promise<Decision> {
  const { terms, rpc, state, outage } = isolate;
  const { decision: cached, outbox } = state;
  const end = outbox.empty ? null : outbox.delivery.take(sent.at, isolate.claimMs);
  const batch = end === null ? null : outbox.batch(sent.at);
  if (batch !== null) outbox.lastSent = sent.at;
  const learn = ({ receipts, decision }: Settled<Decision>, late: boolean): unknown => {
    // The decision comes after the outcomes, so their receipts say nothing newer.
    if (batch !== null) outbox.delivered(batch, receipts);
    cached.note(decision, sent);
    // A probe that comes late has no caller: it is given back, so that its lease need not expire.
    if (late) return decision.kind === "probe" ? isolate.report(decision.permit, { outcome: "ignored" }) : null;
    return outage.over();
  };
  const settled = rpc.call((o) => o.settleAndAcquire(terms.dependency, terms.caller, batch), learn);
  return (await settled.finally(() => end?.())).decision;
}

/** The answer while the object is out of reach. */
function without(isolate: Isolate, fault: Fault, now: Instant): Permit | Deferred {
  const { terms, state } = isolate;
  if (terms.whenUnreachable === "fail-open") return unrecorded("fail-open");
  const known = terms.whenUnreachable === "last-known" ? state.decision.lastKnown(now, Math.random) : null;
  if (known?.kind === "proceed") return unrecorded("last-known");
  const { retryAfterMs, spreadMs, reason } = known ?? { retryAfterMs: 0, spreadMs: UNREACHABLE_WAIT, reason: "unreachable" };
  // Before that the answer would be the same.
  const wait = Math.max(retryAfterMs, isolate.outage.rest(now), known === null ? UNREACHABLE_WAIT : 0);
  return deferred({ retryAfterMs: wait, spreadMs, reason }, known === null ? "fail-closed" : "last-known", fault);
}

/** The answer by the cached decision; null where the object must be asked. */
function cached(isolate: Isolate, now: Instant): Permit | Deferred | null {
  const known = isolate.terms.localAdmission ? isolate.state.decision.decide(now, Math.random) : null;
  return known === null ? null : answer(isolate, known, "local");
}

function answer(isolate: Isolate, decision: LocalDecision, basis: Basis): Permit | Deferred {
  return decision.kind === "proceed" ? permit(isolate, decision, basis) : deferred(decision, basis, null);
}

function permit(isolate: Isolate, admission: Admission, basis: Basis): Permit {
  const { permit: text } = admission;
  return new Permit({ role: "call", text, basis }, {
    report: (report) => settle(isolate, admission, report),
    renew: () => isolate.renew(text),
  });
}

function probe(isolate: Isolate, { permit: text, token, expiresInMs, longestMs }: Decision & { kind: "probe" }): Permit {
  return new Permit({ role: "probe", text, token, expiresInMs, longestMs, basis: "object" }, {
    report: (report) => isolate.report(text, report),
    renew: () => isolate.renew(text),
  });
}

/** A permit of which nothing is recorded. */
function unrecorded(basis: Basis): Permit {
  return new Permit({ role: "call", text: null, basis }, {
    report: () => Promise.resolve(null),
    renew: () => Promise.reject(new BreakerError({ code: "invalid-argument", message: "there is no lease to renew" })),
  });
}

function deferred(deferral: Pick<Deferral, "retryAfterMs" | "spreadMs" | "reason">, basis: Basis, fault: Fault | null): Deferred {
  const { retryAfterMs, spreadMs, reason } = deferral;
  return { deferred: true, retryAfterMs, spreadMs, reason, basis, fault };
}
