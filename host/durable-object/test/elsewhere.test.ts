/** A breaker in another Worker, and the oldest runtime that the README names. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { CallResult, Inspection } from "@halfopen/durable-object";

import { type Options, Workerd } from "./support/workerd.js";

async function works(options: Options): Promise<void> {
  const workerd = await Workerd.start(options);
  try {
    const guarded = (status: number): Promise<CallResult<number>> =>
      workerd.post("guarded", { dependency: "far", options: { caller: "elsewhere" }, work: { status } });
    assert.equal((await guarded(200)).deferred, false);
    for (let time = 0; time < 5; time++) await guarded(500);
    const deferred = await guarded(200);
    assert.ok(deferred.deferred && deferred.reason === "open", JSON.stringify(deferred));
    const inspection = await workerd.client<Inspection>("far", {}, "inspect");
    assert.deepEqual([inspection.state, inspection.last_failure?.caller], ["open", "elsewhere"]);
  } finally {
    await workerd.stop();
  }
}

describe("a breaker", () => {
  it("can be called from another Worker, by its script's name", () => works({ elsewhere: true }));

  it("works with the oldest compatibility date of the README", () => works({ date: "2024-04-03" }));
});
