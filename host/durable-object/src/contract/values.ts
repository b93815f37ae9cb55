/**
 * Values from code that may not be typed, for checks and for messages.
 *
 * @module
 */

/** The largest number of 64 bits. */
export const U64_MAX = (1n << 64n) - 1n;

/** Whether a value is a plain object: no array, no Map, no Date. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** A value as a message shows it: short, whatever it is. */
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
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : `a value of type ${nameOfType(value)}`;
  }
}

/** A text in quotation marks, cut short. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
}

function nameOfType(value: unknown): string {
  const name = typeof value === "object" && value !== null ? (value.constructor?.name ?? "") : "";
  return name === "" ? typeof value : name.slice(0, 40);
}
