/** Checks of reports: in the client before an outcome is counted, and in the object. */
import { invalidArgument } from "./faults.js";
import type { Blame, Outcome, Report } from "./types.js";
import { fields, kind, oneOf, optionalU64, present } from "./values.js";

const OUTCOMES: readonly Outcome[] = ["success", "failure", "timeout", "ignored"];
/** A longer text is of no use, so the rest of it need not travel: the component keeps 128 bytes. */
const LONGEST_TEXT = 1024;
/** The keys of {@link Blame}. */
export const BLAME = ["caller", "cause", "retryAfterMs"];

/**
 * The report of one call.
 *
 * @throws BreakerError
 */
export function checkedReport(value: unknown): Report {
  const { outcome, tookMs, ...blame } = fields("the report", value, ["outcome", "tookMs", ...BLAME]);
  const took = optionalU64("the report's tookMs", tookMs);
  return present({ outcome: oneOf("the outcome", OUTCOMES, outcome), tookMs: took, ...checkedBlame("the report's", blame) });
}

/** The blame of a failure. Text is mended and not refused: what an error says must not cost its report. */
export function checkedBlame(whose: string, { caller, cause, retryAfterMs }: Record<string, unknown>): Blame {
  return {
    caller: mended(`${whose} caller`, caller),
    cause: mended(`${whose} cause`, cause),
    retryAfterMs: optionalU64(`${whose} retryAfterMs`, retryAfterMs),
  };
}

function mended(what: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalidArgument(`${what} must be a string, not ${kind(value)}`);
  return value.slice(0, LONGEST_TEXT).toWellFormed();
}
