/** A client that leaves while its call runs: the outcome is reported all the same. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { Transition } from "@halfopen/durable-object";

import { ByHand, PLAIN } from "./support/breakers.js";
import { Dependency, sleep, until } from "./support/http.js";
import { Workerd } from "./support/workerd.js";

/** The real clock, and windows that a test can wait for. */
const QUICK = { ...PLAIN, open_ms: 300, open_max_ms: 300 };

describe("a client that disconnects", () => {
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

  const reasons = async (object: ByHand): Promise<string[]> =>
    (await object.ok<Transition[]>("history", 100)).map(({ reason }) => reason);
  const state = async (object: ByHand): Promise<string> => (await object.inspect()).state;

  it("still counts the timeout of a dependency that hangs", async () => {
    const object = await ByHand.of(workerd, "hanging", { ...PLAIN, consecutive_failures: 10, open_ms: 60_000 }, null);
    dependency.answer = () => {};
    const body = { dependency: "hanging", work: { url: dependency.url }, call: { timeoutMs: 800 } };
    await Promise.all(Array.from({ length: 10 }, () => workerd.leave("guarded", body, 250)));
    assert.equal(await state(object), "closed");
    await until("it is open", async () => (await state(object)) === "open");
    assert.equal((await object.inspect()).last_failure?.cause, "the call took longer than 800 ms");
  });

  it("still settles its probe, long before the lease ends", async () => {
    const object = await ByHand.of(workerd, "probing", { ...QUICK, lease_ms: 60_000 }, null);
    dependency.answer = (_, response) => void setTimeout(() => response.end("ok"), 700);
    await object.trip();
    await sleep(310);
    await workerd.leave("guarded", { dependency: "probing", work: { url: dependency.url } }, 300);
    assert.equal((await object.inspect()).leases.length, 1);
    await until("it is closed", async () => (await state(object)) === "closed", 3_000);
    assert.deepEqual((await reasons(object)).slice(-2), ["probe-due", "probe-succeeded"]);
  });

  it("lets the breaker close, though every client leaves early", async () => {
    const object = await ByHand.of(workerd, "impatient", { ...QUICK, lease_ms: 2_000 }, null);
    dependency.answer = (_, response) => void setTimeout(() => response.end("ok"), 700);
    await object.trip();
    const body = { dependency: "impatient", work: { url: dependency.url } };
    let closed = false;
    for (let time = 0; time < 6 && !closed; time++) {
      await workerd.leave("guarded", body, 500);
      closed = (await state(object)) === "closed";
    }
    assert.ok(closed, `${await state(object)}: ${(await reasons(object)).join(", ")}`);
    assert.ok(!(await reasons(object)).includes("probe-lost"));
  });

  it("still reports under a permit that the Worker acquired itself", async () => {
    const object = await ByHand.of(workerd, "acquired", { ...QUICK, lease_ms: 60_000 }, null);
    await object.trip();
    await sleep(310);
    await workerd.leave("held", { dependency: "acquired", ms: 700 }, 300);
    await until("it is closed", async () => (await state(object)) === "closed", 3_000);
  });

  it("does not wait for a hang without end", { timeout: 60_000 }, async () => {
    const object = await ByHand.of(workerd, "limited", { ...PLAIN, open_ms: 60_000 }, null);
    dependency.answer = () => {};
    const begun = Date.now();
    await workerd.leave("guarded", { dependency: "limited", work: { url: dependency.url } }, 250);
    await until("it is open", async () => (await state(object)) === "open", 28_000);
    assert.ok(Date.now() - begun > 24_000);
    assert.equal((await object.inspect()).last_failure?.cause, "the call took longer than 25000 ms");
  });

  it("leaves a probe that hangs a limit within its longest lease", async () => {
    const object = await ByHand.of(workerd, "longest", { ...QUICK, open_ms: 1, lease_ms: 500, probe_max_ms: 1_000 }, null);
    await object.trip();
    await sleep(5);
    await workerd.leave("guarded", { dependency: "longest", work: { url: dependency.url } }, 250);
    await until("it has timed out", async () => (await reasons(object)).includes("probe-timed-out"), 3_000);
  });
});
