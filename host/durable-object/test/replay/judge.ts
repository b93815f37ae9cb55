/** Compares what came of the steps of a scenario with what is expected of them. */
import type { Decision, Inspection, Receipt, Reply } from "@halfopen/durable-object";

import type { WireAnswer } from "../worker/wire.js";
import { KINDS, type Kind, type LastFailure, NUMBERS, type OfAcquire, type OfField, fits, shownAmount, shownOfAcquire } from "./expect.js";
import type { Step } from "./parse.js";

/** An expectation that does not hold. */
export interface Failure {
  line: number;
  wanted: string;
  got: string;
}

/** The storage or the object failed: the run says nothing about the expectations. */
export class RunFailed extends Error {}

/** What came of a step, in words, and what of it does not hold. */
export function judge(step: Step, answer: WireAnswer): { answers: string[]; failures: Failure[] } {
  const failures: Failure[] = [];
  const failed = (wanted: string, got: string): void => void failures.push({ line: step.line, wanted, got });
  const answers = judged(step, answer.replies, failed);
  if (step.state !== undefined && answer.after !== null) {
    const after = checked(answer.after as Reply<Inspection>);
    if (!after.ok) failed(`state ${step.state}`, after.fault.message);
    else if (after.value.state !== step.state) failed(`state ${step.state}`, `state ${after.value.state}`);
  }
  return { answers, failures };
}

type Failed = (wanted: string, got: string) => void;

function judged({ expect, wire }: Step, replies: Reply<unknown>[] | null, failed: Failed): string[] {
  switch (expect.of) {
    case "acquire":
      return acquire((replies ?? []) as Reply<Decision>[], expect.wanted, failed);
    case "report": {
      if (replies !== null) return report(replies as Reply<Receipt>[], expect.wanted, failed);
      const name = "permit" in wire.call ? wire.call.permit : "";
      const got = `no permit "${name}" for "${wire.dependency}": no acquire has got one`;
      failed(expect.wanted ?? "an answer", got);
      return [got];
    }
    case "inspect": {
      const reply = checked((replies ?? [])[0] as Reply<Inspection>);
      const wanted = expect.wanted;
      if (!reply.ok) {
        if (wanted === undefined || !("refused" in wanted)) failed("an inspection", reply.fault.message);
        return [reply.fault.message];
      }
      if (wanted !== undefined && "refused" in wanted) failed("error", "an inspection");
      if (wanted !== undefined && "fields" in wanted) inspect(reply.value, wanted.fields, failed);
      return [shownFields(reply.value)];
    }
    case "control": {
      const reply = checked((replies ?? [])[0] as Reply<Receipt | null>);
      const got = reply.ok ? `ok${reply.value === null ? "" : `; ${reply.value.state}`}` : reply.fault.message;
      if (reply.ok !== (expect.wanted === "ok")) failed(expect.wanted, got);
      return [got];
    }
  }
}

function acquire(replies: Reply<Decision>[], wanted: OfAcquire | undefined, failed: Failed): string[] {
  const counts: Record<Kind, bigint> = { proceed: 0n, probe: 0n, defer: 0n };
  const answers = replies.map((reply) => {
    checked(reply);
    if (reply.ok) counts[reply.value.kind] += 1n;
    return shownDecision(reply);
  });
  const shown = wanted === undefined ? "an answer" : shownOfAcquire(wanted);
  const wrong = replies.findIndex((reply) => !fitsAcquire(reply, wanted));
  if (wrong !== -1) {
    failed(shown, `${answers[wrong]}${replies.length === 1 ? "" : ` (call ${wrong + 1} of ${replies.length})`}`);
  } else if (wanted !== undefined && "counts" in wanted) {
    const holds = KINDS.every((kind) => wanted.counts[kind] === undefined || fits(wanted.counts[kind], counts[kind]));
    if (!holds) failed(shown, KINDS.map((kind) => `${kind} ${counts[kind]}`).join(", "));
  }
  return answers;
}

/** Whether one answer fits; that the numbers of each kind do is judged after all of them. */
function fitsAcquire(reply: Reply<Decision>, wanted: OfAcquire | undefined): boolean {
  if (!reply.ok) return wanted !== undefined && "refused" in wanted;
  if (wanted === undefined || "counts" in wanted) return true;
  if ("refused" in wanted) return false;
  if ("each" in wanted) return reply.value.kind === wanted.each;
  return reply.value.kind === "defer" && fits(wanted.deferFor, BigInt(reply.value.retryAfterMs));
}

function report(replies: Reply<Receipt>[], wanted: string | undefined, failed: Failed): string[] {
  const answers = replies.map((reply) => shownReceipt(checked(reply)));
  const wrong = replies.findIndex((reply, index) => {
    if (!reply.ok) return wanted !== "error";
    // What is expected speaks of the last.
    if (index < replies.length - 1 || wanted === undefined) return wanted === "error";
    return wanted !== (reply.value.applied ? "applied" : "stale");
  });
  if (wrong !== -1) {
    const which = replies.length === 1 ? "" : ` (call ${wrong + 1} of ${replies.length})`;
    failed(wanted ?? "an answer", `${answers[wrong]}${which}`);
  }
  return answers;
}

function inspect(shown: Inspection, wanted: Map<string, OfField>, failed: Failed): void {
  const got = fieldsOf(shown);
  for (const [key, value] of wanted) {
    if (typeof value === "object" && !Array.isArray(value)) {
      lastFailure(shown, value, failed);
      continue;
    }
    const is = got[key];
    const holds = Array.isArray(value) ? fits(value, BigInt(Number(is))) : is === value;
    if (!holds) failed(`${key} ${Array.isArray(value) ? shownAmount(value) : value}`, `${key} ${is}`);
  }
}

function lastFailure({ last_failure }: Inspection, { lastFailure: wanted }: LastFailure, failed: Failed): void {
  const keys = ["caller", "cause"] as const;
  const holds =
    wanted === null || last_failure === null
      ? wanted === last_failure
      : keys.every((key) => wanted[key] === undefined || wanted[key] === last_failure[key]);
  if (!holds) failed(`last_failure ${JSON.stringify(wanted)}`, `last_failure ${JSON.stringify(last_failure)}`);
}

function fieldsOf(shown: Inspection): Record<string, string | number | boolean> {
  return {
    state: shown.state,
    override: shown.override === null ? "none" : `forced-${shown.override.mode}`,
    probe_due: shown.probe_due,
    leases: shown.leases.length,
    successes: shown.successes,
    level: shown.level,
    calls: shown.calls,
    failures: shown.failures,
    slow: shown.slow,
    failures_in_row: shown.failures_in_row,
  };
}

function shownFields(shown: Inspection): string {
  const fields = fieldsOf(shown);
  return ["state", "override", "probe_due", ...NUMBERS].map((key) => `${key} ${fields[key]}`).join(", ");
}

function shownDecision(reply: Reply<Decision>): string {
  if (!reply.ok) return `error: ${reply.fault.message}`;
  const { value } = reply;
  switch (value.kind) {
    case "proceed":
      return `proceed; epoch ${value.permit}`;
    case "probe":
      return `probe; epoch ${value.permit.split(":")[0]}, token ${value.token}, lease ${value.expiresInMs} ms`;
    case "defer":
      return `defer for ${value.retryAfterMs} ms; ${value.reason}`;
  }
}

function shownReceipt(reply: Reply<Receipt>): string {
  if (!reply.ok) return `error: ${reply.fault.message}`;
  const { stale, state } = reply.value;
  return stale === null ? `applied; ${state}` : `stale, ${stale}; ${state}`;
}

/** An answer that the expectations can judge: the component gave it, or refused. */
function checked<T>(reply: Reply<T>): Reply<T> {
  if (!reply.ok && (reply.fault.code === "storage" || reply.fault.code === "component")) {
    throw new RunFailed(reply.fault.message);
  }
  return reply;
}
