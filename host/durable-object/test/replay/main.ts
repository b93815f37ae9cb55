/**
 * `npm run replay -- FILE...`: runs replay files through the component in real Durable Objects. Ends with 0 when all
 * expectations hold, 1 when one does not, 2 for a file that is not well-formed; of several files the highest. Other codes
 * are those of the program `halfopen`: 64 usage, 66 a file that cannot be read, 70 the object failed.
 */
import { readFile } from "node:fs/promises";

import { Workerd } from "../support/workerd.js";
import { RunFailed } from "./judge.js";
import { Malformed } from "./parse.js";
import { run } from "./run.js";

const USAGE = "usage: npm run replay -- [--quiet] FILE... (\"-\" is the standard input)";

interface Sum {
  code: number;
  hold: number;
  fail: number;
  notRun: number;
}

async function main(args: string[]): Promise<number> {
  const quiet = args.some((arg) => arg === "--quiet" || arg === "-q");
  const files = args.filter((arg) => arg !== "--quiet" && arg !== "-q");
  const unknown = files.find((file) => file.startsWith("-") && file !== "-");
  if (files.length === 0 || unknown !== undefined) {
    console.error(unknown === undefined ? USAGE : `unknown option ${unknown}\n${USAGE}`);
    return 64;
  }
  const workerd = await Workerd.start();
  const sum: Sum = { code: 0, hold: 0, fail: 0, notRun: 0 };
  try {
    for (const file of files) sum.code = Math.max(sum.code, await one(workerd, file, quiet, sum));
  } finally {
    await workerd.stop();
  }
  const { hold, fail, notRun } = sum;
  const rest = notRun > 0 ? `, ${notRun} could not be run` : "";
  console.log(`${files.length} ${files.length === 1 ? "file" : "files"}: ${hold} hold, ${fail} fail${rest}`);
  return sum.code;
}

async function one(workerd: Workerd, file: string, quiet: boolean, sum: Sum): Promise<number> {
  const show = quiet ? () => {} : (line: string) => console.log(escaped(`${file}: ${line}`));
  try {
    const { failures } = await run(workerd, await readFile(file === "-" ? "/dev/stdin" : file), show);
    for (const { line, wanted, got } of failures) {
      console.error(escaped(`${file}: line ${line}: wanted ${wanted}, got ${got}`));
    }
    sum[failures.length > 0 ? "fail" : "hold"] += 1;
    return failures.length > 0 ? 1 : 0;
  } catch (error) {
    sum.notRun += 1;
    console.error(escaped(`${file}: ${error instanceof Error ? error.message : String(error)}`));
    if (error instanceof Malformed) return 2;
    // What the system said of a file, and not of workerd.
    return !(error instanceof RunFailed) && error instanceof Error && "syscall" in error ? 66 : 70;
  }
}

/** Names come from files: none of them is to steer a terminal. */
function escaped(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

process.exitCode = await main(process.argv.slice(2));
