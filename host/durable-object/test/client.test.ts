import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { CallResult, Deferred, Permit, PolicyInForce, Receipt, Transition } from "@halfopen/durable-object";

import { ByHand, PLAIN } from "./support/breakers.js";
import { sleep, until } from "./support/http.js";
import { RemoteError, Workerd } from "./support/workerd.js";

type Result = CallResult<number>;
type Answer = (Permit & { receipt: Receipt | null }) | Deferred;

const FRESH = { ...PLAIN, consecutive_failures: 3, fresh_ms: 60_000 };

describe("the client", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  const admitted = (dependency: string, outcome: string, options: object = {}, ...[tookMs, cause, retryAfterMs]: [tookMs?: number | undefined, cause?: string, retryAfterMs?: number]): Promise<Answer> =>
    workerd.post("admitted", { dependency, options, outcome, tookMs, cause, retryAfterMs });
  const guarded = (dependency: string, work: object | string, call: object = {}, options: object = {}): Promise<Result> =>
    workerd.post("guarded", { dependency, work, call, options });

  /** On the real clock, with what the object was asked so far forgotten. */
  async function real(dependency: string, policy: object): Promise<ByHand> {
    const object = await ByHand.of(workerd, dependency, policy, null);
    await object.raw("calls");
    return object;
  }

  describe("local admission", () => {
    it("does not call the object for healthy traffic", async () => {
      const object = await real("healthy", FRESH);
      const answers = [];
      for (let time = 0; time < 50; time++) answers.push(await admitted("healthy", "success"));
      assert.deepEqual(
        answers.map((answer) => answer.basis),
        ["object", ...Array.from({ length: 49 }, () => "local")],
      );
      assert.deepEqual(await object.raw("calls"), ["acquire"]);
    });

    it("reports a failure at once, with the successes before it", async () => {
      const object = await real("failing", FRESH);
      for (let time = 0; time < 4; time++) await admitted("failing", "success");
      const failed = await admitted("failing", "failure", {}, undefined, "HTTP 500");
      assert.ok(!failed.deferred && failed.receipt?.applied === true);
      assert.deepEqual(await object.raw("calls"), [
        "acquire",
        'settle [{"permit":"0","tally":{"successes":4,"slowSuccesses":0,"failures":1,"slowFailures":0,"caller":"worker","cause":"HTTP 500"}}]',
      ]);
      const { calls, failures, failures_in_row, last_failure } = await object.inspect();
      assert.deepEqual([calls, failures, failures_in_row], [5, 1, 1]);
      assert.deepEqual([last_failure?.caller, last_failure?.cause], ["worker", "HTTP 500"]);
    });

    it("acts at once on what it learns", async () => {
      const object = await real("learning", { ...FRESH, open_ms: 60_000 });
      for (let time = 0; time < 3; time++) await admitted("learning", "failure");
      const deferred = await admitted("learning", "success");
      assert.ok(deferred.deferred && deferred.reason === "open" && deferred.basis === "object");
      const again = await admitted("learning", "success");
      assert.ok(again.deferred && again.basis === "local" && again.retryAfterMs <= deferred.retryAfterMs);
      await workerd.client("learning", {}, "reset");
      assert.equal((await admitted("learning", "success")).deferred, false);
      await workerd.client("learning", {}, "force", "open");
      const forced = await admitted("learning", "success");
      assert.ok(forced.deferred && forced.reason === "forced-open");
      assert.equal((await object.inspect()).override?.mode, "open");
    });

    it("hands successes over when the decision ends, without a call", async () => {
      const object = await real("handover", { ...FRESH, fresh_ms: 300 });
      for (let time = 0; time < 5; time++) await admitted("handover", "success");
      await until("the successes have arrived", async () => (await object.inspect()).calls === 5);
      assert.deepEqual(await object.raw("calls"), [
        "acquire",
        'settle [{"permit":"0","tally":{"successes":5,"slowSuccesses":0,"failures":0,"slowFailures":0}}]',
      ]);
    });

    it("hands them over together with the next question", async () => {
      const object = await real("together", { ...FRESH, fresh_ms: 2_000 });
      await admitted("together", "success");
      // What the isolate learns here ends its look.
      await workerd.client("together", {}, "configure", { ...FRESH, fresh_ms: 1_999 });
      await admitted("together", "success");
      assert.deepEqual(await object.raw("calls"), [
        "acquire",
        'settleAndAcquire [{"permit":"0","tally":{"successes":1,"slowSuccesses":0,"failures":0,"slowFailures":0}}]',
      ]);
    });

    it("asks every time with fresh_ms 0, and without local admission", async () => {
      const object = await real("never", { ...FRESH, fresh_ms: 0 });
      for (let time = 0; time < 3; time++) await admitted("never", "success");
      const strict = ["acquire", 'settle [{"permit":"0","tally":{"successes":1,"slowSuccesses":0,"failures":0,"slowFailures":0}}]'];
      assert.deepEqual(await object.raw("calls"), [...strict, ...strict, ...strict]);
      const off = await real("off", FRESH);
      for (let time = 0; time < 2; time++) await admitted("off", "success", { localAdmission: false });
      assert.deepEqual(await off.raw("calls"), [...strict, ...strict]);
    });

    it("counts retry-after down, whatever the reason", async () => {
      const ramp = { over_ms: 60_000, from_percent: 0 };
      const policy = { ...FRESH, consecutive_failures: 1, open_ms: 60_000, open_max_ms: 60_000, lease_ms: 60_000, ramp };
      const reached: Record<string, (object: ByHand) => Promise<unknown>> = {
        open: (object) => object.trip(),
        probing: async (object) => {
          await object.ok("configure", { ...policy, open_ms: 1 });
          await object.trip();
          await sleep(10);
          await object.permit("probe");
        },
        "forced-open": (object) => object.ok("force", "open", 50_000),
        ramping: async (object) => {
          await object.ok("configure", { ...policy, open_ms: 1 });
          await object.trip();
          await sleep(10);
          await object.report(await object.permit("probe"), "success");
        },
      };
      for (const [reason, reach] of Object.entries(reached)) {
        const object = await real(`counting ${reason}`, policy);
        await reach(object);
        const first = await admitted(object.dependency, "success");
        await sleep(300);
        const second = await admitted(object.dependency, "success");
        assert.ok(first.deferred && second.deferred, JSON.stringify([first, second]));
        assert.deepEqual([first.reason, first.basis, second.reason, second.basis], [reason, "object", reason, "local"]);
        assert.ok(second.retryAfterMs <= first.retryAfterMs - 300, `${reason}: ${first.retryAfterMs}, then ${second.retryAfterMs}`);
      }
    });

    it("tells slow calls", async () => {
      const slow_calls = { slower_than_ms: 100, percent: 100, minimum_calls: 100 };
      const object = await real("slow", { ...FRESH, slow_calls });
      await admitted("slow", "success", {}, 99);
      await admitted("slow", "success", {}, 100);
      await admitted("slow", "failure", {}, 500);
      assert.equal((await object.inspect()).slow, 2);
    });

    it("does not count what was ignored", async () => {
      const object = await real("ignored", FRESH);
      await admitted("ignored", "ignored");
      assert.deepEqual(await object.raw("calls"), ["acquire"]);
    });
  });

  describe("a call", () => {
    it("returns what the work returns, and its failures count", async () => {
      const object = await real("call", { ...FRESH, consecutive_failures: 100 });
      const done = await guarded("call", {});
      assert.ok(!done.deferred && done.value === 200 && done.role === "call");
      await guarded("call", { status: 404 });
      assert.equal((await object.inspect()).failures, 0);
      await guarded("call", { status: 500 });
      await assert.rejects(guarded("call", { throws: "TypeError" }), { name: "TypeError" });
      await assert.rejects(guarded("call", { throws: "TimeoutError" }), { name: "TimeoutError" });
      const { failures, calls } = await object.inspect();
      assert.deepEqual([failures, calls], [3, 5]);
    });

    it("is cut off by its time limit, which counts as a timeout", async () => {
      const object = await real("limit", { ...FRESH, consecutive_failures: 100 });
      await assert.rejects(guarded("limit", { ms: 60_000 }, { timeoutMs: 50 }), {
        name: "CallTimedOut",
        message: "the call took longer than 50 ms",
      });
      assert.equal((await object.inspect()).failures, 1);
    });

    it("that is cancelled says nothing", async () => {
      const object = await real("cancelled", { ...FRESH, consecutive_failures: 100 });
      await assert.rejects(guarded("cancelled", { ms: 60_000 }, { cancelAfterMs: 50 }), { name: "AbortError" });
      assert.equal((await object.inspect()).calls, 0);
    });

    it("that is cancelled ends at once, and gives a probe back", async () => {
      const object = await real("deaf", { ...PLAIN, open_ms: 1, lease_ms: 300 });
      await object.trip();
      await sleep(5);
      await object.raw("calls");
      const begun = Date.now();
      await assert.rejects(guarded("deaf", { ms: 1_500, deaf: true }, { cancelAfterMs: 150 }), { name: "AbortError" });
      assert.ok(Date.now() - begun < 600, `${Date.now() - begun} ms`);
      await until("the lease is back", async () => (await object.inspect()).leases.length === 0);
      assert.equal((await object.inspect()).state, "half-open");
      await object.raw("calls");
      await sleep(500);
      assert.deepEqual(await object.raw("calls"), [], "nothing is renewed any more");
    });

    it("that is cancelled by a time limit counts as a timeout", async () => {
      const object = await real("limited", { ...FRESH, consecutive_failures: 100 });
      const call = guarded("limited", { ms: 60_000, deaf: true }, { cancelAfterMs: 50, reason: "TimeoutError" });
      await assert.rejects(call, { name: "TimeoutError" });
      await until("it is counted", async () => (await object.inspect()).failures === 1);
      assert.equal((await object.inspect()).last_failure?.cause, "TimeoutError: cancelled");
    });

    it("that is cancelled before it begins is not made", async () => {
      const object = await real("early", { ...PLAIN, open_ms: 1, lease_ms: 60_000 });
      await object.trip();
      await sleep(5);
      await object.raw("calls");
      await assert.rejects(guarded("early", {}, { cancelAfterMs: 0 }), { name: "AbortError" });
      assert.deepEqual(await object.raw("calls"), []);
      await workerd.post("way", { dependency: "early", way: { afterMs: 400 } });
      const begun = Date.now();
      await assert.rejects(guarded("early", {}, { cancelAfterMs: 50 }), { name: "AbortError" });
      assert.ok(Date.now() - begun < 350, `${Date.now() - begun} ms`);
      await workerd.post("way", { dependency: "early", way: {} });
      await until("the probe is given back", async () => (await object.raw<string[]>("calls")).includes("report ignored"));
      assert.equal((await object.inspect()).leases.length, 0);
    });

    it("is judged by a classifier; one that throws gives it back", async () => {
      const object = await real("classified", PLAIN);
      await guarded("classified", { status: 500 }, { classify: "ignored" });
      assert.equal((await object.inspect()).state, "closed");
      await object.at(0n);
      await object.trip();
      await object.at(5_000n);
      await assert.rejects(guarded("classified", {}, { classify: "throws" }), { name: "RangeError" });
      const { state, leases } = await object.inspect();
      assert.deepEqual([state, leases.length], ["half-open", 0]);
    });

    it("with a mistake is a TypeError, and nothing is counted", async () => {
      const object = await real("mistakes", FRESH);
      const reports = ["sucess", undefined, null, 5, {}, { outcome: "ok" }, { outcome: "failure", cause: 5 }, { outcome: "failure", retryAfterMs: -1 }, { outcome: "failure", tookMs: Number.NaN }, { outcome: "failure", why: "x" }];
      const errors = await workerd.post<string[]>("mistaken", { dependency: "mistakes", reports });
      assert.equal(errors.length, reports.length, errors.join("\n"));
      for (const error of errors) assert.match(error, /^TypeError: a report is "success", "failure", "timeout" or "ignored", or \{/);
      for (const classify of ["sucess", "nothing", 5, {}, { outcome: "failure", retryAfterMs: -1 }]) {
        for (const work of [{}, { throws: "Error" }]) {
          await assert.rejects(guarded("mistakes", work, { classify }), { name: "TypeError", message: /a report is "success"/ });
        }
      }
      await assert.rejects(guarded("mistakes", "a promise"), { name: "TypeError", message: /the work must be a function, as in call\(/ });
      assert.deepEqual([await object.raw("calls"), (await object.inspect()).calls], [["acquire"], 0]);
    });

    it("with a mistake gives its probe back", async () => {
      const object = await real("probing mistake", { ...PLAIN, open_ms: 1, lease_ms: 60_000 });
      await object.trip();
      await sleep(5);
      await assert.rejects(guarded("probing mistake", {}, { classify: "sucess" }), { name: "TypeError" });
      const { state, leases } = await object.inspect();
      assert.deepEqual([state, leases.length], ["half-open", 0]);
    });

    it("names the status or the error as the cause, and the caller", async () => {
      const object = await real("causes", { ...FRESH, consecutive_failures: 100 });
      const cause = async (body: object): Promise<unknown> => {
        await workerd.post("guarded", { dependency: "causes", options: { caller: "checkout" }, ...body }).catch(() => {});
        const { last_failure } = await object.inspect();
        assert.equal(last_failure?.caller, "checkout");
        return last_failure?.cause;
      };
      assert.equal(await cause({ work: { status: 503 } }), "HTTP 503");
      assert.equal(await cause({ work: { throws: "TypeError" } }), "TypeError: TypeError");
      assert.equal(await cause({ work: { status: 429 }, call: { classify: "failure" } }), "HTTP 429");
      assert.equal(await cause({ work: {}, call: { classify: { outcome: "failure", cause: "half of \ud800" } } }), "half of \ufffd");
      assert.equal(await cause({ work: { throws: "secret" }, redact: "a failure" }), "a failure");
      assert.equal(await cause({ work: { throws: "secret" }, redact: "" }), "");
      assert.equal(await cause({ work: { status: 502 } }), "HTTP 502");
      assert.equal(await cause({ work: { throws: "secret" }, redact: "throws" }), "", "never the cause itself");
      assert.match(workerd.log, /redact failed, so a cause is left out: Error/);
      assert.doesNotMatch(workerd.log, /the redactor failed/, "its message may hold the cause");
      assert.equal((await object.inspect()).failures, 8);
    });

    it("passes Retry-After of a 429 or a 503 on", async () => {
      for (const [status, call] of [[503, {}], [429, { classify: "failure" }], [429, { classify: { outcome: "failure", cause: "busy" } }]] as const) {
        const object = await ByHand.of(workerd, `asks ${status} ${JSON.stringify(call)}`, PLAIN, 0n);
        const result = await guarded(object.dependency, { status, retryAfter: "30" }, call);
        assert.ok(!result.deferred && result.receipt?.nextDue === 30_000, JSON.stringify(result));
      }
      const probed = await ByHand.of(workerd, "asks again", PLAIN, 0n);
      await probed.trip();
      await probed.at(5_000n);
      const result = await guarded("asks again", { status: 503, retryAfter: "60" });
      assert.ok(!result.deferred && result.role === "probe" && result.receipt?.nextDue === 65_000, JSON.stringify(result));
    });

    it("that is cancelled while it reports is over, with its value", async () => {
      const object = await real("reporting", { ...FRESH, consecutive_failures: 100 });
      await guarded("reporting", {});
      await workerd.post("way", { dependency: "reporting", way: { beforeMs: 1_500 } });
      const begun = Date.now();
      const result = await guarded("reporting", { status: 500 }, { cancelAfterMs: 100 });
      assert.ok(Date.now() - begun < 1_000, `${Date.now() - begun} ms`);
      assert.ok(!result.deferred && result.value === 500 && result.receipt === null);
      assert.equal((await object.inspect()).failures, 0);
      await until("it is counted", async () => (await object.inspect()).failures === 1);
      const failing = Date.now();
      await assert.rejects(guarded("reporting", { throws: "RangeError" }, { cancelAfterMs: 100 }), { name: "RangeError" });
      assert.ok(Date.now() - failing < 1_000, `${Date.now() - failing} ms`);
      await until("it is counted", async () => (await object.inspect()).failures === 2);
      await workerd.post("way", { dependency: "reporting", way: {} });
    });

    it("renews the lease of a probe at a third of it", async () => {
      const object = await real("renewing", { ...PLAIN, open_ms: 1, lease_ms: 600 });
      await object.trip();
      await sleep(5);
      await object.raw("calls");
      const result = await guarded("renewing", { ms: 1_500 });
      assert.ok(!result.deferred && result.role === "probe");
      assert.deepEqual([result.receipt?.applied, result.receipt?.state], [true, "closed"]);
      const calls = await object.raw<string[]>("calls");
      const renewals = calls.filter((call) => call === "renew").length;
      assert.ok(renewals >= 3, `${renewals} renewals`);
      assert.equal(calls.at(-1), "report success");
    });

    it("whose lease is lost has a stale report, and its value", async () => {
      const object = await real("lost", { ...PLAIN, open_ms: 1 });
      await object.trip();
      await sleep(5);
      const call = guarded("lost", { ms: 400 });
      await until("the lease is out", async () => (await object.inspect()).leases.length === 1);
      await object.ok("reset");
      const result = await call;
      assert.ok(!result.deferred && result.value === 200);
      assert.deepEqual([result.receipt?.applied, result.receipt?.stale], [false, "old-epoch"]);
    });
  });

  describe("an object out of reach", () => {
    /** The first wait of an outage. */
    const outageOver = (): Promise<void> => sleep(1_010);

    it("defers by default, and says why", async () => {
      const object = await real("broken", FRESH);
      await object.raw("setUp", { broken: true });
      const answer = await admitted("broken", "success");
      assert.ok(answer.deferred && answer.reason === "unreachable" && answer.basis === "fail-closed");
      assert.equal(answer.fault?.code, "unreachable");
      assert.match(answer.fault?.message ?? "", /broken by a test/);
    });

    it("admits unrecorded with fail-open", async () => {
      const object = await real("open-on-error", FRESH);
      await object.raw("setUp", { broken: true });
      const answer = await admitted("open-on-error", "failure", { whenUnreachable: "fail-open" });
      assert.ok(!answer.deferred && answer.basis === "fail-open" && answer.text === null && answer.receipt === null);
      assert.equal((await object.inspect()).calls, 0);
    });

    it("does as it was last told with last-known", async () => {
      const options = { whenUnreachable: "last-known", localAdmission: false };
      const object = await real("last-known", { ...FRESH, open_ms: 60_000 });
      const set = (broken: boolean): Promise<void> => object.raw("setUp", { broken });
      await set(true);
      const unknown = await admitted("last-known", "success", options);
      assert.ok(unknown.deferred && unknown.basis === "fail-closed");
      await set(false);
      await outageOver();
      await admitted("last-known", "success", options);
      await set(true);
      const known = await admitted("last-known", "success", options);
      assert.ok(!known.deferred && known.basis === "last-known" && known.text === null);
      await set(false);
      await object.ok("force", "open");
      await outageOver();
      await admitted("last-known", "success", options);
      await set(true);
      const refused = await admitted("last-known", "success", options);
      assert.ok(refused.deferred && refused.basis === "last-known" && refused.reason === "forced-open");
    });

    it("has its time to answer; a later probe is given back", async () => {
      const object = await real("busy", { ...PLAIN, open_ms: 1, lease_ms: 60_000 });
      await object.trip();
      await sleep(5);
      await object.raw("calls");
      const busy = object.raw("busy", 800);
      await sleep(100);
      const answer = await admitted("busy", "success", { answerWithinMs: 200 });
      assert.ok(answer.deferred && answer.reason === "unreachable");
      assert.match(answer.fault?.message ?? "", /did not answer within 200 ms/);
      await busy;
      await until("the lease is back", async () => {
        const { state, leases } = await object.inspect();
        return state === "half-open" && leases.length === 0;
      });
      assert.deepEqual(await object.raw("calls"), ["acquire", "report ignored"]);
    });

    it("never hides how a call ended when the report fails", async () => {
      const object = await real("unreported", { ...FRESH, fresh_ms: 0 });
      const call = guarded("unreported", { ms: 400 });
      await until("it was admitted", async () => (await object.raw<string[]>("calls")).length > 0);
      await object.raw("setUp", { broken: true });
      const result = await call;
      assert.ok(!result.deferred && result.value === 200 && result.receipt === null);
    });
  });

  it("hands permits on as text", async () => {
    const object = await real("text", { ...PLAIN, open_ms: 1, lease_ms: 60_000 });
    await object.trip();
    await sleep(5);
    const answer = await workerd.object<{ value: { permit: string; token: string } }>(
      '["default","text"]',
      "acquire",
      "text",
      "neighbour",
    );
    assert.match(answer.value.permit, /^\d+:\d+$/);
    assert.equal(answer.value.permit.split(":")[1], answer.value.token);
    const receipt = await workerd.client<Receipt>("text", {}, "report", answer.value.permit, "success");
    assert.deepEqual([receipt.applied, receipt.state], [true, "closed"]);
    const again = await workerd.client<Receipt>("text", {}, "report", answer.value.permit, "success");
    assert.equal(again.stale, "already-reported");
  });

  it("lists the dependencies of a namespace", async () => {
    const options = { namespace: "listing" };
    for (const name of ["b", "a", "c:d"]) await workerd.post("admitted", { dependency: name, options, outcome: "success" });
    const list = (): Promise<string[]> => workerd.post("list", options);
    await until("all are listed", async () => (await list()).length === 3);
    assert.deepEqual(await list(), ["a", "b", "c:d"]);
    await workerd.client("a", options, "forget");
    assert.deepEqual(await list(), ["b", "c:d"]);
    await workerd.post("admitted", { dependency: "b", options, outcome: "failure" });
    assert.equal(await workerd.client("b", options, "prune", 3_600_000), false, "it was used a moment ago");
    assert.deepEqual(await list(), ["b", "c:d"]);
    assert.equal(await workerd.client("b", options, "prune", 0), true);
    assert.equal(await workerd.client("b", options, "prune", 0), false, "it is gone");
    assert.deepEqual(await list(), ["c:d"]);
    assert.deepEqual(await workerd.post("list", { namespace: "nobody's" }), []);
  });

  it("keeps operators and their notes, and takes a policy back", async () => {
    const object = await ByHand.of(workerd, "operated", { open_ms: 1_234 }, null);
    const options = { operator: "ops" };
    await workerd.client("operated", options, "force", "open", { note: "maintenance", lastingMs: 60_000 });
    const { override } = await object.inspect();
    assert.deepEqual([override?.mode, override?.by, override?.note], ["open", "ops", "maintenance"]);
    await workerd.client("operated", options, "reset", { by: "another" });
    await workerd.client("operated", options, "configure", null, { note: "back" });
    const { policy, origin } = await object.ok<PolicyInForce>("policy");
    assert.deepEqual([policy.open_ms, origin], [5_000, "host"]);
    const history = await object.ok<Transition[]>("history", 3);
    assert.deepEqual(history.map(({ reason, by, note }) => [reason, by, note]), [
      ["forced", "ops", "maintenance"],
      ["reset", "another", undefined],
      ["configured", "ops", "back"],
    ]);
  });

  it("reports what the dependency asks for", async () => {
    const object = await ByHand.of(workerd, "asks", PLAIN, 0n);
    await object.report(await object.permit("proceed"), "ignored");
    const receipt = await admitted("asks", "failure", {}, undefined, "HTTP 429", 30_000);
    assert.ok(!receipt.deferred && receipt.receipt?.nextDue === 30_000);
  });

  it("throws the object's faults", async () => {
    await assert.rejects(workerd.client("", {}, "inspect"), (error) => {
      assert.ok(error instanceof RemoteError && error.name === "BreakerError");
      assert.equal(error.fault?.code, "invalid-dependency");
      return true;
    });
    await assert.rejects(admitted("x".repeat(257), "success"), { name: "BreakerError" });
  });

  it("makes a 503 with Retry-After, and a delay for queues", async () => {
    const helpers = (deferral: object): Promise<{ status: number; headers: Record<string, string>; body: string; delays: number[] }> =>
      workerd.post("helpers", deferral);
    const plain = await helpers({ retryAfterMs: 1_001, spreadMs: 0 });
    assert.deepEqual([plain.status, plain.headers["retry-after"], plain.headers["x-own"]], [503, "2", "1"]);
    assert.deepEqual([plain.body, plain.delays], ["later", [2, 2]]);
    assert.equal((await helpers({ retryAfterMs: 1, spreadMs: 0 })).headers["retry-after"], "1");
    assert.deepEqual((await helpers({ retryAfterMs: 1e9, spreadMs: 0 })).delays, [43_200, 43_200]);
    const drawn = new Set<number>();
    for (let time = 0; time < 30; time++) for (const d of (await helpers({ retryAfterMs: 10_000, spreadMs: 20_000 })).delays) drawn.add(d);
    assert.ok(drawn.size > 3, "all callers would return together");
    assert.ok([...drawn].every((delay) => delay >= 10 && delay <= 30), [...drawn].join(" "));
  });
});
