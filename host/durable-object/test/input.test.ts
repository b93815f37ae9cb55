/** Bad input is a typed fault, and changes nothing. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { Fault, Reply } from "@halfopen/durable-object";

import { ByHand, PLAIN } from "./support/breakers.js";
import { RemoteError, Workerd } from "./support/workerd.js";

const BEYOND = 1n << 64n;
const NAMES = ["", "x".repeat(257), "é".repeat(129), "a\nb", "a\u0000", "\u007f", "\ud800", "x".repeat(3_000_000), 5, null, undefined, {}, []];
const PERMITS = ["", ":", "1:", ":1", "1:2:3", "+1", "-1", " 1", "1 ", "a", "0x1", "1.0", "1e3", String(BEYOND), `0:${BEYOND}`, "9".repeat(1_000_000), 1, 1n, null, undefined, {}];
const NUMBERS = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -1n, BEYOND, "1", true, {}];
const POLICIES = [5, "", "open", "[]", [], { open_ms: -1 }, { open_ms: 2 ** 60 }, { open_ms: BEYOND }, { open_ms: "1" }, { open_ms: null }, { open_msec: 1 }, { open_multiplier: Number.NaN }, { open_multiplier: "2" }, { failure_rate: { percent: 50 } }, { failure_rate: { percent: 0, minimum_calls: 1 } }, { failure_rate: { percent: 1, minimum_calls: 1, x: 1 } }, { window: {} }, { window: { ms: 15 } }, { window: { ms: 10, calls: 1 } }, { window: 5 }, { lost_probe: "perhaps" }, { probes: 2 ** 40 }, { ramp: { over_ms: 0, from_percent: 101 } }, { lease_ms: 70_000 }, new Map(), new Date(0), { window: new Map() }, { failure_rate: Number.NaN }, { ramp: new Date(0) }];

describe("bad input", () => {
  let workerd: Workerd;
  let object: ByHand;
  before(async () => {
    workerd = await Workerd.start();
    object = await ByHand.of(workerd, "input", { ...PLAIN, consecutive_failures: 100 });
    await object.report(await object.permit("proceed"), "failure");
  });
  after(() => workerd?.stop());

  async function refused(code: Fault["code"], method: string, ...args: unknown[]): Promise<Fault> {
    const before = await object.raw("sql", "SELECT *, hex(data) AS hex FROM halfopen_record");
    const reply = await object.raw<Reply<unknown>>(method, ...args);
    const shown = `${method} ${args.map((arg) => String(arg).slice(0, 50)).join(", ")}: ${JSON.stringify(reply)}`;
    assert.ok(!reply.ok, shown);
    assert.equal(reply.fault.code, code, shown);
    assert.ok(reply.fault.message.length > 10 && reply.fault.message.length < 1_000, shown);
    assert.deepEqual(await object.raw("sql", "SELECT *, hex(data) AS hex FROM halfopen_record"), before);
    return reply.fault;
  }

  it("as a name", async () => {
    const calls: [method: string, ...args: unknown[]][] = [
      ["acquire", "A"],
      ["report", "0", { outcome: "failure" }],
      ["reportTally", "0", { failures: 1 }],
      ["renew", "0"],
      ["release", "0"],
      ["inspect"],
      ["policy"],
      ["configure", {}],
      ["force", "open"],
      ["reset"],
      ["forget"],
      ["prune", 0],
    ];
    for (const [method, ...args] of calls) {
      for (const name of NAMES) await refused("invalid-dependency", method, name, ...args);
    }
    // These ask the component nothing.
    for (const method of ["history", "recovery", "enlist", "delist"]) await refused("invalid-dependency", method, 5);
  });

  it("as a permit", async () => {
    for (const permit of PERMITS) {
      await refused("invalid-argument", "report", "input", permit, { outcome: "failure" });
      await refused("invalid-argument", "reportTally", "input", permit, { failures: 1 });
      await refused("invalid-argument", "renew", "input", permit);
      await refused("invalid-argument", "release", "input", permit);
    }
  });

  it("as an outcome, a mode, a caller, an operator, a limit", async () => {
    for (const word of ["", "Success", "fine", 0, 1, null, undefined, {}]) {
      await refused("invalid-argument", "report", "input", "0", { outcome: word });
      await refused("invalid-argument", "force", "input", word);
    }
    for (const text of ["\ud800", 5, null, {}]) {
      await refused("invalid-argument", "acquire", "input", text);
      // What an error says must not cost its report: such text is mended.
      if (text === "\ud800") continue;
      await refused("invalid-argument", "report", "input", "0", { outcome: "failure", caller: text });
      await refused("invalid-argument", "reportTally", "input", "0", { failures: 1, cause: text });
      await refused("invalid-argument", "force", "input", "open", null, { note: text });
      await refused("invalid-argument", "reset", "input", { by: text });
    }
    for (const operator of [5, "x", [], new Map(), { who: "x" }]) {
      await refused("invalid-argument", "forget", "input", operator);
    }
    for (const limit of [0, -1, 0.5, 10_001, "1", null]) await refused("invalid-argument", "history", "input", limit);
  });

  it("as a number", async () => {
    for (const number of NUMBERS) {
      await refused("invalid-argument", "report", "input", "0", { outcome: "failure", tookMs: number });
      await refused("invalid-argument", "force", "input", "open", number);
      await refused("invalid-argument", "report", "input", "0", { outcome: "failure", retryAfterMs: number });
      await refused("invalid-argument", "reportTally", "input", "0", { failures: number });
    }
  });

  it("as a report, a tally or a settlement", async () => {
    for (const report of [null, 5, "failure", [], {}, { outcome: "failure", took: 1 }]) {
      await refused("invalid-argument", "report", "input", "0", report);
    }
    for (const tally of [null, 5, "x", [], new Map(), new Date(0), { failure: 1 }, { failures: null }]) {
      await refused("invalid-argument", "reportTally", "input", "0", tally);
    }
    for (const settled of [null, 5, {}, [5], [{}], [{ permit: "0", tally: { x: 1 } }]]) {
      await refused("invalid-argument", "settleAndAcquire", "input", "A", { sender: "s", number: 1, settled });
      await refused("invalid-argument", "settle", "input", "A", { sender: "s", number: 1, settled });
    }
  });

  it("as a policy", async () => {
    for (const policy of POLICIES) await refused("invalid-policy", "configure", "input", policy);
  });

  it("as a policy, with all wrong fields at once", async () => {
    const wrong = { open_ms: -1, probes: 101, jitter_percent: 0.5, ramp: { over_ms: 1, from_percent: -3 } };
    const fault = await refused("invalid-policy", "configure", "input", wrong);
    assert.ok(fault.code === "invalid-policy");
    const fields = fault.faults.map(({ field }) => field);
    for (const field of ["open_ms", "probes", "jitter_percent", "ramp.from_percent"]) assert.ok(fields.includes(field), field);
    const shape = await refused("invalid-policy", "configure", "input", { open_msec: 1, probes: "1", window: 5 });
    assert.ok(shape.code === "invalid-policy");
    assert.deepEqual(shape.faults.map(({ field }) => field).sort(), ["open_msec", "probes", "window"]);
  });

  it("cuts long texts, and makes control characters spaces", async () => {
    const other = await ByHand.of(workerd, "cut");
    await other.ok("report", await other.permit("proceed"), { outcome: "failure", caller: "é".repeat(100), cause: "a\nb" });
    const { last_failure } = await other.inspect();
    assert.deepEqual([last_failure?.caller, last_failure?.cause], ["é".repeat(64), "a b"]);
  });

  it("as options of a breaker, before anything is asked", async () => {
    const wrong: [option: string, values: unknown[]][] = [
      ["timeoutMs", [Number.NaN, 0, -1, 0.5, Number.POSITIVE_INFINITY, 2 ** 31, "1", null]],
      ["answerWithinMs", [Number.NaN, 0, -1, 20_001, "1"]],
      ["whenUnreachable", ["failopen", "fail-closed ", "", null, true]],
      ["localAdmission", ["false", 0, null]],
      ["caller", ["x".repeat(129), "é".repeat(65), "\ud800", 5, null]],
      ["operator", ["x".repeat(129), 5]],
      ["namespace", [5, null, "\udfff"]],
      ["whenunreachable", ["fail-open"]],
      ["redact", ["x", null, {}]],
      ["locationHint", ["europe", "", 5, null]],
      ["jurisdiction", ["EU", "mars", null]],
    ];
    for (const [option, values] of wrong) {
      for (const value of values) {
        const made = workerd.client("input", { [option]: value }, "inspect");
        await assert.rejects(made, (error) => error instanceof RemoteError && error.fault?.code === "invalid-argument", option);
      }
    }
    for (const options of [new Map(), new Date(), [], 5]) {
      await assert.rejects(workerd.client("input", options as object, "inspect"), { name: "BreakerError" });
    }
    for (const options of [{ namespac: "x" }, { namespace: 5 }, { jurisdiction: "mars" }, { caller: "x" }, new Map(), 5]) {
      await assert.rejects(workerd.post("list", options), (error) => error instanceof RemoteError && error.fault?.code === "invalid-argument");
    }
    await assert.rejects(workerd.client(5 as never, {}, "inspect"), { name: "BreakerError" });
    for (const timeoutMs of [Number.NaN, 0, -1]) {
      await object.raw("calls");
      const call = workerd.post("guarded", { dependency: "input", work: {}, call: { timeoutMs } });
      await assert.rejects(call, { name: "BreakerError", message: /timeoutMs must be a whole number from 1/ });
      assert.deepEqual(await object.raw("calls"), []);
    }
  });

  it("as recovery settings", async () => {
    const wrong = [5, [], new Map(), new Date(0), { headers: new Map() }, { url: "x" }, { healthUrl: "x" }, { healthUrl: "file:///etc/passwd" }, { healthUrl: 5 }, { method: "POST" }, { timeoutMs: 0 }, { timeoutMs: 60_001 }, { timeoutMs: 0.5 }, { headers: 5 }, { headers: { "a b": "c" } }];
    for (const settings of wrong) await refused("invalid-argument", "setRecovery", "input", settings);
  });

  it("as the host's default policy: every call says so", async () => {
    const other = await ByHand.of(workerd, "bad default");
    await other.raw("setUp", { policy: { open_ms: 0 } });
    const reply = await other.reply("acquire", "A");
    assert.ok(!reply.ok && reply.fault.code === "invalid-policy", JSON.stringify(reply));
    await other.raw("setUp", { policy: { open_ms: 1 } });
    await other.permit("proceed");
  });

  it("as a method: the shipped class has no others", async () => {
    for (const method of ["setUp", "busy", "sql", "fetch", "run", "now", "constructor", "__proto__"]) {
      const asked = workerd.post("object", { object: "HALFOPEN", name: "shipped", method, args: [{ now: 5n }] });
      await assert.rejects(asked, Error, method);
    }
  });

  it("a look at a name without a record stores nothing", async () => {
    const asked: [method: string, ...args: unknown[]][] = [["inspect"], ["policy"], ["history", 10], ["recovery"], ["acquire", "A"]];
    for (const [method, ...args] of asked) {
      const name = JSON.stringify(["default", `unknown ${method}`]);
      const reply = await workerd.object<Reply<unknown>>(name, method, `unknown ${method}`, ...args);
      assert.ok(reply.ok, JSON.stringify(reply));
      assert.deepEqual(await workerd.object(name, "sql", "SELECT name FROM sqlite_master WHERE name LIKE 'halfopen%'"), []);
    }
  });

  it("the largest numbers are taken", async () => {
    const largest = BEYOND - 1n;
    const other = await ByHand.of(workerd, "largest", { ...PLAIN, consecutive_failures: 0 });
    await other.ok("reportTally", "0", { successes: largest, failures: 0 });
    assert.equal((await other.inspect()).calls, Number(largest));
    await other.ok("force", "open", largest);
    const { override, next_due } = await other.inspect();
    assert.deepEqual([override?.ends_in_ms, next_due], [Number(largest), Number(largest)]);
    const receipt = await other.ok<{ stale: string }>("report", `${largest}:${largest}`, { outcome: "success", tookMs: largest });
    assert.equal(receipt.stale, "forced");
  });
});

describe("the variable HALFOPEN_POLICY", () => {
  it("is the default policy, and a wrong one is named", async () => {
    for (const [policy, wanted] of [
      ['{"open_ms": 1234}', 1234],
      ['{"open_ms": 0}', "invalid-policy"],
      ["not JSON", "invalid-policy"],
    ] as const) {
      const workerd = await Workerd.start({ vars: { HALFOPEN_POLICY: policy } });
      try {
        const reply = await workerd.post<Reply<{ policy: { open_ms: number }; origin: string }>>("object", {
          object: "HALFOPEN",
          name: "n",
          method: "policy",
          args: ["payments"],
        });
        assert.equal(reply.ok ? reply.value.policy.open_ms : reply.fault.code, wanted);
        if (reply.ok) assert.equal(reply.value.origin, "host");
      } finally {
        await workerd.stop();
      }
    }
  });
});
