/** Random calls, delays, losses and late answers on a virtual clock, in a real workerd with the real object. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { Workerd } from "./support/workerd.js";

const RUNS = Number(process.env["HALFOPEN_MODEL_RUNS"] ?? 40);
const FIRST = Number(process.env["HALFOPEN_MODEL_SEED"] ?? 1);

interface Totals {
  successes: number;
  failures: number;
}

interface Run {
  broken: string[];
  made: Totals;
  counted: Totals;
  dropped: Totals;
  unsure: Totals;
  seen: Record<string, number>;
}

describe("a model of the client", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start({ entry: "test/worker/model.js", objects: { TEST: "TestObject" } })));
  after(() => workerd?.stop());

  it(`keeps its laws in ${RUNS} random runs`, { timeout: 200_000 }, async (context) => {
    const seen: Record<string, number> = {};
    const sums = { made: 0, counted: 0, dropped: 0, unsure: 0 };
    for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
      const run = await workerd.post<Run>("model", { seed, isolates: 3, calls: 150 });
      assert.deepEqual(run.broken, [], `seed ${seed}: ${JSON.stringify(run)}`);
      for (const [what, count] of Object.entries(run.seen)) seen[what] = (seen[what] ?? 0) + count;
      for (const key of ["made", "counted", "dropped", "unsure"] as const) sums[key] += run[key].successes + run[key].failures;
    }
    context.diagnostic(`${JSON.stringify(sums)} ${JSON.stringify(seen)}`);
    // The runs reach all that the laws speak of.
    assert.ok(sums.dropped > 0 && sums.unsure > 0, JSON.stringify(sums));
    const acquired = ["call local", "call fail-open", "call last-known", "probe object", "deferred local", "deferred fail-closed"];
    const called = ["guarded call local", "guarded call object", "guarded probe object", "CallTimedOut", "AbortError", "TypeError"];
    for (const what of [...acquired, ...called, "a batch that was counted before"]) {
      assert.ok((seen[what] ?? 0) > 0, `never seen: ${what}`);
    }
  });
});
