/**
 * Takes arguments as they come over RPC, from code that may not be typed. What the component judges is left to it; here
 * only what it could not be handed is refused.
 *
 * @module
 */
import type * as wit from "../generated/interfaces/halfopen-breaker-types.js";
import { BreakerError, invalidArgument } from "./faults.js";
import type { Mode, Outcome } from "./types.js";

/** The largest number of 64 bits. */
export const U64_MAX = (1n << 64n) - 1n;

/** No text that is longer is valid anywhere; the rest need not be copied into the component to be refused. */
const LONGEST_TEXT = 1024;

const OUTCOMES: readonly Outcome[] = ["success", "failure", "timeout", "ignored"];
const MODES: readonly Mode[] = ["open", "closed", "none"];

/** The name of a dependency. */
export function dependencyName(value: unknown): string {
  const why = textFault(value);
  if (why !== null) {
    throw new BreakerError({ code: "invalid-dependency", message: `the name of the dependency is invalid: it ${why}` });
  }
  return (value as string).slice(0, LONGEST_TEXT);
}

/** Any other text. */
export function text(what: string, value: unknown): string {
  const why = textFault(value);
  if (why !== null) throw invalidArgument(`${what} ${why}`);
  return (value as string).slice(0, LONGEST_TEXT);
}

function textFault(value: unknown): string | null {
  if (typeof value !== "string") return `must be a string, not ${kind(value)}`;
  return value.isWellFormed() ? null : "is not well-formed Unicode";
}

/** A whole number from 0 to 2^64 - 1. */
export function u64(what: string, value: unknown): bigint {
  if (typeof value === "bigint" && value >= 0n && value <= U64_MAX) return value;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw invalidArgument(
    `${what} must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, or a bigint up to ${U64_MAX}, not ${kind(value)}`,
  );
}

/** The same, or nothing. */
export function optionalU64(what: string, value: unknown): bigint | undefined {
  return value === undefined || value === null ? undefined : u64(what, value);
}

/** A permit: `EPOCH` or `EPOCH:TOKEN`. */
export function permit(value: unknown): wit.Permit {
  const parts = typeof value === "string" ? /^([0-9]{1,20})(?::([0-9]{1,20}))?$/.exec(value) : null;
  const [epoch, lease] = [parts?.[1], parts?.[2]].map((digits) => (digits === undefined ? undefined : BigInt(digits)));
  if (epoch === undefined || epoch > U64_MAX || (lease !== undefined && lease > U64_MAX)) {
    throw invalidArgument(
      `the permit must be "EPOCH" or "EPOCH:TOKEN", both whole numbers up to ${U64_MAX}, not ${kind(value)}`,
    );
  }
  return lease === undefined ? { epoch } : { epoch, lease };
}

/** The outcome of a call. */
export function outcome(value: unknown): Outcome {
  return oneOf("the outcome", OUTCOMES, value);
}

/** What is forced. */
export function mode(value: unknown): Mode {
  return oneOf("the mode", MODES, value);
}

/** Outcomes of many calls. */
export function tally(value: unknown): wit.Tally {
  if (!isRecord(value)) throw invalidArgument(`the tally must be an object, not ${kind(value)}`);
  const tally = { successes: 0n, slowSuccesses: 0n, failures: 0n, slowFailures: 0n };
  for (const [key, count] of Object.entries(value)) {
    if (!Object.hasOwn(tally, key)) {
      throw invalidArgument(`the tally has no ${quote(key)}; it has ${Object.keys(tally).join(", ")}`);
    }
    if (count !== undefined) tally[key as keyof typeof tally] = u64(`the tally's ${key}`, count);
  }
  return tally;
}

/** Whether something is an object with keys. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What was given, for a message: short, whatever it is. */
export function kind(value: unknown): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
    case "bigint":
    case "boolean":
    case "undefined":
      return String(value).slice(0, 40);
    default:
      return value === null ? "null" : Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
  }
}

function quote(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
}

function oneOf<T extends string>(what: string, words: readonly T[], value: unknown): T {
  const word = words.find((word) => word === value);
  if (word === undefined) throw invalidArgument(`${what} must be one of ${words.join(", ")}, not ${kind(value)}`);
  return word;
}
