/** The delivery of the outcomes that wait in an outbox: one request of the isolate delivers at a time. */
import { BreakerError, isMistake } from "../contract/faults.js";
import type { Admission, Decision, Receipt, Report, Settled } from "../contract/types.js";
import { afterwards } from "./background.js";
import { ago, instant, sleep } from "./instant.js";
import { CLAIM_SLACK, type Isolate } from "./isolate.js";

/** Failures within this many ms share a delivery. */
const GATHER_MS = 3;
/** Deliveries that have met another one leave this share of the cached decision's time between them. */
const PACE = 0.4;
/** The longest time to a handover in ms: the runtime lets a request go on for 30 seconds after its response. */
const LONGEST_HANDOVER = 20_000;

/** Settles a closed-state call: a success waits while the cached decision is fresh, a failure is delivered at once. */
export async function settle(isolate: Isolate, admission: Admission, report: Report): Promise<Receipt | null> {
  const { outcome, tookMs = null } = report;
  if (outcome === "ignored") return null;
  const { outbox } = isolate.state;
  const slow = admission.slowerThanMs !== null && tookMs !== null && tookMs >= admission.slowerThanMs;
  const number = outbox.count(admission.permit, isolate.blamed(report), slow, instant());
  const waits = outcome === "success" && isolate.terms.localAdmission && admission.freshForMs > 0;
  if (!waits && (await deliver(isolate, number, admission.freshForMs > 0 ? GATHER_MS : 0))) return outbox.receipt(admission.permit);
  deliverLater(isolate);
  return null;
}

/** Delivers the outcomes up to a batch; false where they wait for an object out of reach. */
async function deliver(isolate: Isolate, number: number, gatherMs: number): Promise<boolean> {
  const { outage } = isolate;
  const { decision, outbox } = isolate.state;
  // What is dropped meanwhile is settled never.
  for (let met = false; !outbox.settled(number) && !outbox.empty; ) {
    const now = instant();
    if (outage.rest(now) > 0) return false;
    const end = outbox.delivery.take(now, isolate.claimMs);
    if (end === null) {
      met = true;
      await outbox.delivery.ended();
      continue;
    }
    try {
      const pace = met && outbox.lastSent !== null ? decision.timeMs * PACE - ago(outbox.lastSent, now) : 0;
      if (Math.max(gatherMs, pace) > 0) await sleep(Math.max(gatherMs, pace));
      await send(isolate);
    } catch (error) {
      isolate.failed(error, now);
      return false;
    } finally {
      end();
    }
  }
  return true;
}

/** Sends one batch, and learns the object's present decision on the way where the breaker is closed. */
async function send({ terms: { dependency, caller }, rpc, state, outage }: Isolate): Promise<void> {
  const { decision: cached, outbox } = state;
  const batch = outbox.batch(instant());
  if (batch === null) return;
  const sent = cached.send();
  outbox.lastSent = sent.at;
  const learn = ({ receipts, decision }: Settled<Decision | null>): void => {
    outage.over();
    outbox.delivered(batch, receipts);
    // A decision comes after the outcomes, so their receipts say nothing newer.
    if (decision !== null) cached.note(decision, sent);
    else batch.settled.forEach(({ permit }, index) => receipts[index] && cached.learn(permit, receipts[index], sent));
  };
  try {
    await rpc.call((o) => o.settle(dependency, caller, batch), learn);
  } catch (error) {
    if (error instanceof BreakerError && isMistake(error)) outbox.refused(batch, error.message);
    throw error;
  }
}

/** Delivers once the cached decision or the outage ends, where no call asks before. */
function deliverLater(isolate: Isolate): void {
  const { outage } = isolate;
  const { decision, outbox } = isolate.state;
  if (outbox.empty) return;
  const now = instant();
  const withinMs = outage.rest(now) || Math.min(decision.timeMs, LONGEST_HANDOVER);
  const end = outbox.handover.take(now, withinMs + CLAIM_SLACK);
  if (end === null) return;
  afterwards(
    sleep(withinMs).then(async () => {
      end();
      // Where another request has delivered since, the outcomes that wait are younger.
      const younger = outbox.lastSent !== null && ago(outbox.lastSent, instant()) < withinMs;
      if (younger || !(await deliver(isolate, outbox.latest, 0))) deliverLater(isolate);
    }),
  );
}
