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

async function main(args: string[]): Promise<number> {
  const quiet = args.some((arg) => arg === "--quiet" || arg === "-q");
  const files = args.filter((arg) => arg !== "--quiet" && arg !== "-q");
  const unknown = files.find((file) => file.startsWith("-") && file !== "-");
  if (files.length === 0 || unknown !== undefined) {
    console.error(unknown === undefined ? USAGE : `unknown option ${unknown}\n${USAGE}`);
    return 64;
  }
  const workerd = await Workerd.start();
  let [code, steps, failed] = [0, 0, 0];
  try {
    for (const file of files) {
      const came = await one(workerd, file, quiet);
      code = Math.max(code, came.code);
      steps += came.steps;
      failed += came.failed;
    }
  } finally {
    await workerd.stop();
  }
  console.log(`${files.length} files, ${steps} steps, ${failed} expectations do not hold`);
  return code;
}

async function one(workerd: Workerd, file: string, quiet: boolean): Promise<{ code: number; steps: number; failed: number }> {
  const show = quiet ? () => {} : (line: string) => console.log(`${file}: ${line}`);
  try {
    const bytes = await readFile(file === "-" ? "/dev/stdin" : file);
    const { steps, failures } = await run(workerd, bytes, show);
    for (const { line, wanted, got } of failures) console.log(`${file}: line ${line}: wanted ${wanted}, got ${got}`);
    return { code: failures.length > 0 ? 1 : 0, steps, failed: failures.length };
  } catch (error) {
    console.error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    if (error instanceof Malformed) return { code: 2, steps: 0, failed: 0 };
    if (error instanceof RunFailed) return { code: 70, steps: 0, failed: 0 };
    if (error instanceof Error && "syscall" in error) return { code: 66, steps: 0, failed: 0 };
    return { code: 70, steps: 0, failed: 0 };
  }
}

process.exitCode = await main(process.argv.slice(2));
