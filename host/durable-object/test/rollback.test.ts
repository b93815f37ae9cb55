/** Nothing stands that the component did not say so of. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { Fault, Inspection, Reply } from "@halfopen/durable-object";

import { ByHand } from "./support/breakers.js";
import { Workerd } from "./support/workerd.js";

describe("a call that fails after its commit", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  const misdeeds: [misdeed: string, code: Fault["code"], message: RegExp, instances: number][] = [
    ["error", "other", /an error after the commit/, 1],
    ["trap", "component", /the component failed: unreachable/, 2],
    ["throw", "component", /something that is no answer/, 2],
  ];
  for (const [misdeed, code, message, instances] of misdeeds) {
    it(`is rolled back: ${misdeed}`, async () => {
      const object = await ByHand.of(workerd, misdeed);
      const permit = await object.permit("proceed");
      const before = await snapshot(object);
      await object.raw("setUp", { misdeed });
      const reply = await object.reply("report", permit, { outcome: "failure" });
      assert.ok(!reply.ok);
      assert.equal(reply.fault.code, code);
      assert.match(reply.fault.message, message);
      assert.deepEqual(await snapshot(object), before);
      // The next call works, on a new instance where nobody knows the state of the old one.
      await object.raw("setUp", { misdeed: "none" });
      const receipt = await object.report(permit, "failure");
      assert.equal(receipt.state, "open");
      assert.equal(await object.raw("instances"), instances);
      const after = await snapshot(object);
      assert.equal(after.transitions.length, before.transitions.length + 1);
    });
  }

  it("is rolled back when the storage refuses the transitions", async () => {
    const object = await ByHand.of(workerd, "storage");
    const permit = await object.permit("proceed");
    const before = await snapshot(object);
    await object.raw(
      "sql",
      "CREATE TRIGGER refuse BEFORE INSERT ON halfopen_transition BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    const reply = await object.reply("report", permit, { outcome: "failure" });
    assert.ok(!reply.ok && reply.fault.code === "storage", JSON.stringify(reply));
    assert.match(reply.fault.message, /no room/);
    assert.deepEqual(await snapshot(object), before);
    await object.raw("sql", "DROP TRIGGER refuse");
    assert.equal((await object.report(permit, "failure")).state, "open");
  });

  it("is rolled back without its neighbours", async () => {
    const object = await ByHand.of(workerd, "neighbours", { consecutive_failures: 100, fresh_ms: 0 });
    const permit = await object.permit("proceed");
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => object.reply("report", index % 2 === 0 ? permit : "x", { outcome: "failure" })),
    );
    assert.equal(replies.filter(({ ok }) => ok).length, 10);
    assert.equal((await object.inspect()).failures, 10);
  });

  async function snapshot(object: ByHand): Promise<{ records: unknown; transitions: unknown[]; inspection: Inspection }> {
    return {
      records: await object.raw("sql", "SELECT dependency, version, hex(data) AS data FROM halfopen_record"),
      transitions: await object.raw("sql", "SELECT * FROM halfopen_transition"),
      inspection: await object.inspect(),
    };
  }
});

describe("a record", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  it("that is damaged is a typed fault, and reset mends it", async () => {
    const object = await ByHand.of(workerd, "damaged");
    await object.trip();
    await object.raw("sql", "UPDATE halfopen_record SET data = x'00010203040506'");
    await object.raw("restart").catch(() => {});
    for (const [method, ...args] of [["acquire", "A"], ["inspect"], ["policy"], ["report", "1", { outcome: "success" }]] as const) {
      const reply: Reply<unknown> = await object.reply(method, ...args);
      assert.ok(!reply.ok && reply.fault.code === "storage" && reply.fault.kind === "corrupt", JSON.stringify(reply));
    }
    assert.equal((await object.ok<{ state: string }>("reset")).state, "closed");
    await object.permit("proceed");
  });

  it("whose data is no blob is damaged, and can be mended", async () => {
    for (const [mend, data] of [["reset", "'some text'"], ["forget", "''"], ["reset", "5"]] as const) {
      const object = await ByHand.of(workerd, `no blob ${mend} ${data}`);
      await object.trip();
      await object.raw("sql", `UPDATE halfopen_record SET data = ${data}`);
      await object.raw("restart").catch(() => {});
      const reply = await object.reply("acquire", "A");
      assert.ok(!reply.ok && reply.fault.code === "storage" && reply.fault.kind === "corrupt", JSON.stringify(reply));
      await object.ok(mend);
      await object.permit("proceed");
    }
  });

  it("of a later release is left alone", async () => {
    const object = await ByHand.of(workerd, "newer");
    await object.trip();
    const bytes = await object.newer();
    await object.raw("restart").catch(() => {});
    const reply = await object.reply("acquire", "A");
    assert.ok(!reply.ok && reply.fault.code === "newer-version", JSON.stringify(reply));
    const [kept] = await object.raw<{ data: string }[]>("sql", "SELECT hex(data) AS data FROM halfopen_record");
    assert.equal(kept?.data.toLowerCase(), bytes.toString("hex"));
  });

  it("in tables of a later release is not touched", async () => {
    const object = await ByHand.of(workerd, "tables");
    await object.raw("sql", "UPDATE halfopen_schema SET version = 99");
    await object.raw("restart").catch(() => {});
    const reply = await object.reply("acquire", "A");
    assert.ok(!reply.ok && reply.fault.code === "storage" && reply.fault.kind === "denied", JSON.stringify(reply));
    assert.match(reply.fault.message, /later release/);
  });

  it("keeps a bounded history, and loses it when it is forgotten", async () => {
    const object = await ByHand.of(workerd, "history");
    for (let time = 0; time < 510; time++) {
      await object.ok("force", "open");
      await object.ok("force", "closed");
    }
    assert.equal((await object.ok<unknown[]>("history", 10_000)).length, 1_000);
    const last = await object.ok<{ from: string; to: string }[]>("history", 2);
    assert.deepEqual(last.map(({ from, to }) => `${from} ${to}`), ["closed open", "open closed"]);
    const epoch = BigInt((await object.inspect()).epoch);
    await object.ok("forget");
    assert.deepEqual(await object.ok("history", 10), []);
    assert.ok(BigInt((await object.inspect()).epoch) > epoch, "what was out stays stale");
  });
});
