/** A breaker in another Worker, the oldest runtime that the README names, and tests of a Worker as the README has them. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";

import type { CallResult, Inspection } from "@halfopen/durable-object";

import { type Options, ROOT, Workerd } from "./support/workerd.js";

async function works(options: Options): Promise<void> {
  const workerd = await Workerd.start(options);
  try {
    const guarded = (status: number): Promise<CallResult<number>> =>
      workerd.post("guarded", { dependency: "far", options: { caller: "neighbour" }, work: { status } });
    assert.equal((await guarded(200)).deferred, false);
    for (let time = 0; time < 5; time++) await guarded(500);
    const deferred = await guarded(200);
    assert.ok(deferred.deferred && deferred.reason === "open", JSON.stringify(deferred));
    const inspection = await workerd.client<Inspection>("far", {}, "inspect");
    assert.deepEqual([inspection.state, inspection.last_failure?.caller], ["open", "neighbour"]);
  } finally {
    await workerd.stop();
  }
}

describe("a breaker", () => {
  it("can be called from another Worker, by its script's name", () => works({ neighbour: true }));

  it("works with the oldest compatibility date of the README", () => works({ date: "2024-04-03" }));

  it("works on the oldest runtime of the README", async () => {
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    const { version } = createRequire(import.meta.url)("workerd-oldest/package.json") as { version: string };
    assert.ok(readme.includes(`It runs on workerd ${version} or later, with a compatibility date of 2024-04-03 or later.`));
    for (const neighbour of [false, true]) await works({ runtime: "workerd-oldest", date: "2024-04-03", neighbour });
  });
});

/** A breaker is opened, and the next test calls again. */
const opened = (next: string): string => `
it("opens", async () => {
  const billing = breaker(env.HALFOPEN, "billing");
  for (let time = 0; time < 5; time++) await billing.call(() => Promise.reject(new Error("no"))).catch(() => {});
  expect(await billing.call(() => "yes")).toMatchObject({ deferred: true, reason: "open", basis: "object" });
});
it("calls again", async () => {
  expect(await breaker(env.HALFOPEN, "billing").call(() => "yes")).toMatchObject(${next});
});`;

describe("tests of a Worker", () => {
  it("run as the README says, and forgetAll forgets", { timeout: 240_000 }, async (context) => {
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    const block = (holding: string): string => {
      const blocks = [...readme.matchAll(/```\w+\n([^]*?)```/g)].map(([, code = ""]) => code);
      return blocks.find((code) => code.includes(holding)) ?? assert.fail(holding);
    };
    const project = join(ROOT, "build", "vitest");
    await rm(project, { recursive: true, force: true });
    for (const folder of ["src", "test", "node_modules/@halfopen"]) await mkdir(join(project, folder), { recursive: true });
    await symlink(ROOT, join(project, "node_modules", "@halfopen", "durable-object"));
    const tested = block('from "vitest"');
    // An isolate would go by its memory for a minute.
    const vars = `"vars": { "HALFOPEN_POLICY": { "open_ms": 60000, "fresh_ms": 60000 } }, "migrations"`;
    const files = {
      "package.json": '{ "type": "module" }',
      "wrangler.jsonc": block('"durable_objects"').replace('"migrations"', vars),
      "vitest.config.ts": `import { cloudflareTest } from "@cloudflare/vitest-plugin";
        export default { ${/`(plugins: \[cloudflareTest[^`]*\])`/.exec(readme)?.[1]} };`,
      "src/index.ts": block("export default {\n  async fetch"),
      "test/readme.test.ts": tested + opened('{ deferred: false, value: "yes" }'),
      "test/remembering.test.ts": tested.replace("  forgetAll();\n", "") + opened('{ deferred: true, basis: "local" }'),
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(project, name), content);
    const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
    const env = { ...process.env, WRANGLER_SEND_METRICS: "false", NO_COLOR: "1" };
    const run = promisify(execFile)(process.execPath, [vitest, "run"], { cwd: project, env });
    const { stdout } = await run.catch((error: { stdout: string; stderr: string }) => assert.fail(error.stdout + error.stderr));
    context.diagnostic(stdout);
    assert.match(stdout, /Tests +6 passed \(6\)/);
  });
});
