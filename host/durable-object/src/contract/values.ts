/** Checks of values from code that may not be typed, and values in messages. */
import { invalidArgument } from "./faults.js";

/** The largest number of 64 bits. */
export const U64_MAX = (1n << 64n) - 1n;
/** The longest time of a timer of the runtime, in ms. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Whether a value is a plain object: no array, no Map, no Date. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** The fields of an object, all of them known. */
export function fields(what: string, value: unknown, known: readonly string[]): Record<string, unknown> {
  if (!isRecord(value)) throw invalidArgument(`${what} must be an object, not ${kind(value)}`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalidArgument(`${what} has no ${quote(unknown)}; it has ${known.join(", ")}`);
  return value;
}

/** One of a few words. */
export function oneOf<T extends string>(what: string, words: readonly T[], value: unknown): T {
  const word = words.find((word) => word === value);
  if (word === undefined) throw invalidArgument(`${what} must be one of ${words.join(", ")}, not ${kind(value)}`);
  return word;
}

/** A length of time in whole ms, where one is given. */
export function ms(what: string, value: unknown, most = LONGEST_TIMER): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most) return Number(value);
  throw invalidArgument(`${what} must be a whole number from 1 to ${most}, not ${kind(value)}`);
}

/** A whole number from 0 to 2^64 - 1. */
export function u64(what: string, value: unknown): bigint {
  if (typeof value === "bigint" && value >= 0n && value <= U64_MAX) return value;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  const range = `from 0 to ${Number.MAX_SAFE_INTEGER}, or a bigint up to ${U64_MAX}`;
  throw invalidArgument(`${what} must be a whole number ${range}, not ${kind(value)}`);
}

/** A whole number from 0 to 2^64 - 1, or none. */
export function optionalU64(what: string, value: unknown): bigint | undefined {
  return value === undefined || value === null ? undefined : u64(what, value);
}

/** An object without the properties that are undefined. */
export function present<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}

/** A value as a message shows it: short, whatever it is. */
export function kind(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (value === null || ["number", "bigint", "boolean", "undefined"].includes(typeof value)) return String(value).slice(0, 40);
  if (Array.isArray(value)) return "an array";
  const name: unknown = typeof value === "object" ? value.constructor?.name : undefined;
  return `a value of type ${(typeof name === "string" ? name : typeof value).slice(0, 40)}`;
}

/** A text in quotation marks, cut short. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
}
