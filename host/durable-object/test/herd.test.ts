import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { CallResult } from "@halfopen/durable-object";

import { ByHand, PLAIN } from "./support/breakers.js";
import { Workerd } from "./support/workerd.js";

describe("a herd", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  it("of 500 concurrent requests gets one probe, 499 deferrals and no error", async () => {
    const object = await ByHand.of(workerd, "herd", { ...PLAIN, lease_ms: 60_000 });
    await object.trip();
    await object.at(5_000n);
    const results = await Promise.all(
      Array.from({ length: 500 }, () =>
        workerd.post<CallResult<number>>("guarded", { dependency: "herd", work: { ms: 1_000 } }),
      ),
    );
    const probes = results.filter((result) => !result.deferred && result.role === "probe");
    const late = results.filter((result) => !result.deferred && result.role === "call");
    assert.equal(probes.length, 1);
    // Whoever asks after the probe has closed the breaker is admitted as usual.
    assert.equal(probes.length + late.length + results.filter(({ deferred }) => deferred).length, 500);
    assert.ok(results.filter(({ deferred }) => deferred).length > 0);
    const history = await object.ok<{ reason: string }[]>("history", 100);
    assert.deepEqual(
      history.map(({ reason }) => reason),
      ["configured", "consecutive-failures", "probe-due", "probe-succeeded"],
    );
  });

  it("whose probe is still out is deferred to the last of 500", async () => {
    const object = await ByHand.of(workerd, "silent", { ...PLAIN, lease_ms: 60_000 });
    await object.trip();
    await object.at(5_000n);
    const decisions = await Promise.all(Array.from({ length: 500 }, (_, index) => object.acquire(`caller ${index}`)));
    const count = (kind: string): number => decisions.filter((decision) => decision.kind === kind).length;
    assert.deepEqual([count("probe"), count("defer"), count("proceed")], [1, 499, 0]);
  });
});

describe("two dependencies", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  it("do not disturb each other", async () => {
    const [one, other] = await Promise.all([ByHand.of(workerd, "one"), ByHand.of(workerd, "other")]);
    await one.trip();
    assert.equal((await other.inspect()).state, "closed");
    await other.permit("proceed");
    await one.at(5_000n);
    await one.permit("probe");
    await other.trip();
    await other.raw("restart").catch(() => {});
    assert.equal((await one.inspect()).leases.length, 1);
    await one.ok("forget");
    await other.at(100n);
    assert.deepEqual([(await one.inspect()).state, (await other.inspect()).state], ["closed", "open"]);
  });

  it("do not disturb each other in one object either", async () => {
    const object = await ByHand.of(workerd, "a");
    await object.trip();
    const other = await object.raw<{ ok: boolean; value: { state: string } }>("inspect", "b");
    assert.equal(other.value.state, "closed");
  });

  it("whose names look alike are not the same, nor are namespaces", async () => {
    const pairs: [string, string][] = [
      ["a", "b:c"],
      ["a:b", "c"],
      ['a","b', "c"],
      ["a", 'b","c'],
      ["a/b", "c"],
      ["a", "b/c"],
      ["", "abc"],
      ["abc", "abc"],
    ];
    const policy = { ...PLAIN, fresh_ms: 0 };
    for (const [namespace, dependency] of pairs) {
      const inspected = await workerd.client<{ state: string }>(dependency, { namespace }, "inspect");
      assert.equal(inspected.state, "closed", `${namespace} ${dependency}`);
      await workerd.client(dependency, { namespace }, "configure", policy);
      await workerd.post("admitted", { dependency, options: { namespace }, outcome: "failure" });
      const tripped = await workerd.client<{ state: string }>(dependency, { namespace }, "inspect");
      assert.equal(tripped.state, "open", `${namespace} ${dependency}`);
    }
  });
});
