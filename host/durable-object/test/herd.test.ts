import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { CallResult } from "@halfopen/durable-object";

import { ByHand, PLAIN } from "./support/breakers.js";
import { sleep, until } from "./support/http.js";
import { Workerd } from "./support/workerd.js";
import type { Way } from "./worker/wire.js";

describe("a herd", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  it("of 500 requests gets one probe, deferrals and no error", async () => {
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

describe("calls that overlap", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  const FRESH = { ...PLAIN, consecutive_failures: 0, fresh_ms: 250 };
  /** Sets the way to the object, and answers the number of calls that went over it since the last time. */
  const way = (dependency: string, way: Way): Promise<number> => workerd.post("way", { dependency, way });
  const many = (dependency: string, count: number, ms: number, failing = 0): Promise<Record<string, number>> =>
    workerd.post("many", { dependency, count, ms, failing });
  const asked = async (object: ByHand): Promise<string[]> =>
    (await object.raw<string[]>("calls")).map((call) => call.split(" ")[0] ?? "");

  async function known(name: string, way_: Way = { beforeMs: 25, afterMs: 25 }): Promise<ByHand> {
    const object = await ByHand.of(workerd, name, FRESH, null);
    await way(name, way_);
    await many(name, 1, 0);
    return object;
  }

  it("share one question in one request", async () => {
    const object = await known("one request");
    for (let time = 0; time < 3; time++) {
      await sleep(600);
      await object.raw("calls");
      const begun = performance.now();
      const bases = await many("one request", 1_000, 50);
      assert.equal(Object.values(bases).reduce((sum, count) => sum + count), 1_000);
      const calls = await asked(object);
      // A machine that is busy may take so long that the decision ends meanwhile.
      assert.ok(calls.length <= 3 * Math.ceil((performance.now() - begun) / 250), calls.join(", "));
    }
  });

  it("share one question in many requests", async (context) => {
    const object = await known("many requests");
    await sleep(600);
    await object.raw("calls");
    const begun = performance.now();
    await Promise.all(Array.from({ length: 1_000 }, () => many("many requests", 1, 300)));
    const calls = await asked(object);
    const decisions = Math.ceil((performance.now() - begun) / 250);
    context.diagnostic(`1,000 requests: ${calls.length} calls of the object in ${decisions} times 250 ms`);
    assert.ok(calls.length <= 3 * decisions, calls.join(", "));
  });

  it("share the report of failures that come together", async () => {
    const object = await known("failures");
    await many("failures", 1, 0);
    await object.raw("calls");
    await many("failures", 300, 20, 300);
    const calls = await asked(object);
    assert.ok(calls.filter((call) => call === "settle").length <= 2, calls.join(", "));
    assert.equal((await object.inspect()).failures, 300);
  });

  for (const failing of [0, 1, 10]) {
    it(`ask at most 3 times in 250 ms at 600/s, ${failing} % failing`, { timeout: 30_000 }, async (context) => {
      const name = `steady ${failing}`;
      const object = await known(name);
      const [batches, each] = [60, 10];
      let sent = 0;
      const pump = async (seconds: number): Promise<void> => {
        const pending: Promise<unknown>[] = [];
        for (let batch = 0; batch < batches * seconds; batch++) {
          const fails = Math.floor(((sent + each) * failing) / 100) - Math.floor((sent * failing) / 100);
          sent += each;
          pending.push(many(name, each, 20, fails));
          await sleep(begun + (sent / each) * (1_000 / batches) - performance.now());
        }
        await Promise.all(pending);
      };
      const begun = performance.now();
      await pump(1);
      await object.raw("calls");
      const from = performance.now();
      await pump(4);
      const calls = await asked(object);
      const seconds = (performance.now() - from) / 1_000;
      const each_ = calls.length / (seconds * 4);
      context.diagnostic(`${((sent - 600) / seconds).toFixed(0)} calls a second: ${each_.toFixed(2)} calls of the object each 250 ms`);
      assert.ok(each_ <= 3, `${each_} calls of the object: ${calls.join(", ")}`);
      await until("all are counted", async () => (await object.inspect()).calls >= sent);
      assert.equal((await object.inspect()).calls, sent + 1);
    });
  }
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
