/** The handlers of the example, with a dependency that can be reached. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";

import type { Inspection } from "@halfopen/durable-object";

import { Dependency } from "./support/http.js";
import { Workerd } from "./support/workerd.js";

/** What a queue is told by its consumer. */
interface Consumed {
  outcome: string;
  explicitAcks: string[];
  retryMessages: { msgId: string; delaySeconds?: number }[];
}

const DRIVER = `export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/drive/scheduled") return Response.json(await env.MAIN.scheduled({ cron: "*/5 * * * *" }));
    if (url.pathname === "/drive/queue") {
      const messages = (await request.json()).map((body, index) => ({ id: String(index), timestamp: new Date(), attempts: 1, body }));
      return Response.json(await env.MAIN.queue("receipts", messages));
    }
    return env.MAIN.fetch(request);
  },
};`;

describe("the example", () => {
  let workerd: Workerd;
  let dependency: Dependency;
  before(async () => {
    dependency = await Dependency.start();
    workerd = await Workerd.start({
      entry: "example/index.js",
      objects: { HALFOPEN: "HalfOpen" },
      vars: { PAYMENTS_URL: dependency.url, ADMIN_TOKEN: "secret" },
      driver: DRIVER,
      package: false,
    });
  });
  after(async () => {
    await dependency.stop();
    await workerd?.stop();
  });
  beforeEach(async () => void (await force("none")));

  const headers = { Authorization: "Bearer secret" };

  async function force(mode: string): Promise<void> {
    const forced = await fetch(`${workerd.url}/admin/payments/force?mode=${mode}`, { method: "POST", headers });
    assert.equal(forced.status, 200);
  }

  async function inspect(): Promise<Inspection> {
    const shown = await fetch(`${workerd.url}/admin/payments`, { headers });
    return ((await shown.json()) as { breaker: Inspection }).breaker;
  }

  async function consume(...orders: string[]): Promise<Consumed> {
    const body = JSON.stringify(orders.map((order) => ({ order })));
    const response = await fetch(`${workerd.url}/drive/queue`, { method: "POST", body });
    return (await response.json()) as Consumed;
  }

  it("answers a request with what the dependency says", async () => {
    const response = await fetch(workerd.url);
    assert.deepEqual([response.status, await response.text()], [200, "ok"]);
  });

  it("consumes a queue, and gives failed messages back", async () => {
    const bodies: string[] = [];
    dependency.answer = (request, response) => {
      let body = "";
      request.on("data", (data) => (body += String(data)));
      request.on("end", () => {
        bodies.push(body);
        response.writeHead(body.includes("bad") ? 500 : 200).end();
      });
    };
    const { outcome, explicitAcks, retryMessages } = await consume("one", "bad", "two");
    assert.deepEqual(bodies, ['{"order":"one"}', '{"order":"bad"}', '{"order":"two"}']);
    assert.deepEqual([outcome, explicitAcks, retryMessages.map(({ msgId }) => msgId)], ["ok", ["0", "2"], ["1"]]);
    dependency.answer = (_, response) => response.end("ok");
  });

  it("gives all messages back with a delay while open", async () => {
    await force("open");
    const { requests } = dependency;
    const { explicitAcks, retryMessages } = await consume("one", "two");
    assert.deepEqual([explicitAcks, retryMessages.length, dependency.requests], [[], 2, requests]);
    for (const { delaySeconds } of retryMessages) assert.ok((delaySeconds ?? 0) >= 5 && (delaySeconds ?? 0) <= 6);
    await force("closed");
  });

  it("runs its cron job, and skips it while the breaker is open", async () => {
    const scheduled = async (): Promise<string> =>
      ((await (await fetch(`${workerd.url}/drive/scheduled`)).json()) as { outcome: string }).outcome;
    const { requests } = dependency;
    assert.equal(await scheduled(), "ok");
    assert.equal(dependency.requests, requests + 1);
    await force("open");
    assert.equal(await scheduled(), "ok");
    assert.equal(dependency.requests, requests + 1);
    assert.match(workerd.log, /skipped: forced-open, come back in \d+ ms/);
    assert.equal((await inspect()).override?.mode, "open");
  });
});
