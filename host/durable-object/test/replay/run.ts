/** Runs replay files against real Durable Objects. */
import { randomUUID } from "node:crypto";

import type { Reply } from "@halfopen/durable-object";

import type { Workerd } from "../support/workerd.js";
import type { WireAnswer } from "../worker/wire.js";
import { type Failure, RunFailed, judge } from "./judge.js";
import { Malformed, type Scenario, parse } from "./parse.js";

export interface Report {
  steps: number;
  failures: Failure[];
}

/** Runs a file in an empty namespace of its own, and shows every answer. */
export async function run(workerd: Workerd, bytes: Uint8Array, show: (line: string) => void): Promise<Report> {
  const scenario: Scenario = parse(bytes);
  const { policy, seed, steps } = scenario;
  const { opened, answers } = await workerd.post<{ opened: Reply<unknown>; answers: WireAnswer[] }>("replay", {
    namespace: `replay-${randomUUID()}`,
    policy,
    seed,
    steps: steps.map(({ wire }) => wire),
  });
  if (!opened.ok && opened.fault.code === "invalid-policy") throw new Malformed(1, opened.fault.message);
  const failures: Failure[] = [];
  steps.forEach((step, index) => {
    const answer = answers[index];
    if (answer === undefined) throw new RunFailed(opened.ok ? "an answer is missing" : opened.fault.message);
    const judged = judge(step, answer);
    for (const text of judged.answers) {
      show(`line ${step.line}: at ${step.wire.at}: ${step.name} ${step.wire.dependency} by ${step.by}: ${text}`);
    }
    failures.push(...judged.failures);
  });
  return { steps: steps.length, failures };
}
