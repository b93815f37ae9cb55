/** Reads replay files, strictly: an unknown key is an error with its line. */
import type { WireStep } from "../worker/wire.js";
import { type OfAcquire, type OfInspect, STATES, ofAcquire, ofInspect } from "./expect.js";
import { Fields, wrongType } from "./fields.js";
import { JsonError, parseLine, textOf } from "./json.js";

/** A file that is not well-formed. */
export class Malformed extends Error {
  constructor(line: number, why: string) {
    super(`line ${line}: ${why}`);
  }
}

export type Expect =
  | { of: "acquire"; wanted: OfAcquire | undefined }
  | { of: "report"; wanted: "applied" | "stale" | "error" | undefined }
  | { of: "inspect"; wanted: OfInspect | undefined }
  | { of: "control"; wanted: "ok" | "error" };

export interface Step {
  line: number;
  by: string;
  /** As the file names it. */
  name: string;
  wire: WireStep;
  expect: Expect;
  state: string | undefined;
}

export interface Scenario {
  name: string;
  dependency: string;
  policy: string;
  seed: bigint;
  steps: Step[];
}

const STEPS = [
  "acquire",
  "report",
  "tally",
  "release",
  "renew",
  "inspect",
  "configure",
  "force",
  "reset",
  "forget",
  "restart",
] as const;

/** Reads a whole file. */
export function parse(bytes: Uint8Array): Scenario {
  const text = decoded(bytes);
  if (text.trim() === "") {
    throw new Malformed(1, 'the file is empty; its first line must be {"scenario": "..."}');
  }
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (lines.at(-1) === "" && text.endsWith("\n")) lines.pop();
  const [first = "", ...rest] = lines;
  const scenario = at(1, () => firstLine(first));
  rest.forEach((line, index) => scenario.steps.push(at(index + 2, () => step(index + 2, line, scenario.dependency))));
  return scenario;
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Where it begins: the first line that does not decode by itself.
    let line = 1;
    for (let start = 0, end = 0; end !== -1; start = end + 1, line++) {
      end = bytes.indexOf(10, start);
      try {
        new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(start, end === -1 ? undefined : end));
      } catch {
        break;
      }
    }
    throw new Malformed(line, "it is not UTF-8");
  }
}

function at<T>(line: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof JsonError ? new Malformed(line, error.message) : error;
  }
}

function firstLine(line: string): Scenario {
  if (line.startsWith("\ufeff")) throw new JsonError("the file starts with a byte order mark; save it without one");
  const fields = new Fields("the first line", parseLine(line));
  const name = fields.required("scenario", fields.string("scenario"));
  const dependency = fields.string("dependency") ?? "payments";
  const policy = policyOf(fields);
  if (policy === null) throw wrongType("policy", "an object", null);
  const seed = fields.whole("seed") ?? 1n;
  fields.finish();
  return { name, dependency, policy: policy ?? "{}", seed, steps: [] };
}

/** The JSON text of a policy. The component judges it. */
function policyOf(fields: Fields): string | null | undefined {
  const value = fields.take("policy");
  if (value === undefined || value === null) return value;
  if (!(value instanceof Map)) throw wrongType("policy", "an object", value);
  return textOf(value);
}

function step(line: number, text: string, byDefault: string): Step {
  const fields = new Fields("a step", parseLine(text));
  const at = fields.required("at", fields.whole("at"));
  const name = fields.required("do", fields.word("do", STEPS));
  const dependency = fields.string("dependency") ?? byDefault;
  const named = fields.string("by");
  const by = named ?? "A";
  const state = fields.word("state", STATES);
  fields.what = `${/^[aeiou]/.test(name) ? "an" : "a"} ${name} step`;
  const { call, expect } = action(name, by, named, fields);
  fields.finish();
  return { line, by, name, wire: { at, dependency, call, after: state !== undefined }, expect, state };
}

function action(name: (typeof STEPS)[number], by: string, named: string | undefined, fields: Fields): { call: WireStep["call"]; expect: Expect } {
  switch (name) {
    case "acquire": {
      const keepAs = fields.string("as") ?? by;
      const expect = fields.take("expect");
      const wanted = expect === undefined ? undefined : ofAcquire(expect);
      return { call: { do: name, caller: by, keepAs, times: times(fields) }, expect: { of: "acquire", wanted } };
    }
    case "report": {
      const outcome = fields.word("outcome", ["success", "failure", "timeout", "ignored"]);
      const tookMs = fields.whole("took_ms") ?? null;
      return report(name, [{ outcome: fields.required("outcome", outcome), tookMs, ...blame(by, fields) }], by, fields);
    }
    case "tally": {
      const count = (key: string): bigint => fields.whole(key) ?? 0n;
      const tally = {
        successes: count("successes"),
        slowSuccesses: count("slow_successes"),
        failures: count("failures"),
        slowFailures: count("slow_failures"),
        ...blame(by, fields),
      };
      return report("reportTally", [tally], by, fields);
    }
    case "renew":
    case "release":
      return report(name, [], by, fields);
    case "inspect": {
      const expect = fields.take("expect");
      return { call: { do: name, args: [] }, expect: { of: "inspect", wanted: expect === undefined ? undefined : ofInspect(expect) } };
    }
    case "configure":
      return control({ do: name, args: [fields.required("policy", policyOf(fields)), operator(named, fields)] }, fields);
    case "force": {
      const mode = fields.required("mode", fields.word("mode", ["open", "closed", "none"]));
      return control({ do: name, args: [mode, fields.whole("lasting_ms") ?? null, operator(named, fields)] }, fields);
    }
    case "reset":
    case "forget":
      return control({ do: name, args: [operator(named, fields)] }, fields);
    case "restart":
      return control({ do: name }, fields);
  }
}

/** The caller, the cause, and how long the dependency asks to be left alone. */
function blame(caller: string, fields: Fields): { caller: string; cause: string; retryAfterMs: bigint | null } {
  return { caller, cause: fields.string("cause") ?? "", retryAfterMs: fields.whole("retry_after_ms") ?? null };
}

/** The operator of a control step: empty where the file names none. */
function operator(by: string | undefined, fields: Fields): { by: string; note: string } {
  return { by: by ?? "", note: fields.string("note") ?? "" };
}

function report(
  method: "report" | "reportTally" | "renew" | "release",
  args: unknown[],
  by: string,
  fields: Fields,
): { call: WireStep["call"]; expect: Expect } {
  const permit = fields.string("permit") ?? by;
  const wanted = fields.word("expect", ["applied", "stale", "error"]);
  return { call: { do: method, permit, args, times: times(fields) }, expect: { of: "report", wanted } };
}

function control(call: WireStep["call"], fields: Fields): { call: WireStep["call"]; expect: Expect } {
  return { call, expect: { of: "control", wanted: fields.word("expect", ["ok", "error"]) ?? "ok" } };
}

function times(fields: Fields): number {
  const times = fields.whole("times") ?? 1n;
  if (times < 1n || times > 1_000_000n) throw new JsonError(`"times" is ${times}; it must be 1 to 1,000,000`);
  return Number(times);
}
