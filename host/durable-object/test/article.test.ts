/** The claims of the article behind this project, over HTTP. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { CallResult, Inspection, Transition } from "@halfopen/durable-object";

import { ByHand, PLAIN } from "./support/breakers.js";
import { Dependency } from "./support/http.js";
import { Workerd } from "./support/workerd.js";

type Result = CallResult<number>;

describe("the article's five", () => {
  let workerd: Workerd;
  let dependency: Dependency;
  before(async () => {
    workerd = await Workerd.start();
    dependency = await Dependency.start();
  });
  after(async () => {
    await dependency.stop();
    await workerd?.stop();
  });

  const guarded = (name: string, work: object, call: object = {}): Promise<Result> =>
    workerd.post("guarded", { dependency: name, work, call });

  async function due(name: string, policy: object = PLAIN): Promise<ByHand> {
    const object = await ByHand.of(workerd, name, policy);
    await object.trip();
    await object.at(5_000n);
    return object;
  }

  it("five simultaneous lease requests give exactly one permission", async () => {
    await due("five");
    // The probe takes a while, so that the others meet it.
    dependency.answer = (_, response) => void setTimeout(() => response.end("ok"), 500);
    const before = dependency.requests;
    const results = await Promise.all(Array.from({ length: 5 }, () => guarded("five", { url: dependency.url })));
    assert.equal(results.filter((result) => !result.deferred && result.role === "probe").length, 1);
    assert.equal(results.filter((result) => result.deferred && result.reason === "probing").length, 4);
    assert.equal(dependency.requests - before, 1);
  });

  it("an expired lease lets a new claimant in", async () => {
    const object = await due("expired");
    await object.permit("probe", "the first");
    await object.at(7_999n);
    const early = await object.acquire("the second");
    assert.equal(early.kind === "defer" && early.retryAfterMs, 1);
    await object.at(8_000n);
    await object.permit("probe", "the second");
    const { leases } = await object.inspect();
    assert.deepEqual(leases.map(({ caller }) => caller), ["the second"]);
  });

  it("a late result of an expired lease changes nothing", async () => {
    const object = await due("late");
    const late = await object.permit("probe");
    await object.at(8_000n);
    await object.report(await object.permit("probe"), "success");
    const before = await object.inspect();
    const receipt = await object.report(late, "failure");
    assert.deepEqual([receipt.applied, receipt.stale], [false, "old-epoch"]);
    assert.deepEqual(await object.inspect(), before);
    assert.equal(before.state, "closed");
  });

  it("a caller without a lease makes no network call", async () => {
    const object = await due("deferred");
    await object.permit("probe");
    const { connections, requests } = dependency;
    for (let time = 0; time < 20; time++) {
      const result = await guarded("deferred", { url: dependency.url });
      assert.ok(result.deferred && result.retryAfterMs === 3_000, JSON.stringify(result));
    }
    assert.deepEqual([dependency.connections, dependency.requests], [connections, requests]);
  });

  it("a failed probe reopens with backoff", async () => {
    const object = await due("failed");
    dependency.answer = (_, response) => response.writeHead(500).end();
    const result = await guarded("failed", { url: dependency.url });
    assert.ok(!result.deferred && result.role === "probe" && result.value === 500);
    assert.equal(await lastReason(object), "probe-failed");
    await reopened(object, 10_000);
  });

  it("a timed-out probe reopens with backoff", async () => {
    const object = await due("timed-out");
    dependency.answer = () => {};
    await assert.rejects(guarded("timed-out", { url: dependency.url }, { timeoutMs: 100 }), { name: "CallTimedOut" });
    assert.equal(await lastReason(object), "probe-timed-out");
    await reopened(object, 10_000);
  });

  it("a lost probe reopens where the policy says so, with jitter", async () => {
    const object = await due("lost", { ...PLAIN, lost_probe: "reopen", jitter_percent: 0 });
    await object.ok("configure", { ...PLAIN, lost_probe: "reopen", jitter_percent: 50 });
    await object.permit("probe");
    await object.at(8_000n);
    const deferral = await object.acquire();
    assert.ok(deferral.kind === "defer" && deferral.reason === "open");
    assert.ok(deferral.retryAfterMs >= 10_000 && deferral.retryAfterMs <= 15_000, `${deferral.retryAfterMs}`);
  });

  async function lastReason(object: ByHand): Promise<string | undefined> {
    return (await object.ok<Transition[]>("history", 10)).at(-1)?.reason;
  }

  async function reopened(object: ByHand, length: number): Promise<void> {
    const shown: Inspection = await object.inspect();
    assert.deepEqual([shown.state, shown.level, shown.next_due], ["open", 1, 5_000 + length]);
  }
});
