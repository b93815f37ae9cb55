/** What an isolate decides by itself, on clocks that the test holds in its hands. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { type Instant, Local, ago } from "#dist/client/local.js";

const at = (ms: number, steady = ms): Instant => ({ wall: 1_700_000_000_000 + ms, steady });
const never = (): number => assert.fail("nothing was to be drawn");
const admission = { permit: "3", freshForMs: 250, percent: 100, slowerThanMs: null };
const deferral = { retryAfterMs: 5_000, spreadMs: 1_000, reason: "open", freshForMs: 250, admission: null };

describe("local admission", () => {
  it("asks where nothing is known", () => {
    assert.equal(new Local().decide(at(0), never), null);
  });

  it("admits until the look has run out, and not at its very end", () => {
    const local = new Local();
    local.note({ kind: "proceed", ...admission }, at(0));
    assert.equal(local.decide(at(249), never)?.kind, "proceed");
    assert.equal(local.decide(at(250), never), null);
  });

  it("goes by whichever clock says more, and asks when one has stepped back", () => {
    const local = new Local();
    local.note({ kind: "proceed", ...admission }, at(1_000));
    assert.equal(local.decide(at(1_100, 1_250), never), null);
    assert.equal(local.decide(at(1_250, 1_100), never), null);
    assert.equal(local.decide(at(999, 1_100), never), null);
    assert.equal(local.decide(at(1_100, 1_100), never)?.kind, "proceed");
    assert.equal(ago(at(1_000), at(999)), Number.POSITIVE_INFINITY);
  });

  it("defers with the rest of retry-after", () => {
    const local = new Local();
    local.note({ kind: "defer", ...deferral }, at(0));
    const known = local.decide(at(100), never);
    assert.ok(known?.kind === "defer");
    assert.deepEqual([known.deferral.retryAfterMs, known.deferral.spreadMs], [4_900, 1_000]);
    assert.equal(local.decide(at(250), never), null);
  });

  it("never defers beyond retry-after", () => {
    const local = new Local();
    local.note({ kind: "defer", ...deferral, retryAfterMs: 100 }, at(0));
    assert.equal(local.decide(at(100), never), null);
  });

  it("asks every time where nothing may be kept", () => {
    const local = new Local();
    local.note({ kind: "proceed", ...admission, freshForMs: 0 }, at(0));
    assert.equal(local.decide(at(0), never), null);
  });

  it("acts on no probe, and asks after one", () => {
    const local = new Local();
    local.note({ kind: "proceed", ...admission }, at(0));
    local.note({ kind: "probe", permit: "4:1", token: "1", expiresInMs: 5_000, longestMs: 60_000, slowerThanMs: null }, at(1));
    assert.equal(local.decide(at(2), never), null);
  });

  it("asks again once something else was learnt", () => {
    const local = new Local();
    local.note({ kind: "proceed", ...admission }, at(0));
    local.forget();
    assert.equal(local.decide(at(1), never), null);
    local.note({ kind: "defer", ...deferral }, at(2));
    assert.equal(local.decide(at(3), never)?.kind, "defer");
  });

  it("draws during a ramp, by the percentage that it was given", () => {
    const admitted = new Local();
    admitted.note({ kind: "proceed", ...admission, percent: 40 }, at(0));
    assert.equal(admitted.decide(at(1), () => 0.399)?.kind, "proceed");
    const lost = admitted.decide(at(50), () => 0.4);
    assert.ok(lost?.kind === "defer" && lost.deferral.reason === "ramping" && lost.deferral.retryAfterMs === 200);
    const refused = new Local();
    const ramping = { ...deferral, reason: "ramping", admission: { ...admission, percent: 40 } };
    refused.note({ kind: "defer", ...ramping }, at(0));
    assert.deepEqual(refused.decide(at(1), () => 0.1), { kind: "proceed", admission: ramping.admission });
    assert.equal(refused.decide(at(1), () => 0.9)?.kind, "defer");
  });

  it("counts by permit, and hands over once", () => {
    const local = new Local();
    local.count("3", { outcome: "success" }, false);
    local.count("3", { outcome: "success" }, true);
    local.count("3", { outcome: "failure", cause: "first" }, false);
    local.count("3", { outcome: "timeout", cause: "last" }, true);
    local.count("3", { outcome: "ignored" }, true);
    local.count("4", { outcome: "success" }, false);
    const blame = { caller: undefined, cause: "last", retryAfterMs: undefined };
    const counts = { successes: 1, slowSuccesses: 1, failures: 1, slowFailures: 1, ...blame };
    assert.deepEqual(local.take(), [
      { permit: "3", tally: counts },
      { permit: "4", tally: { successes: 1, slowSuccesses: 0, failures: 0, slowFailures: 0 } },
    ]);
    assert.deepEqual(local.take(), []);
  });

  it("has one handover at a time, and not for ever one that was cut off", () => {
    const local = new Local();
    assert.equal(local.claimHandover(at(0), 250), true);
    assert.equal(local.claimHandover(at(200), 250), false);
    assert.equal(local.claimHandover(at(1_250), 250), true);
    local.handedOver();
    assert.equal(local.claimHandover(at(1_251), 250), true);
  });

  it("remembers the last answer for when the object is out of reach", () => {
    const local = new Local();
    assert.equal(local.lastKnown(at(0)), null);
    local.note({ kind: "proceed", ...admission }, at(0));
    assert.equal(local.lastKnown(at(1_000_000))?.kind, "proceed");
    local.note({ kind: "defer", ...deferral }, at(0));
    const known = local.lastKnown(at(4_000));
    assert.ok(known?.kind === "defer" && known.deferral.retryAfterMs === 1_000);
    assert.equal(local.lastKnown(at(5_000)), null);
  });
});
