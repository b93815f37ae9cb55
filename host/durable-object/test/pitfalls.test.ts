/** Pitfalls: breakers in global scope, errors without a text, calls in calls, callers of other patience, misspelt options. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { ByHand, PLAIN } from "./support/breakers.js";
import { sleep } from "./support/http.js";
import { Workerd } from "./support/workerd.js";

describe("a breaker", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());
  const fresh = (name: string, ms: number): Promise<ByHand> =>
    ByHand.of(workerd, name, { ...PLAIN, consecutive_failures: 10, fresh_ms: ms }, null);

  it("may be made in global scope, and serves many requests", async () => {
    for (let time = 0; time < 2; time++) assert.equal((await workerd.post<{ value: string }>("global", null)).value, "made");
  });

  it("counts an error whose text cannot be had, and throws it on", async () => {
    const object = await fresh("textless", 250);
    assert.deepEqual(await workerd.post("textless", "textless"), [true, true, true]);
    assert.equal((await object.inspect()).failures, 3);
  });

  it("lets the classifier judge the time limit of a call within the call", async () => {
    const outer = await fresh("outer", 250);
    assert.deepEqual(await workerd.post("nested", ["outer", "inner"]), ["CallTimedOut"]);
    assert.equal((await outer.inspect()).failures, 0);
  });

  it("has its own time to be answered, whichever callers wait", async () => {
    await fresh("impatient", 250);
    await workerd.post("admitted", { dependency: "impatient", outcome: "success" });
    await sleep(900);
    await workerd.post("way", { dependency: "impatient", way: { lose: "hang" } });
    const { basis, took } = await workerd.post<{ basis: string; took: number }>("impatient", "impatient");
    assert.equal(basis, "fail-open");
    assert.ok(took < 1_500, `${took} ms`);
  });

  it("reaches an object that is too slow for another client", async () => {
    await fresh("slow", 0);
    await workerd.post("way", { dependency: "slow", way: { beforeMs: 300 } });
    const basis = async (answerWithinMs: number): Promise<string> => {
      const body = { dependency: "slow", outcome: "success", options: { answerWithinMs } };
      return (await workerd.post<{ basis: string }>("admitted", body)).basis;
    };
    for (let time = 0; time < 3; time++) assert.deepEqual([await basis(50), await basis(5_000)], ["fail-closed", "object"]);
    await workerd.post("way", { dependency: "slow", way: {} });
  });

  it("that is used is not forgotten for names that are not", async () => {
    const name = "busy";
    await fresh(name, 60_000);
    await workerd.post("admitted", { dependency: name, outcome: "success" });
    await workerd.post("busy", { dependency: name, count: 10_001 });
    const { basis } = await workerd.post<{ basis: string }>("admitted", { dependency: name, outcome: "success" });
    assert.equal(basis, "local");
  });

  it("refuses a misspelt option of an act, and a name too long to be sent", async () => {
    const object = await fresh("acts", 0);
    const invalid = { fault: { code: "invalid-argument" } };
    const refused = (method: string, ...args: unknown[]): Promise<void> =>
      assert.rejects(workerd.client("acts", {}, method, ...args), ({ fault }: typeof invalid) => fault.code === "invalid-argument");
    await refused("force", "open", { lastingMS: 5 });
    await refused("force", "open", null);
    await refused("reset", { By: "ann" });
    await refused("configure", {}, "ann");
    assert.equal((await object.inspect()).state, "closed");
    const long = workerd.client("x".repeat(5_000), { whenUnreachable: "fail-open" }, "acquire");
    await assert.rejects(long, ({ fault }: typeof invalid) => fault.code === "invalid-dependency");
  });
});
