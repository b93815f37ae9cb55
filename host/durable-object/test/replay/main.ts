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

/** Each file has a namespace of its own, and most of its time is spent waiting for the disk. */
const AT_ONCE = 8;

const USAGE = "usage: npm run replay -- [--quiet] FILE... (\"-\" is the standard input)";

async function main(args: string[]): Promise<number> {
  const quiet = args.some((arg) => arg === "--quiet" || arg === "-q");
  const files = args.filter((arg) => arg !== "--quiet" && arg !== "-q");
  const unknown = files.find((file) => file.startsWith("-") && file !== "-");
  if (files.length === 0 || unknown !== undefined) {
    console.error(unknown === undefined ? USAGE : `unknown option ${unknown}\n${USAGE}`);
    return 64;
  }
  const workerd = await Workerd.start();
  const sum = { hold: 0, fail: 0, notRun: 0 };
  let code = 0;
  try {
    for await (const came of inTurn(files, (file) => one(workerd, file, quiet))) {
      for (const line of came.out) console.log(line);
      for (const line of came.err) console.error(line);
      code = Math.max(code, came.code);
      sum[came.kind] += 1;
    }
  } finally {
    await workerd.stop();
  }
  const { hold, fail, notRun } = sum;
  const rest = notRun > 0 ? `, ${notRun} could not be run` : "";
  console.log(`${files.length} ${files.length === 1 ? "file" : "files"}: ${hold} hold, ${fail} fail${rest}`);
  return code;
}

/** Works on several at a time, and gives what came of them in their order. */
async function* inTurn<T, R>(items: T[], work: (item: T) => Promise<R>): AsyncGenerator<R> {
  const begun: Promise<R>[] = [];
  for (let next = 0; next < items.length; next++) {
    while (begun.length < items.length && begun.length < next + AT_ONCE) begun.push(work(items[begun.length] as T));
    yield await (begun[next] as Promise<R>);
  }
}

/** What a file came to. */
interface Came {
  kind: "hold" | "fail" | "notRun";
  code: number;
  out: string[];
  err: string[];
}

async function one(workerd: Workerd, file: string, quiet: boolean): Promise<Came> {
  const out: string[] = [];
  const show = quiet ? () => {} : (line: string) => void out.push(escaped(`${file}: ${line}`));
  try {
    const { failures } = await run(workerd, await readFile(file === "-" ? "/dev/stdin" : file), show);
    const err = failures.map(({ line, wanted, got }) => escaped(`${file}: line ${line}: wanted ${wanted}, got ${got}`));
    return failures.length > 0 ? { kind: "fail", code: 1, out, err } : { kind: "hold", code: 0, out, err };
  } catch (error) {
    const err = [escaped(`${file}: ${error instanceof Error ? error.message : String(error)}`)];
    return { kind: "notRun", code: codeOf(error), out, err };
  }
}

function codeOf(error: unknown): number {
  if (error instanceof Malformed) return 2;
  // What the system said of a file, and not of workerd.
  return !(error instanceof RunFailed) && error instanceof Error && "syscall" in error ? 66 : 70;
}

/** Names come from files: none of them is to steer a terminal. */
function escaped(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

process.exitCode = await main(process.argv.slice(2));
