import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { run } from "./replay/run.js";
import { ROOT, Workerd } from "./support/workerd.js";

const SCENARIOS = join(ROOT, "..", "..", "tests", "scenarios");
const files = (await readdir(SCENARIOS)).filter((file) => file.endsWith(".jsonl"));

describe("the scenarios, against real Durable Objects", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  it("are there", () => assert.ok(files.length >= 40, `only ${files.length}`));

  for (const file of files) {
    it(file, async () => {
      const report = await run(workerd, await readFile(join(SCENARIOS, file)), () => {});
      assert.deepEqual(report.failures, []);
      assert.ok(report.steps > 0);
    });
  }
});

describe("npm run replay", () => {
  const first = '{"scenario": "s", "policy": {"consecutive_failures": 1, "failure_rate": null, "jitter_percent": 0}}';
  let folder: string;
  before(async () => void (folder = await mkdtemp(join(tmpdir(), "halfopen-replay-"))));
  after(() => rm(folder, { recursive: true }));

  async function replay(...contents: (string | Buffer)[]): Promise<{ code: number; out: string; err: string }> {
    const paths = contents.map((_, index) => join(folder, `${index}.jsonl`));
    await Promise.all(paths.map((path, index) => writeFile(path, contents[index] as string)));
    return command(paths);
  }

  function command(args: string[]): Promise<{ code: number; out: string; err: string }> {
    return new Promise((resolve) => {
      execFile(process.execPath, [join(ROOT, "build", "test", "replay", "main.js"), ...args], (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err });
      });
    });
  }

  it("ends with 0 when all hold, and prints each answer", async () => {
    const { code, out } = await replay(
      `${first}\n{"at": 0, "do": "acquire", "expect": "proceed"}\n{"at": 0, "do": "report", "outcome": "failure", "state": "open"}\n`,
    );
    assert.equal(code, 0, out);
    assert.match(out, /line 2: at 0: acquire payments by A: proceed; epoch 0\n/);
    assert.match(out, /line 3: at 0: report payments by A: applied; open\n/);
  });

  it("ends with 1 when one does not, and says where", async () => {
    const { code, err } = await replay(
      `${first}\n{"at": 0, "do": "acquire", "expect": "probe", "state": "open"}\n{"at": 0, "do": "report", "permit": "B", "outcome": "success"}\n` +
        '{"at": 0, "do": "acquire", "times": 3, "expect": {"proceed": [4, 9]}}\n{"at": 0, "do": "inspect", "expect": {"calls": 5, "probe_due": true}}\n' +
        '{"at": 0, "do": "configure", "policy": {"open_ms": -1}}\n{"at": 0, "do": "reset", "expect": "error"}\n',
    );
    assert.equal(code, 1);
    assert.match(err, /line 2: wanted probe, got proceed; epoch 0\n/);
    assert.match(err, /line 2: wanted state open, got state closed\n/);
    assert.match(err, /line 3: wanted an answer, got no permit "B" for "payments"/);
    assert.match(err, /line 4: wanted proceed \[4, 9\], got proceed 3, probe 0, defer 0\n/);
    assert.match(err, /line 5: wanted calls 5, got calls 0\n/);
    assert.match(err, /line 5: wanted probe_due true, got probe_due false\n/);
    assert.match(err, /line 6: wanted ok, got .*open_ms/);
    assert.match(err, /line 7: wanted error, got ok; closed\n/);
  });

  it("ends with 2 for a malformed file, the highest of several", async () => {
    const good = `${first}\n{"at": 0, "do": "acquire", "expect": "proceed"}`;
    const bad = `${first}\n{"at": 0, "do": "acquire", "expect": "probe"}`;
    const { code, err } = await replay(good, bad, `${first}\n{"at": 0, "do": "acq`);
    assert.equal(code, 2);
    assert.match(err, /2\.jsonl: line 2: the line ends in the middle/);
    assert.equal((await replay(good, bad)).code, 1);
  });

  it("ends with 64 without a file, and 66 for a missing one", async () => {
    assert.equal((await command([])).code, 64);
    assert.equal((await command(["--loud", "x"])).code, 64);
    assert.equal((await command([join(folder, "none.jsonl")])).code, 66);
  });

  it("reads files strictly", async () => {
    const wrong: [string, RegExp][] = [
      ["", /line 1: the file is empty/],
      ["{}", /line 1: the first line lacks "scenario"/],
      ["[]", /line 1: the first line must be an object, got an array/],
      ['\ufeff{"scenario": "s"}', /line 1: .*byte order mark/],
      ['{"scenario": "s", "seeds": 1}', /line 1: the first line has no key "seeds"/],
      ['{"scenario": "s", "scenario": "t"}', /line 1: the key "scenario" occurs twice/],
      ['{"scenario": "s", "policy": null}', /line 1: "policy" must be an object, got null/],
      ['{"scenario": "s", "policy": {"open_msec": 1}}', /line 1: .*open_msec/],
      ['{"scenario": "s", "policy": {"failure_rate": {"percent": 1}}}', /line 1: .*minimum_calls: is missing/],
      ['{"scenario": "s", "policy": {"probes": 0}}', /line 1: the policy is invalid: probes: must be a whole number from 1 to 100/],
      [`${first}\n\n{"at": 0, "do": "reset"}`, /line 2: an empty line/],
      [`${first}\n{"do": "reset"}`, /line 2: a step lacks "at"/],
      [`${first}\n{"at": -1, "do": "reset"}`, /line 2: "at" must be a whole number, got a negative number/],
      [`${first}\n{"at": 1.0, "do": "reset"}`, /line 2: "at" must be a whole number/],
      [`${first}\n{"at": 18446744073709551616, "do": "reset"}`, /line 2: "at" must be a whole number/],
      [`${first}\n{"at": 0, "do": "jump"}`, /line 2: "do" is "jump"/],
      [`${first}\n{"at": 0, "do": "reset", "times": 2}`, /line 2: a reset step has no key "times"/],
      [`${first}\n{"at": 0, "do": "acquire", "times": 0}`, /line 2: "times" is 0/],
      [`${first}\n{"at": 0, "do": "acquire", "expect": {"defer_ms": [2, 1]}}`, /line 2: .*low end is above/],
      [`${first}\n{"at": 0, "do": "inspect", "expect": {"epoch": 1}}`, /line 2: inspect shows no field "epoch"/],
      [`${first}\n{"at": 0, "do": "report"}`, /line 2: a report step lacks "outcome"/],
      [`${first}\n{"at": 0, "do": "force", "mode": "ajar"}`, /line 2: "mode" is "ajar"/],
      [`${first}\n{"at": 0, "do": "configure"}`, /line 2: a configure step lacks "policy"/],
      [`${first}\n{"at": 0, "do": "configure", "policy": []}`, /line 2: "policy" must be an object, got an array/],
      [`${first}\n{"at": 0, "do": "acquire", "cause": "x"}`, /line 2: an acquire step has no key "cause"/],
      [`${first}\n{"at": 0, "do": "inspect", "expect": {"last_failure": {"at": 1}}}`, /line 2: "last_failure" has no key "at"/],
      [`${first}\n{"at": 0, "do": "reset"} {`, /line 2: not JSON at column/],
      [`${first}\n{"at": 1e999, "do": "reset"}`, /line 2: not JSON .*out of range/],
    ];
    const { code, err } = await replay(...wrong.map(([text]) => text), Buffer.from([...Buffer.from(`${first}\n`), 0xff]));
    assert.equal(code, 2);
    wrong.forEach(([text, why], index) => {
      const said = err.split("\n").find((line) => line.includes(`/${index}.jsonl: `)) ?? "";
      assert.match(said, why, text);
    });
    assert.match(err, new RegExp(`/${wrong.length}\\.jsonl: line 2: it is not UTF-8`));
  });

  it("passes callers, causes, operators and notes on", async () => {
    const { code, err, out } = await replay(
      `${first}\n{"at": 0, "do": "inspect", "expect": {"last_failure": null}}\n{"at": 0, "by": "P", "do": "acquire"}\n` +
        '{"at": 1, "by": "P", "do": "report", "outcome": "failure", "cause": "HTTP 503", "retry_after_ms": 7000}\n' +
        '{"at": 1, "do": "inspect", "expect": {"last_failure": {"caller": "P", "cause": "HTTP 503"}}}\n' +
        '{"at": 2, "by": "Q", "do": "acquire", "expect": {"defer_ms": 6999}}\n{"at": 3, "by": "ops", "do": "reset", "note": "n"}\n' +
        '{"at": 4, "by": "T", "do": "acquire"}\n{"at": 4, "by": "T", "do": "tally", "failures": 1, "cause": "c"}\n' +
        '{"at": 4, "do": "inspect", "expect": {"last_failure": {"caller": "T"}, "state": "open"}}\n{"at": 5, "do": "configure", "policy": null}\n',
    );
    assert.equal(code, 0, err + out);
    const wrong = await replay(`${first}\n{"at": 0, "do": "inspect", "expect": {"last_failure": {"cause": "c"}}}\n`);
    assert.match(wrong.err, /line 2: wanted last_failure {"cause":"c"}, got last_failure null\n/);
  });

  it("leaves numbers out of range to the component", async () => {
    const steps = ["-1", "1e30", "0.5", "99999999999999999999", '"1"'].map(
      (odd) => `{"at": 0, "do": "configure", "policy": {"open_ms": ${odd}}, "expect": "error"}`,
    );
    const { code, out, err } = await replay([first, ...steps].join("\n"));
    assert.equal(code, 0, err);
    assert.match(out, /1 file: 1 hold, 0 fail\n$/);
  });
});
