/** The object probes by itself when the open window is over. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import type { Transition } from "@halfopen/durable-object";

import { ByHand, PLAIN } from "./support/breakers.js";
import { Dependency, sleep, until } from "./support/http.js";
import { Workerd } from "./support/workerd.js";

/** The real clock, and windows that a test can wait for. */
const QUICK = { ...PLAIN, open_ms: 300, open_max_ms: 600, lease_ms: 800 };

describe("scheduled recovery", () => {
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

  async function recovering(name: string, policy: object = QUICK, settings: object = {}): Promise<ByHand> {
    const object = await ByHand.of(workerd, name, policy, null);
    await object.ok("setRecovery", { healthUrl: dependency.url, ...settings });
    return object;
  }

  const reasons = async (object: ByHand): Promise<string[]> =>
    (await object.ok<Transition[]>("history", 100)).map(({ reason }) => reason);

  it("closes the breaker without any caller", async () => {
    const seen: string[] = [];
    dependency.answer = ({ method, headers }, response) => {
      seen.push(`${method} ${headers["x-own"]}`);
      response.writeHead(seen.length < 3 ? 503 : 200).end();
    };
    const object = await recovering("healing", QUICK, { headers: { "X-Own": "yes" } });
    assert.equal(await object.raw("alarmAt"), null, "nothing is due while closed");
    await object.trip();
    assert.ok((await object.raw<number | null>("alarmAt")) !== null);
    await until("it is closed", async () => (await object.inspect()).state === "closed");
    assert.deepEqual(seen, ["GET yes", "GET yes", "GET yes"]);
    assert.deepEqual(await reasons(object), [
      "configured",
      "consecutive-failures",
      ...["probe-due", "probe-failed", "probe-due", "probe-failed"],
      ...["probe-due", "probe-succeeded"],
    ]);
    assert.equal(await object.raw("alarmAt"), null);
  });

  it("gives a check less time than the lease, and serves others", async () => {
    dependency.answer = () => {};
    const { requests } = dependency;
    const object = await recovering("hanging");
    await object.trip();
    await until("the check is under way", () => Promise.resolve(dependency.requests > requests));
    // No transaction is open while it waits: another caller is answered, and told that a probe is out.
    const decision = await object.acquire();
    assert.ok(decision.kind === "defer" && decision.reason === "probing", JSON.stringify(decision));
    assert.equal((await object.inspect()).leases[0]?.caller, "scheduled recovery");
    await until("it has timed out", async () => (await reasons(object)).includes("probe-timed-out"));
    assert.ok(!(await reasons(object)).includes("probe-lost"));
    await object.ok("setRecovery", null);
  });

  it("takes a redirect and an unreachable URL for failures", async () => {
    dependency.answer = (_, response) => response.writeHead(302, { location: "/" }).end();
    const redirected = await recovering("redirected");
    await redirected.trip();
    await until("it has failed", async () => (await reasons(redirected)).includes("probe-failed"));
    await redirected.ok("setRecovery", null);
    const gone = await recovering("gone", QUICK, { healthUrl: "http://127.0.0.1:1/" });
    await gone.trip();
    await until("it has failed", async () => (await reasons(gone)).includes("probe-failed"));
    await gone.ok("setRecovery", null);
  });

  it("follows a caller's probe, and takes over when it is lost", async () => {
    dependency.answer = (_, response) => response.end("ok");
    const object = await recovering("lost", { ...QUICK, open_ms: 1 });
    // The caller comes first.
    await object.ok("setRecovery", null);
    await object.trip();
    await sleep(10);
    await object.permit("probe", "silent");
    await object.ok("setRecovery", { healthUrl: dependency.url });
    await until("it is closed", async () => (await object.inspect()).state === "closed");
    assert.ok((await reasons(object)).includes("probe-lost"));
  });

  it("leaves a forced breaker alone until the force ends", async () => {
    dependency.answer = (_, response) => response.end("ok");
    const object = await recovering("forced");
    const { requests } = dependency;
    await object.ok("force", "open");
    assert.equal(await object.raw("alarmAt"), null);
    await sleep(400);
    assert.equal(dependency.requests, requests);
    await object.ok("force", "open", 300);
    await until("it is closed", async () => (await object.inspect()).state === "closed");
    assert.equal(dependency.requests, requests + 1);
  });

  it("probes a second apart where several successes close it", async () => {
    dependency.answer = (_, response) => response.end("ok");
    const object = await recovering("several", { ...QUICK, successes_to_close: 2 });
    const { requests } = dependency;
    await object.trip();
    await until("it is closed", async () => (await object.inspect()).state === "closed");
    assert.equal(dependency.requests, requests + 2);
    const [, , due, closed] = await object.ok<Transition[]>("history", 100);
    assert.ok(due !== undefined && closed !== undefined && closed.at - due.at >= 1_000, "two probes at once");
  });

  it("without a URL says in the log that a probe is due, once", async () => {
    const object = await ByHand.of(workerd, "silent", QUICK, null);
    await object.ok("setRecovery", {});
    await object.trip();
    await until("it was said", () => Promise.resolve(workerd.log.includes('"probe due","dependency":"silent"')));
    await sleep(300);
    assert.equal(workerd.log.split('"probe due","dependency":"silent"').length, 2);
    assert.equal((await object.inspect()).probe_due, true);
  });

  it("does not wait for a probe of its own that ignores its signal", async () => {
    const object = await ByHand.of(workerd, "custom probe", { ...QUICK, lease_ms: 400, open_max_ms: 300 }, null);
    await object.ok("setRecovery", {});
    await object.trip();
    await until("it has timed out twice", async () => {
      return (await reasons(object)).filter((reason) => reason === "probe-timed-out").length >= 2;
    });
    assert.ok(!(await reasons(object)).includes("probe-lost"));
    await object.ok("setRecovery", null);
  });

  it("answers damaged settings with a typed fault", async () => {
    for (const text of ["{", "5", '{"healthUrl": 5}', '{"x": 1}']) {
      const object = await recovering(`damaged ${text}`);
      await object.raw("sql", `UPDATE halfopen_recovery SET settings = '${text}'`);
      await object.raw("restart").catch(() => {});
      const reply = await object.reply("recovery");
      assert.ok(!reply.ok && reply.fault.code === "storage" && reply.fault.kind === "corrupt", JSON.stringify(reply));
      await object.trip();
      await object.ok("setRecovery", null);
      assert.equal(await object.ok("recovery"), null);
    }
  });

  it("can be looked at and switched off", async () => {
    const object = await recovering("off", QUICK, { method: "HEAD", timeoutMs: 50 });
    assert.deepEqual(await object.ok("recovery"), { healthUrl: dependency.url, method: "HEAD", timeoutMs: 50 });
    await object.trip();
    await object.ok("setRecovery", null);
    assert.deepEqual([await object.ok("recovery"), await object.raw("alarmAt")], [null, null]);
  });

  it("outlives a killed process", async () => {
    const disk = await mkdtemp(join(tmpdir(), "halfopen-"));
    try {
      dependency.answer = (_, response) => response.end("ok");
      const { requests } = dependency;
      const first = await Workerd.start({ disk });
      const object = await ByHand.of(first, "killed", { ...QUICK, open_ms: 1_500, open_max_ms: 1_500 }, null);
      await object.ok("setRecovery", { healthUrl: dependency.url });
      await object.trip();
      await first.stop("SIGKILL");
      assert.equal(dependency.requests, requests);
      const second = await Workerd.start({ disk });
      await until("the probe has come", () => Promise.resolve(dependency.requests > requests));
      await second.stop();
    } finally {
      await rm(disk, { recursive: true });
    }
  });
});
