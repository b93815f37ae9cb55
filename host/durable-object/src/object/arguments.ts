/**
 * Checks of arguments that come over RPC, from code that may not be typed. The component judges their values; these checks
 * refuse only the arguments that cannot be passed to it.
 */
import type * as wit from "../../generated/interfaces/halfopen-breaker-types.js";
import { BreakerError, invalidArgument, invalidPolicy } from "../contract/faults.js";
import { BLAME, checkedBlame, checkedReport } from "../contract/report.js";
import type { Blame, Mode } from "../contract/types.js";
import { U64_MAX, fields, isRecord, kind, oneOf, optionalU64, present, quote, u64 } from "../contract/values.js";

/** No longer text is valid anywhere, so the rest of it need not be copied into the component to be refused. */
const LONGEST_TEXT = 1024;
/** The length of a UUID. */
const LONGEST_SENDER = 36;

const MODES: readonly Mode[] = ["open", "closed", "none"];

/** The name of a dependency. */
export function dependencyName(value: unknown): string {
  const why = textFault(value);
  if (why === null) return (value as string).slice(0, LONGEST_TEXT);
  throw new BreakerError({ code: "invalid-dependency", message: `the name of the dependency is invalid: it ${why}` });
}

/** Any other text; one that is left out is empty. */
export function text(what: string, value: unknown): string {
  if (value === undefined) return "";
  const why = textFault(value);
  if (why !== null) throw invalidArgument(`${what} ${why}`);
  return (value as string).slice(0, LONGEST_TEXT);
}

function textFault(value: unknown): string | null {
  if (typeof value !== "string") return `must be a string, not ${kind(value)}`;
  return value.isWellFormed() ? null : "is not well-formed Unicode";
}

/** A permit: `EPOCH` or `EPOCH:TOKEN`. */
export function permit(value: unknown): wit.Permit {
  const parts = typeof value === "string" ? /^([0-9]{1,20})(?::([0-9]{1,20}))?$/.exec(value) : null;
  const [epoch, lease] = [parts?.[1], parts?.[2]].map((digits) => (digits === undefined ? undefined : BigInt(digits)));
  if (epoch === undefined || epoch > U64_MAX || (lease !== undefined && lease > U64_MAX)) {
    throw invalidArgument(`the permit must be "EPOCH" or "EPOCH:TOKEN", both whole numbers up to ${U64_MAX}, not ${kind(value)}`);
  }
  return present({ epoch, lease });
}

/** The mode of a force. */
export function mode(value: unknown): Mode {
  return oneOf("the mode", MODES, value);
}

/** The outcome of one call. */
export function report(value: unknown): wit.Report {
  const { outcome, tookMs, ...given } = checkedReport(value);
  return present({ outcome, took: optionalU64("tookMs", tookMs), ...blame(given) });
}

/** The outcomes of many calls. */
export function tally(value: unknown): wit.Tally {
  const known = ["successes", "slowSuccesses", "failures", "slowFailures", ...BLAME];
  const given = fields("the tally", value, known);
  const count = (key: string): bigint => (given[key] === undefined ? 0n : u64(`the tally's ${key}`, given[key]));
  return present({
    successes: count("successes"),
    slowSuccesses: count("slowSuccesses"),
    failures: count("failures"),
    slowFailures: count("slowFailures"),
    ...blame(checkedBlame("the tally's", given)),
  });
}

function blame({ caller = "", cause = "", retryAfterMs }: Blame) {
  return { caller, cause, retryAfter: optionalU64("retryAfterMs", retryAfterMs) };
}

/** A batch of outcomes. */
export function batch(value: unknown): { sender: string; number: number; settled: { permit: wit.Permit; tally: wit.Tally }[] } {
  const { sender, number, settled } = fields("the batch", value, ["sender", "number", "settled"]);
  if (!Number.isSafeInteger(number) || Number(number) < 1) {
    throw invalidArgument(`the batch's number must be a whole number from 1, not ${kind(number)}`);
  }
  if (!Array.isArray(settled)) throw invalidArgument(`the batch's settled must be an array, not ${kind(settled)}`);
  return {
    sender: text("the batch's sender", sender).slice(0, LONGEST_SENDER),
    number: Number(number),
    settled: settled.map((one) => {
      const settlement = fields("a settlement", one, ["permit", "tally"]);
      return { permit: permit(settlement["permit"]), tally: tally(settlement["tally"]) };
    }),
  };
}

/** The operator of an act; without one both texts are empty. */
export function operator(value: unknown = {}): wit.Operator {
  const { by, note } = fields("the operator", value, ["by", "note"]);
  return { by: text("the operator's name", by), note: text("the operator's note", note) };
}

/** The JSON text of a policy, unread: an object, or the text itself. */
export function policyText(value: unknown): string {
  if (typeof value === "string") return value;
  if (!isRecord(value)) throw notJson(`must be an object, not ${kind(value)}`);
  try {
    return JSON.stringify(value, function (this: Record<string, unknown>, key, replaced: unknown) {
      // Before `toJSON`: a Date is refused like a Map, and not read as a text.
      const given = this[key];
      const json = typeof given === "object" ? given === null || Array.isArray(given) || isRecord(given) : true;
      if (json && (typeof given !== "number" || Number.isFinite(given))) return replaced;
      throw notJson(`${quote(key)} must be a value of JSON, not ${kind(given)}`);
    });
  } catch (error) {
    throw error instanceof BreakerError ? error : notJson(`cannot be written as JSON: ${String(error).slice(0, 100)}`);
  }
}

function notJson(why: string): BreakerError {
  return invalidPolicy([{ field: "", why }]);
}
