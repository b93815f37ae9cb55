/** An object that hangs, fails, or answers too late. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { CallResult, Deferred, Permit, Receipt } from "@halfopen/durable-object";

import { ByHand, PLAIN } from "./support/breakers.js";
import { sleep, until } from "./support/http.js";
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
  const guarded = (body: object): Promise<CallResult<number>> => workerd.post("guarded", body);
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
        for (let time = 0; time < 10; time++) bases.push((await admitted(name, "success", options)).basis);
        // Each by itself would take 4,000. A machine that is busy may come to a second attempt.
        assert.ok(Date.now() - begun < 2_500, `${Date.now() - begun} ms for 10 calls`);
        assert.deepEqual([...new Set(bases)], [basis]);
        assert.ok((await way(name, { lose: "hang" })) <= 2);
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

  describe("out of reach, with last-known", () => {
    const options = { whenUnreachable: "last-known" };

    it("is as the receipt of a report said: open, and until when", async () => {
      await on("receipt", { ...FRESH, consecutive_failures: 1, open_ms: 5_000 });
      const failed = await admitted("receipt", "failure", options);
      assert.ok(!failed.deferred && failed.receipt?.state === "open");
      await way("receipt", { lose: "call" });
      const deferred = await admitted("receipt", "success", options);
      assert.ok(deferred.deferred && deferred.basis === "last-known" && deferred.reason === "open", JSON.stringify(deferred));
      assert.ok(deferred.retryAfterMs > 4_000 && deferred.retryAfterMs <= 5_000);
    });

    it("has a probe out until the probe's receipt says closed", async () => {
      const object = await on("probed", { ...FRESH, consecutive_failures: 1, open_ms: 1 });
      await object.trip();
      await sleep(5);
      const probe = workerd.post("guarded", { dependency: "probed", options, work: { ms: 500 } });
      await sleep(100);
      await way("probed", { lose: "call" });
      const meanwhile = await admitted("probed", "success", options);
      assert.ok(meanwhile.deferred && meanwhile.basis === "last-known" && meanwhile.reason === "probing");
      await way("probed", {});
      await probe;
      await way("probed", { lose: "call" });
      const known = await admitted("probed", "success", options);
      assert.ok(!known.deferred && known.basis === "last-known" && known.text === null);
    });

    it("admits the share of a ramp", async () => {
      const ramp = { over_ms: 60_000, from_percent: 50 };
      const object = await on("ramp", { ...FRESH, consecutive_failures: 1, open_ms: 1, fresh_ms: 1, ramp });
      await object.trip();
      await sleep(5);
      await workerd.post("guarded", { dependency: "ramp", options, work: {} });
      await admitted("ramp", "success", options);
      await way("ramp", { lose: "call" });
      const answers = [];
      for (let time = 0; time < 100; time++) answers.push(await admitted("ramp", "success", options));
      const admissions = answers.filter(({ deferred, basis }) => !deferred && basis === "last-known").length;
      for (const answer of answers) assert.ok(!answer.deferred || answer.retryAfterMs > 100, JSON.stringify(answer));
      assert.ok(admissions > 25 && admissions < 75, `${admissions} of 100 were admitted at 50 percent`);
    });
  });

  describe("that fails", () => {
    const FAULTS: [name: string, code: string, spoil: (object: ByHand) => Promise<unknown>][] = [
      ["a damaged record", "storage", (object) => object.raw("sql", "UPDATE halfopen_record SET data = x'00'")],
      ["a record of a later release", "newer-version", (object) => object.newer()],
      ["tables of a later release", "storage", (object) => object.raw("sql", "UPDATE halfopen_schema SET version = 99")],
      ["a component that traps", "component", (object) => object.raw("setUp", { misdeed: "trap" })],
      ["a policy that is not valid", "invalid-policy", (object) => object.raw("setUp", { policy: { open_ms: 0 } })],
    ];
    for (const [name, code, spoil] of FAULTS) {
      it(`lets calls through with fail-open, and says so: ${name}`, async () => {
        const object = await on(name);
        await spoil(object);
        if (code !== "component" && code !== "invalid-policy") await object.raw("restart").catch(() => {});
        const open = await admitted(name, "failure", { whenUnreachable: "fail-open" });
        assert.ok(!open.deferred && open.basis === "fail-open" && open.text === null, JSON.stringify(open));
        const closed = await admitted(name, "failure");
        assert.ok(closed.deferred && closed.basis === "fail-closed" && closed.fault?.code === code, JSON.stringify(closed));
        assert.ok(workerd.log.includes(`halfopen: ${JSON.stringify(name)} answers fail-open: `));
      });
    }

    it("does not let a caller's own mistake through", async () => {
      for (const [dependency, options] of [["x".repeat(257), {}], ["a\nb", {}], ["fine", { caller: "x".repeat(129) }]] as const) {
        const asked = admitted(dependency, "success", { ...options, whenUnreachable: "fail-open" });
        await assert.rejects(asked, { name: "BreakerError" });
      }
    });
  });

  describe("that answers late", () => {
    it("does not undo what the isolate has learnt meanwhile", async () => {
      const object = await on("late", { ...FRESH, consecutive_failures: 1, fresh_ms: 60_000 });
      // A permit is out; the answer to a second question is still on its way when the first call trips the breaker.
      const failing = guarded({ dependency: "late", work: { ms: 1_000, status: 500 } });
      await until("the first was asked", async () => (await object.raw<string[]>("calls")).includes("acquire"));
      await way("late", { afterMs: 2_000 });
      const late = guarded({ dependency: "late", options: { localAdmission: false, answerWithinMs: 10_000 }, work: { ms: 1_500 } });
      await until("the second was asked", async () => (await object.raw<string[]>("calls")).includes("acquire"));
      await way("late", {});
      const result = await failing;
      assert.ok(!result.deferred && result.receipt?.state === "open");
      assert.equal((await admitted("late", "success")).deferred, true);
      // The late answer has arrived by now, and its call still runs.
      await sleep(1_500);
      for (let time = 0; time < 3; time++) assert.equal((await admitted("late", "success")).deferred, true);
      assert.equal((await late).deferred, false, "it counts for its own call");
    });
  });

  describe("that loses calls and answers", () => {
    const COUNTING = { ...FRESH, consecutive_failures: 0, failure_rate: null, window: { calls: 1_000 } };
    const counts = async (object: ByHand): Promise<[number, number]> => {
      const { calls, failures } = await object.inspect();
      return [calls, failures];
    };

    for (const lose of ["call", "answer"] as const) {
      it(`counts every outcome once: each ${lose} is lost for a while`, { timeout: 30_000 }, async () => {
        const object = await on(`counted ${lose}`, COUNTING);
        for (let time = 0; time < 10; time++) await admitted(object.dependency, "success");
        await way(object.dependency, { lose });
        for (let time = 0; time < 5; time++) await admitted(object.dependency, "failure");
        await sleep(400);
        const lost = await way(object.dependency, {});
        assert.ok(lost >= 1, "something was lost");
        await until("all are counted", async () => (await counts(object))[0] >= 15);
        await sleep(500);
        assert.deepEqual(await counts(object), [15, 5]);
      });
    }

    it("counts outcomes once, though the object was ended meanwhile", async () => {
      const object = await on("ended", COUNTING);
      for (let time = 0; time < 10; time++) await admitted("ended", "success");
      await way("ended", { lose: "answer" });
      await admitted("ended", "failure");
      assert.deepEqual(await counts(object), [11, 1], "they have arrived");
      await object.raw("restart").catch(() => {});
      await way("ended", {});
      await sleep(1_300);
      await admitted("ended", "success");
      await until("the rest is counted", async () => (await counts(object))[0] >= 12);
      await sleep(300);
      assert.deepEqual(await counts(object), [12, 1]);
    });
  });
});
