/** The memory of an isolate, on clocks that the test holds in its hands. */
import assert from "node:assert/strict";
import { afterEach, describe, it, mock } from "node:test";

import { CachedDecision } from "#dist/client/cached-decision.js";
import { Claim } from "#dist/client/claim.js";
import { type Instant, ago } from "#dist/client/instant.js";
import { Outage } from "#dist/client/outage.js";
import { Outbox } from "#dist/client/outbox.js";

const START = 1_700_000_000_000;
const at = (ms: number, steady = ms): Instant => ({ wall: START + ms, steady });
const never = (): number => assert.fail("nothing was to be drawn");
const admission = { permit: "3", freshForMs: 250, percent: 100, slowerThanMs: null };
const deferral = { retryAfterMs: 5_000, spreadMs: 1_000, reason: "open", freshForMs: 250, admission: null };
const proceed = { kind: "proceed", ...admission } as const;
const defer = { kind: "defer", ...deferral } as const;
const probe = { kind: "probe", permit: "4:1", token: "1", expiresInMs: 5_000, longestMs: 60_000, slowerThanMs: null } as const;
const closed = { applied: true, stale: null, state: "closed", nextDue: null, dueInMs: null } as const;

/** A decision that was asked for and answered at one instant. */
function noted(decision: Parameters<CachedDecision["note"]>[0], ms = 0): CachedDecision {
  const cached = new CachedDecision();
  cached.note(decision, { ...cached.send(), at: at(ms) });
  return cached;
}

describe("a cached decision", () => {
  it("is none where nothing was asked", () => {
    assert.equal(new CachedDecision().decide(at(0), never), null);
    assert.equal(new CachedDecision().lastKnown(at(0), never), null);
  });

  it("admits until its time has passed, and not at its very end", () => {
    const cached = noted(proceed);
    assert.equal(cached.decide(at(249), never)?.kind, "proceed");
    assert.equal(cached.decide(at(250), never), null);
  });

  it("goes by the clock that says more, and ends at a step back", () => {
    const cached = noted(proceed, 1_000);
    assert.equal(cached.decide(at(1_100, 1_250), never), null);
    assert.equal(cached.decide(at(1_250, 1_100), never), null);
    assert.equal(cached.decide(at(999, 1_100), never), null);
    assert.equal(cached.decide(at(1_100, 1_100), never)?.kind, "proceed");
    assert.equal(ago(at(1_000), at(999)), Number.POSITIVE_INFINITY);
  });

  it("defers with the rest of retry-after, and never beyond it", () => {
    const cached = noted(defer);
    const known = cached.decide(at(100), never);
    assert.ok(known?.kind === "defer");
    assert.deepEqual([known.retryAfterMs, known.spreadMs], [4_900, 1_000]);
    assert.equal(cached.decide(at(250), never), null);
    assert.equal(noted({ ...defer, retryAfterMs: 100 }).decide(at(100), never), null);
  });

  it("is none with fresh_ms 0, and cannot be shared then", () => {
    const cached = noted({ ...proceed, freshForMs: 0 });
    assert.equal(cached.decide(at(0), never), null);
    assert.equal(cached.shareable, false);
  });

  it("is never a probe", () => {
    const cached = noted(proceed);
    cached.note(probe, { ...cached.send(), at: at(1) });
    assert.equal(cached.decide(at(2), never), null);
    const known = cached.lastKnown(at(2), never);
    assert.ok(known?.kind === "defer" && known.reason === "probing");
  });

  it("ends once something else was learnt", () => {
    const cached = noted(proceed);
    cached.invalidate();
    assert.equal(cached.decide(at(1), never), null);
    cached.note(defer, { ...cached.send(), at: at(2) });
    assert.equal(cached.decide(at(3), never)?.kind, "defer");
  });

  it("is not replaced by an answer to an older request", () => {
    const cached = new CachedDecision();
    const old = { ...cached.send(), at: at(0) };
    cached.learn("3", { ...closed, state: "open", dueInMs: 4_000 }, cached.send());
    cached.note(proceed, old);
    assert.equal(cached.decide(at(1), never), null);
    const newer = { ...cached.send(), at: at(2) };
    const newest = { ...cached.send(), at: at(3) };
    cached.note(defer, newest);
    cached.note(proceed, newer);
    assert.equal(cached.decide(at(4), never)?.kind, "defer");
  });

  it("ends with a receipt that does not fit it", () => {
    const stale = { ...closed, applied: false, stale: "old-epoch" } as const;
    for (const [permit, receipt, fits] of [
      ["3", closed, true],
      ["3:1", closed, false],
      ["3", stale, false],
      ["3", { ...closed, state: "open" as const }, false],
    ] as const) {
      const cached = noted(proceed);
      cached.learn(permit, receipt, cached.send());
      assert.equal(cached.decide(at(1), never) !== null, fits, JSON.stringify(receipt));
    }
  });

  it("draws during a ramp, by the percentage that was given", () => {
    const admitted = noted({ ...proceed, percent: 40 });
    assert.equal(admitted.decide(at(1), () => 0.399)?.kind, "proceed");
    const lost = admitted.decide(at(50), () => 0.4);
    assert.ok(lost?.kind === "defer" && lost.reason === "ramping" && lost.retryAfterMs === 200);
    const ramping = { ...defer, reason: "ramping", admission: { ...admission, percent: 40 } };
    const refused = noted(ramping);
    assert.deepEqual(refused.decide(at(1), () => 0.1), { kind: "proceed", ...ramping.admission });
    assert.equal(refused.decide(at(1), () => 0.9)?.kind, "defer");
  });

  it("is refreshed in its last part, unless an open window ends", () => {
    const cached = noted(proceed);
    assert.deepEqual([cached.refreshDue(at(166)), cached.refreshDue(at(167))], [false, true]);
    const soon = noted({ ...defer, retryAfterMs: 200 });
    assert.equal(soon.refreshDue(at(199)), false);
  });
});

describe("the last known decision", () => {
  it("is the last answer, for as long as it says something", () => {
    assert.equal(noted(proceed).lastKnown(at(1_000_000), never)?.kind, "proceed");
    const known = noted(defer).lastKnown(at(4_000), never);
    assert.ok(known?.kind === "defer" && known.retryAfterMs === 1_000);
    assert.equal(noted(defer).lastKnown(at(5_000), never), null);
  });

  it("is what the receipt of a report said: open, and until when", () => {
    mock.timers.enable({ apis: ["Date"], now: START });
    const cached = noted(proceed);
    const early = cached.send();
    cached.learn("3", { ...closed, state: "open", nextDue: 1, dueInMs: 4_000 }, cached.send());
    const now = { wall: START + 1_000, steady: performance.now() };
    const known = cached.lastKnown(now, never);
    assert.ok(known?.kind === "defer" && known.reason === "open" && known.retryAfterMs <= 3_000);
    const between = { ...cached.send(), at: now };
    cached.learn("4:1", closed, early);
    assert.equal(cached.lastKnown(now, never)?.kind, "defer", "a late receipt does not close it again");
    cached.note({ ...defer, reason: "forced-open" }, between);
    const newer = cached.lastKnown(now, never);
    assert.ok(newer?.kind === "defer" && newer.reason === "forced-open", "nor does it hide an answer to a later request");
    cached.learn("4:1", closed, cached.send());
    assert.equal(cached.lastKnown(now, never)?.kind, "proceed");
  });

  it("draws the share of a ramp", () => {
    const cached = noted({ ...proceed, percent: 40 });
    assert.equal(cached.lastKnown(at(9_000), () => 0.399)?.kind, "proceed");
    assert.equal(cached.lastKnown(at(9_000), () => 0.4)?.kind, "defer");
  });

  afterEach(() => mock.timers.reset());
});

describe("an outage", () => {
  const fault = { code: "unreachable", message: "gone" } as const;

  it("keeps callers away for a time that doubles, to a limit", () => {
    const outage = new Outage();
    assert.deepEqual([outage.rest(at(0)), outage.fault], [0, null]);
    let now = 0;
    for (const wait of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
      assert.equal(outage.failed(fault, at(now), at(now)), true);
      assert.deepEqual([outage.rest(at(now)), outage.rest(at(now + wait - 1)), outage.rest(at(now + wait))], [wait, 1, 0]);
      now += wait;
    }
    outage.over();
    assert.deepEqual([outage.rest(at(now)), outage.fault], [0, null]);
  });

  it("counts attempts once that were under way together", () => {
    const outage = new Outage();
    assert.equal(outage.failed(fault, at(0), at(2_000)), true);
    assert.equal(outage.failed(fault, at(1), at(2_001)), false);
    assert.equal(outage.rest(at(2_000)), 1_000);
  });
});

describe("an outbox", () => {
  const none = { successes: 0, slowSuccesses: 0, failures: 0, slowFailures: 0 };

  it("counts by permit, with the blame of the last failure", () => {
    const outbox = new Outbox("payments");
    outbox.count("3", { outcome: "success" }, false, at(0));
    outbox.count("3", { outcome: "success" }, true, at(0));
    outbox.count("3", { outcome: "failure", cause: "first" }, false, at(0));
    outbox.count("3", { outcome: "timeout", cause: "last" }, true, at(0));
    outbox.count("4", { outcome: "success" }, false, at(0));
    const blame = { caller: undefined, cause: "last", retryAfterMs: undefined };
    assert.deepEqual(outbox.batch(at(1))?.settled, [
      { permit: "3", tally: { successes: 1, slowSuccesses: 1, failures: 1, slowFailures: 1, ...blame } },
      { permit: "4", tally: { ...none, successes: 1 } },
    ]);
  });

  it("sends a batch again, as it was, until it is answered", () => {
    const outbox = new Outbox("payments");
    assert.equal(outbox.count("3", { outcome: "success" }, false, at(0)), 1);
    const first = outbox.batch(at(1));
    assert.equal(outbox.count("3", { outcome: "success" }, false, at(2)), 2);
    assert.deepEqual(outbox.batch(at(3)), first);
    assert.ok(first !== null && !outbox.settled(1));
    outbox.delivered(first, [{ ...closed, state: "open" }]);
    assert.ok(outbox.settled(1) && !outbox.settled(2) && outbox.receipt("3")?.state === "open");
    const second = outbox.batch(at(4));
    assert.deepEqual([second?.number, second?.settled[0]?.tally.successes, second?.sender], [2, 1, first.sender]);
    outbox.delivered(first, []);
    assert.ok(!outbox.settled(2), "an answer that comes twice settles nothing more");
  });

  it("keeps what waits when the clock steps back", (context) => {
    const said = context.mock.method(console, "error", () => {});
    const outbox = new Outbox("payments");
    outbox.count("3", { outcome: "success" }, false, at(100_000));
    assert.equal(outbox.batch(at(99_995))?.settled[0]?.tally.successes, 1);
    assert.equal(outbox.batch(at(159_000))?.settled.length, 1);
    assert.equal(said.mock.callCount(), 0);
    assert.equal(outbox.batch(at(160_000)), null, "its age begins anew, and ends");
  });

  it("says which outcomes it drops: too old, too many permits", (context) => {
    const said = context.mock.method(console, "error", () => {});
    const outbox = new Outbox("payments");
    outbox.count("3", { outcome: "failure" }, false, at(0));
    outbox.count("3", { outcome: "success" }, false, at(50_000));
    assert.deepEqual(outbox.batch(at(60_001))?.settled.map(({ tally }) => [tally.successes, tally.failures]), [[1, 0]]);
    assert.match(String(said.mock.calls[0]?.arguments[0]), /0 successes and 1 failures of "payments" were dropped: too old$/);
    assert.equal(outbox.batch(at(200_000)), null);
    assert.match(String(said.mock.calls[1]?.arguments[0]), /1 successes and 0 failures .* they were sent, and the object has not/);
    assert.ok(outbox.empty && outbox.settled(1));
    for (let permit = 0; permit < 40; permit++) outbox.count(String(permit), { outcome: "success" }, false, at(200_000));
    assert.equal(outbox.batch(at(200_000))?.settled.length, 32);
    assert.equal(said.mock.callCount(), 10);
  });
});

describe("a claim", () => {
  it("belongs to one request, for a time", () => {
    const claim = new Claim();
    const end = claim.take(at(0), 1_250);
    assert.ok(end !== null);
    assert.equal(claim.take(at(1_249), 1_250), null);
    const other = claim.take(at(1_250), 1_250);
    assert.ok(other !== null);
    end();
    assert.equal(claim.held(at(1_251)), true, "the first can no longer end it");
    other();
    assert.equal(claim.held(at(1_251)), false);
  });
});
