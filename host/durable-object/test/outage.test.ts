/** An object that hangs, fails, or answers too late. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { Deferred, Permit, Receipt } from "@halfopen/durable-object";

import { ByHand, PLAIN } from "./support/breakers.js";
import { sleep } from "./support/http.js";
import { Workerd } from "./support/workerd.js";
import type { Way } from "./worker/wire.js";

type Answer = (Permit & { receipt: Receipt | null }) | Deferred;

const FRESH = { ...PLAIN, consecutive_failures: 3, open_ms: 60_000, fresh_ms: 250 };

describe("an object", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  const admitted = (dependency: string, outcome: string, options: object = {}): Promise<Answer> =>
    workerd.post("admitted", { dependency, options, outcome });
  /** Sets the way to the object, and answers the number of calls that went over it since the last time. */
  const way = (dependency: string, way: Way): Promise<number> => workerd.post("way", { dependency, way });
  const on = (name: string, policy: object = FRESH): Promise<ByHand> => ByHand.of(workerd, name, policy, null);

  describe("that hangs", () => {
    for (const [choice, basis] of [
      ["fail-closed", "fail-closed"],
      ["fail-open", "fail-open"],
      ["last-known", "last-known"],
    ] as const) {
      it(`slows down one call, not each, with ${choice}`, async () => {
        const name = `hanging ${choice}`;
        await on(name);
        const options = { whenUnreachable: choice, answerWithinMs: 400, caller: "c" };
        await admitted(name, "success", options);
        await sleep(600);
        await way(name, { lose: "hang" });
        const begun = Date.now();
        const bases: string[] = [];
        for (let time = 0; time < 20; time++) bases.push((await admitted(name, "success", options)).basis);
        assert.ok(Date.now() - begun < 1_000, `${Date.now() - begun} ms for 20 calls`);
        assert.deepEqual([...new Set(bases)], [basis]);
        assert.equal(await way(name, { lose: "hang" }), 1);
      });
    }

    it("is asked again by one call at a time, less and less often", { timeout: 20_000 }, async () => {
      await on("asked");
      const options = { answerWithinMs: 300 };
      await way("asked", { lose: "hang" });
      const waits: number[] = [];
      const end = Date.now() + 5_500;
      while (Date.now() < end) {
        const answers = await Promise.all(Array.from({ length: 5 }, () => admitted("asked", "success", options)));
        waits.push(...answers.map((answer) => (answer.deferred ? answer.retryAfterMs : 0)));
        await sleep(20);
      }
      // At 0, 1.3 and 3.6 seconds; the next would come at 7.9.
      assert.equal(await way("asked", {}), 3);
      assert.ok(Math.max(...waits) > 3_500 && Math.min(...waits) >= 1_000, `${Math.min(...waits)} to ${Math.max(...waits)}`);
      assert.equal(workerd.log.split('"asked" answers fail-closed').length, 4, "each attempt is said once");
    });

    it("is used again as soon as it answers", async () => {
      const object = await on("back");
      await way("back", { lose: "hang" });
      const refused = await admitted("back", "success", { answerWithinMs: 100 });
      assert.ok(refused.deferred && refused.reason === "unreachable");
      await way("back", {});
      await sleep(1_010);
      assert.equal((await admitted("back", "success")).basis, "object");
      await workerd.client("back", {}, "inspect");
      assert.equal((await object.inspect()).state, "closed");
    });

    it("shares the wait among the calls that come meanwhile", async () => {
      await on("meanwhile");
      await way("meanwhile", { lose: "hang" });
      const begun = Date.now();
      const answers = await Promise.all(Array.from({ length: 30 }, () => admitted("meanwhile", "success", { answerWithinMs: 500 })));
      assert.ok(answers.every((answer) => answer.deferred && answer.reason === "unreachable"));
      assert.ok(Date.now() - begun < 1_200, `${Date.now() - begun} ms`);
      assert.equal(await way("meanwhile", {}), 1);
    });
  });
});
