/** The fields of an object, taken one by one. What is left at the end did not belong there. */
import { Fraction, type Json, JsonError, Whole } from "./json.js";

export class Fields {
  what: string;
  readonly #left: Map<string, Json>;

  constructor(what: string, value: Json) {
    if (!(value instanceof Map)) throw new JsonError(`${what} must be an object, got ${kind(value)}`);
    this.what = what;
    this.#left = new Map(value);
  }

  take(key: string): Json | undefined {
    const value = this.#left.get(key);
    this.#left.delete(key);
    return value;
  }

  string(key: string): string | undefined {
    return this.#taken(key, string);
  }

  whole(key: string): bigint | undefined {
    return this.#taken(key, whole);
  }

  word<T extends string>(key: string, words: readonly T[]): T | undefined {
    return this.#taken(key, (key, value) => word(key, value, words));
  }

  required<T>(key: string, value: T | undefined): T {
    if (value === undefined) throw new JsonError(`${this.what} lacks "${key}"`);
    return value;
  }

  rest(): Map<string, Json> {
    return this.#left;
  }

  finish(): void {
    for (const key of this.#left.keys()) throw new JsonError(`${this.what} has no key ${JSON.stringify(key)}`);
  }

  #taken<T>(key: string, read: (key: string, value: Json) => T): T | undefined {
    const value = this.take(key);
    return value === undefined ? undefined : read(key, value);
  }
}

export function string(key: string, value: Json): string {
  if (typeof value !== "string") throw wrongType(key, "a string", value);
  return value;
}

export function whole(key: string, value: Json): bigint {
  if (!(value instanceof Whole)) throw wrongType(key, "a whole number", value);
  return value.value;
}

export function boolean(key: string, value: Json): boolean {
  if (typeof value !== "boolean") throw wrongType(key, "true or false", value);
  return value;
}

/** One of a few words. */
export function word<T extends string>(key: string, value: Json, words: readonly T[]): T {
  const text = string(key, value);
  const known = words.find((word) => word === text);
  if (known === undefined) {
    const list = words.map((word) => `"${word}"`).join(", ");
    throw new JsonError(`"${key}" is ${JSON.stringify(text)}; it must be one of ${list}`);
  }
  return known;
}

export function wrongType(key: string, wanted: string, got: Json): JsonError {
  return new JsonError(`"${key}" must be ${wanted}, got ${kind(got)}`);
}

function kind(value: Json): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return "a boolean";
  if (typeof value === "string") return "a string";
  if (value instanceof Whole) return "a number";
  if (value instanceof Fraction) {
    return value.value < 0 ? "a negative number" : "a number that is not a whole one from 0 to 18446744073709551615";
  }
  return Array.isArray(value) ? "an array" : "an object";
}
