/** What a step expects, and how it reads in a report. */
import { Fields, boolean, word, wrongType } from "./fields.js";
import { type Json, JsonError, Whole } from "./json.js";

/** A number, or a range with both ends included. */
export type Amount = [low: bigint, high: bigint];

export const KINDS = ["proceed", "probe", "defer"] as const;
export type Kind = (typeof KINDS)[number];
export const STATES = ["closed", "open", "half-open"] as const;
const OVERRIDES = ["none", "forced-open", "forced-closed"] as const;
export const NUMBERS = ["leases", "successes", "level", "calls", "failures", "slow", "failures_in_row"] as const;

export type OfAcquire =
  | { each: Kind }
  | { deferFor: Amount }
  | { counts: Partial<Record<Kind, Amount>> }
  | { refused: true };

/** The last failure: none, or the keys that are named. */
export type LastFailure = { lastFailure: { caller?: string; cause?: string } | null };

export type OfField = string | boolean | Amount | LastFailure;

export type OfInspect = { fields: Map<string, OfField> } | { refused: true };

export function fits([low, high]: Amount, number: bigint): boolean {
  return low <= number && number <= high;
}

export function shownAmount([low, high]: Amount): string {
  return low === high ? String(low) : `[${low}, ${high}]`;
}

export function ofAcquire(value: Json): OfAcquire {
  if (typeof value === "string") {
    const text = word("expect", value, [...KINDS, "error"] as const);
    return text === "error" ? { refused: true } : { each: text };
  }
  if (!(value instanceof Map)) throw wrongType("expect", "a string or an object", value);
  const fields = new Fields("the expect of an acquire step", value);
  const wait = fields.take("defer_ms");
  let expectation: OfAcquire;
  if (wait !== undefined) {
    expectation = { deferFor: amount("defer_ms", wait) };
  } else {
    const counts: Partial<Record<Kind, Amount>> = {};
    for (const kind of KINDS) {
      const count = fields.take(kind);
      if (count !== undefined) counts[kind] = amount(kind, count);
    }
    expectation = { counts };
  }
  fields.finish();
  return expectation;
}

export function ofInspect(value: Json): OfInspect {
  if (typeof value === "string") {
    word("expect", value, ["error"]);
    return { refused: true };
  }
  if (!(value instanceof Map)) throw wrongType("expect", "an object", value);
  const fields = new Map<string, OfField>();
  for (const [key, wanted] of value) fields.set(key, field(key, wanted));
  return { fields };
}

function field(key: string, wanted: Json): OfField {
  if (key === "state") return word(key, wanted, STATES);
  if (key === "override") return word(key, wanted, OVERRIDES);
  if (key === "probe_due") return boolean(key, wanted);
  if (key === "last_failure") return { lastFailure: wanted === null ? null : lastFailure(wanted) };
  if (NUMBERS.some((name) => name === key)) return amount(key, wanted);
  throw new JsonError(`inspect shows no field ${JSON.stringify(key)}`);
}

function lastFailure(wanted: Json): { caller?: string; cause?: string } {
  if (!(wanted instanceof Map)) throw wrongType("last_failure", "null or an object", wanted);
  const fields = new Fields('"last_failure"', wanted);
  const [caller, cause] = [fields.string("caller"), fields.string("cause")];
  fields.finish();
  return { ...(caller === undefined ? {} : { caller }), ...(cause === undefined ? {} : { cause }) };
}

function amount(key: string, value: Json): Amount {
  if (value instanceof Whole) return [value.value, value.value];
  if (!Array.isArray(value)) throw wrongType(key, "a whole number or [low, high]", value);
  const [low, high] = value;
  if (value.length !== 2 || !(low instanceof Whole) || !(high instanceof Whole)) {
    throw new JsonError(`"${key}" must be a whole number or [low, high], with two whole numbers in the brackets`);
  }
  if (low.value > high.value) {
    throw new JsonError(`"${key}" is [${low.value}, ${high.value}], whose low end is above its high end`);
  }
  return [low.value, high.value];
}

export function shownOfAcquire(expect: OfAcquire): string {
  if ("each" in expect) return expect.each;
  if ("deferFor" in expect) return `defer for ${shownAmount(expect.deferFor)} ms`;
  if ("refused" in expect) return "error";
  return KINDS.flatMap((kind) => (expect.counts[kind] ? [`${kind} ${shownAmount(expect.counts[kind])}`] : [])).join(", ");
}
