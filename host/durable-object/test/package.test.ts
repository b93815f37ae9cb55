/** The package as it is installed, and the example as it is deployed. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";

import type { Inspection, PolicyInForce, Receipt } from "@halfopen/durable-object";

import { until } from "./support/http.js";
import { ROOT } from "./support/workerd.js";

const require = createRequire(import.meta.url);
const ESBUILD = join(dirname(require.resolve("esbuild/package.json")), "bin", "esbuild");
const BUNDLE = ["src/index.ts", "--bundle", "--format=esm", "--external:cloudflare:workers", "--external:*.wasm", "--minify"];

describe("the package", () => {
  let folder: string;
  let installed: string;
  let packed: { size: number; files: { path: string }[] };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "halfopen-package-"));
    installed = join(folder, "node_modules", "@halfopen", "durable-object");
    await mkdir(installed, { recursive: true });
    const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    const [pack] = Object.values(JSON.parse(execFileSync("npm", args, { cwd: ROOT, encoding: "utf8" })) as object);
    packed = pack as typeof packed;
    const [archive] = (await readdir(folder)).filter((file) => file.endsWith(".tgz"));
    execFileSync("tar", ["-xzf", join(folder, archive ?? ""), "-C", installed, "--strip-components=1"]);
    await cp(join(ROOT, "example"), folder, { recursive: true });
  });
  after(() => rm(folder, { recursive: true }));

  it("is small, and holds what it needs and nothing else", (context) => {
    const folders = new Set(packed.files.map(({ path }) => path.split("/")[0]));
    assert.deepEqual([...folders].sort(), ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "component", "dist", "generated", "package.json"]);
    context.diagnostic(`${packed.files.length} files, ${packed.size} bytes packed`);
    assert.ok(packed.size < 3 * 2 ** 20);
  });

  it("loads the bytes of the component that it carries, unchanged", async () => {
    const component = await readFile(join(installed, "component", "halfopen.wasm"));
    const modules = (await readdir(join(installed, "generated"))).filter((file) => file.endsWith(".wasm"));
    assert.equal(modules.length, 3);
    for (const module of modules) {
      assert.ok(component.includes(await readFile(join(installed, "generated", module))), module);
    }
  });

  it("is what the example installs, from the packed file", async () => {
    const project = join(folder, "packed", "example");
    await cp(join(ROOT, "example"), project, { recursive: true });
    const [archive = ""] = (await readdir(folder)).filter((file) => file.endsWith(".tgz"));
    await cp(join(folder, archive), join(folder, "packed", archive));
    const manifest = JSON.parse(await readFile(join(project, "package.json"), "utf8")) as { devDependencies?: object };
    delete manifest.devDependencies;
    await writeFile(join(project, "package.json"), JSON.stringify(manifest));
    execFileSync("npm", ["install", "--offline", "--ignore-scripts", "--no-audit"], { cwd: project, stdio: "pipe" });
    const names = await readdir(join(project, "node_modules", "@halfopen", "durable-object"));
    assert.ok(names.includes("dist") && names.includes("LICENSE-MIT"), names.join(", "));
  });

  it("has declarations that the example compiles against, strictly", async () => {
    await symlink(join(ROOT, "node_modules", "@cloudflare"), join(folder, "node_modules", "@cloudflare"));
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--skipLibCheck", "false"];
    const modules = ["--noEmit", "--target", "es2023", "--lib", "es2024", "--module", "esnext", "--moduleResolution", "bundler"];
    const args = [...modules, ...strict, "--types", "@cloudflare/workers-types", "src/index.ts"];
    const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
    execFileSync(process.execPath, [tsc, ...args], { cwd: folder, stdio: "pipe" });
  });

  it("is served from the example's wrangler.jsonc as it is", { timeout: 60_000 }, async (context) => {
    // Only what it protects is another here, and the secret is a variable: a dependency that cannot be reached.
    const config = await readFile(join(folder, "wrangler.jsonc"), "utf8");
    const changed = config.replace('"https://example.com/",', '"http://127.0.0.1:1/", "ADMIN_TOKEN": "secret",');
    assert.notEqual(changed, config);
    await writeFile(join(folder, "wrangler.jsonc"), changed);
    const { url, stop } = await serve(folder);
    const bundle = execFileSync(ESBUILD, BUNDLE, { cwd: folder, maxBuffer: 2 ** 26 });
    context.diagnostic(`bundled with the example: ${gzipSync(bundle).length} bytes gzipped, without the core modules`);
    try {
      const status = async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status;
      assert.equal(await status("/nowhere"), 404);
      for (let time = 0; time < 5; time++) assert.equal(await status("/"), 502);
      const deferred = await fetch(url);
      assert.equal(deferred.status, 503);
      assert.ok(Number(deferred.headers.get("retry-after")) >= 1);
      assert.match(await deferred.text(), /resting/);
      await administered(url);
    } finally {
      await stop();
    }
  });

  it("guards a fetch as its README says", { timeout: 60_000 }, async () => {
    const readme = await readFile(join(installed, "README.md"), "utf8");
    const block = (kind: string): string => new RegExp(`\`\`\`${kind}\\n([^]*?)\`\`\``).exec(readme)?.[1] ?? "";
    const project = join(folder, "readme");
    await mkdir(join(project, "src"), { recursive: true });
    await symlink(join(folder, "node_modules"), join(project, "node_modules"));
    await writeFile(join(project, "wrangler.jsonc"), block("jsonc"));
    // There is no such host, so that every call fails.
    await writeFile(join(project, "src", "index.ts"), block("ts").replace("payments.example", "payments.invalid"));
    const { url, stop } = await serve(project);
    try {
      for (let time = 0; time < 5; time++) assert.equal((await fetch(url)).status, 500);
      const deferred = await fetch(url);
      assert.equal(deferred.status, 503);
      assert.ok(Number(deferred.headers.get("retry-after")) >= 1);
    } finally {
      await stop();
    }
  });

  async function administered(url: string): Promise<void> {
    const ask = async (method: string, path: string, token = "secret"): Promise<{ status: number; body: unknown }> => {
      const response = await fetch(`${url}${path}`, { method, headers: { Authorization: `Bearer ${token}` } });
      const text = await response.text();
      return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
    };
    assert.equal((await ask("GET", "/admin", "secre")).status, 401);
    assert.equal((await ask("GET", "/admin/payments", "")).status, 401);
    await until("it is listed", async () => "payments" in ((await ask("GET", "/admin")).body as object));
    const all = (await ask("GET", "/admin")).body as Record<string, Inspection>;
    assert.equal(all["payments"]?.state, "open");
    const forced = await ask("POST", "/admin/payments/force?mode=closed&lasting_ms=60000&note=a+drill");
    assert.deepEqual([forced.status, (forced.body as Receipt).state], [200, "closed"]);
    const one = (await ask("GET", "/admin/payments")).body as { breaker: Inspection; policy: PolicyInForce; history: unknown[] };
    assert.deepEqual([one.breaker.override?.by, one.breaker.override?.note], ["admin", "a drill"]);
    assert.deepEqual([one.policy.origin, one.policy.policy.open_ms, one.history.length], ["host", 5_000, 2]);
    assert.equal((await fetch(url)).status, 502, "forced closed: the call is made again");
    const wrong = await ask("POST", "/admin/payments/force?mode=ajar");
    assert.deepEqual([wrong.status, (wrong.body as { error: { code: string } }).error.code], [400, "invalid-argument"]);
    assert.equal((await ask("GET", "/admin/%E0%A4%A")).status, 400);
    assert.equal((await ask("POST", "/admin/payments/reset")).status, 200);
    assert.equal((await ask("POST", "/admin/payments/forget")).status, 200);
    assert.deepEqual((await ask("GET", "/admin")).body, {});
    assert.equal((await ask("POST", "/admin/payments/explode")).status, 404);
  }

  async function serve(cwd: string): Promise<{ url: string; stop: () => Promise<void> }> {
    const program = (require("workerd") as { default: string }).default;
    const child = spawn(program, ["serve", "wrangler.jsonc", "--experimental", "--control-fd=3"], {
      cwd,
      env: { ...process.env, WORKERD_ESBUILD: ESBUILD },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    let [said, log] = ["", ""];
    (child.stdio[3] as Readable).on("data", (data) => (said += String(data)));
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (log += String(data)));
    await until("it listens", () => {
      if (child.exitCode !== null) throw new Error(log);
      return Promise.resolve(said.includes('"port"'));
    });
    const port = /"port":(\d+)/.exec(said)?.[1];
    return {
      url: `http://127.0.0.1:${port}`,
      stop: () => new Promise((resolve) => child.once("exit", () => resolve()).kill()),
    };
  }
});
