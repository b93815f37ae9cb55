/** Outcomes that an isolate keeps until the object has them: for how long, how many, and which are lost. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";

import { ByHand, PLAIN } from "./support/breakers.js";
import { until } from "./support/http.js";
import { Workerd } from "./support/workerd.js";
import type { Way } from "./worker/wire.js";

/** An isolate admits by its memory for ten minutes, and nothing trips. */
const COUNTING = { ...PLAIN, consecutive_failures: 0, window: { calls: 1_000 }, fresh_ms: 600_000 };

describe("outcomes that wait", () => {
  let workerd: Workerd;
  beforeEach(async () => void (workerd = await Workerd.start()));
  afterEach(() => workerd?.stop());

  const admitted = (dependency: string, outcome: string, rest: object = {}): Promise<unknown> =>
    workerd.post("admitted", { dependency, outcome, ...rest });
  const way = (dependency: string, way: Way): Promise<number> => workerd.post("way", { dependency, way });
  const counts = async (object: ByHand): Promise<[number, number]> => {
    const { calls, failures } = await object.inspect();
    return [calls, failures];
  };
  const said = (text: string): Promise<void> => until(`it is said: ${text}`, async () => workerd.log.includes(text));

  it("are kept for a minute, each by its own age", async () => {
    const object = await ByHand.of(workerd, "aged", COUNTING, null);
    await admitted("aged", "success");
    await way("aged", { lose: "call" });
    await admitted("aged", "failure");
    await workerd.post("later", 50_000);
    await admitted("aged", "failure");
    await admitted("aged", "success");
    await workerd.post("later", 11_000);
    await way("aged", {});
    await admitted("aged", "success");
    await until("the young ones have arrived", async () => (await counts(object))[0] > 0, 25_000);
    await said('1 successes and 1 failures of "aged" were dropped: too old; they were sent, and the object has not answered');
    // Of those a minute ago and before, nothing; of the others, everything.
    await until("all have arrived", async () => (await counts(object)).join() === "3,1", 25_000);
  });

  it("are bounded in number, and those that are dropped are said", async () => {
    const policy = { ...COUNTING, consecutive_failures: 1, open_ms: 1, open_max_ms: 1, fresh_ms: 0 };
    const object = await ByHand.of(workerd, "many epochs", policy, null);
    assert.equal(await workerd.post("epochs", { dependency: "many epochs", count: 40 }), 40);
    await said('1 successes and 0 failures of "many epochs" were dropped: too many wait');
    await object.raw("calls");
    await way("many epochs", {});
    const settled = async (): Promise<number> =>
      (await object.raw<string[]>("calls")).reduce((sum, call) => sum + (call.match(/"permit"/g) ?? []).length, 0);
    let arrived = 0;
    await until("the rest has arrived", async () => (arrived += await settled()) > 31, 25_000);
    const dropped = workerd.log.split("were dropped: too many wait").length - 1;
    assert.equal(arrived + dropped, 40);
  });

  it("are said to be lost where an isolate forgets their breaker", async () => {
    await ByHand.of(workerd, "crowded", COUNTING, null);
    await admitted("crowded", "success");
    await admitted("crowded", "success");
    await workerd.post("crowd", 10_000);
    await said('2 successes and 0 failures of "crowded" were dropped: the isolate has too many dependencies');
  });

  it("are not lost by one that is wrong among them", async () => {
    const object = await ByHand.of(workerd, "one wrong", COUNTING, null);
    for (let time = 0; time < 3; time++) await admitted("one wrong", "success");
    await assert.rejects(admitted("one wrong", "failure", { retryAfterMs: -1 }), { name: "TypeError" });
    await assert.rejects(admitted("one wrong", "sucess"), { name: "TypeError" });
    await admitted("one wrong", "failure", { cause: `broken \ud800 and long ${"x".repeat(100_000)}` });
    assert.deepEqual(await counts(object), [4, 1]);
    assert.match((await object.inspect()).last_failure?.cause ?? "", /^broken \ufffd and long x{100,}$/);
  });
});
