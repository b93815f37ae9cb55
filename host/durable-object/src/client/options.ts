/** Options of a client, and their checks: code that is not typed gets an error at once, and not at its first outage. */
import { invalidArgument } from "../contract/faults.js";
import { fields, kind, ms, oneOf, present } from "../contract/values.js";
import { LONGEST_HOLD } from "./background.js";
import type { Place } from "./rpc.js";

const CHOICES = ["fail-closed", "fail-open", "last-known"] as const;
const HINTS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "apac-ne", "apac-se", "oc", "afr", "me"] as const;
const JURISDICTIONS = ["eu", "fedramp", "fedramp-high", "us"] as const;

/**
 * The answer to an acquire when the object is out of reach, or fails: its storage, its component, a record of a later
 * release, a default policy that is not valid. Each outage is logged as an error.
 *
 * - `fail-closed`, the default, defers with the reason `unreachable`.
 * - `fail-open` admits. Nothing of such a call is recorded.
 * - `last-known` goes by this isolate's last answer: it admits, unrecorded, or defers for the rest; without one it defers.
 *   It never probes.
 */
export type WhenUnreachable = (typeof CHOICES)[number];

/** Options of a client. */
export interface BreakerOptions extends Place {
  /** Breakers of different namespaces see nothing of each other. Default `default`. */
  namespace?: string | undefined;
  /** The caller that leases and failures are kept with, as `inspect` shows it; up to 128 bytes. Default `worker`. */
  caller?: string | undefined;
  /** The operator of acts by hand, where the act names none; up to 128 bytes. Default none. */
  operator?: string | undefined;
  /** The answer to an acquire when the object is out of reach. Default `fail-closed`. */
  whenUnreachable?: WhenUnreachable | undefined;
  /** The time that the object has to answer, in ms. Default 2,000. */
  answerWithinMs?: number | undefined;
  /** The time limit of a call in ms, where the call names none. Default 25,000. */
  timeoutMs?: number | undefined;
  /** Rewrites the cause of each failure before it leaves the isolate; `() => ""` leaves it out. An error's text may hold secrets. */
  redact?: ((cause: string) => string) | undefined;
  /** Whether the isolate acts on its cached decision for the time that the policy's `fresh_ms` allows. Default true. */
  localAdmission?: boolean | undefined;
}

/** Options with their defaults. */
export type CheckedOptions = Pick<BreakerOptions, Optional> & {
  [K in Exclude<keyof BreakerOptions, Optional>]-?: Exclude<BreakerOptions[K], undefined>;
};
type Optional = keyof Place | "operator" | "redact";

/** The longest time that an object has to answer, in ms: a request that its client has left ends 30 seconds later. */
const LONGEST_ANSWER = 20_000;
const LONGEST_TEXT = 128;

/** The options of a list of dependencies. */
const OF_A_LIST = ["namespace", "locationHint", "jurisdiction"];
const OF_A_BREAKER = [
  ...OF_A_LIST,
  ...["caller", "operator", "whenUnreachable", "answerWithinMs", "timeoutMs", "redact", "localAdmission"],
];

/**
 * Checks options, and fills in the defaults.
 *
 * @throws BreakerError
 */
export function checkedOptions(given: unknown, of: "a breaker" | "a list" = "a breaker"): CheckedOptions {
  const options = fields(`the options of ${of}`, given, of === "a list" ? OF_A_LIST : OF_A_BREAKER);
  const { whenUnreachable = "fail-closed", localAdmission = true, redact, locationHint, jurisdiction } = options;
  if (typeof localAdmission !== "boolean") {
    throw invalidArgument(`localAdmission must be true or false, not ${kind(localAdmission)}`);
  }
  if (redact !== undefined && typeof redact !== "function") throw invalidArgument(`redact must be a function, not ${kind(redact)}`);
  return {
    namespace: text("namespace", options["namespace"]) ?? "default",
    caller: text("caller", options["caller"], LONGEST_TEXT) ?? "worker",
    operator: text("operator", options["operator"], LONGEST_TEXT),
    whenUnreachable: oneOf("whenUnreachable", CHOICES, whenUnreachable),
    answerWithinMs: ms("answerWithinMs", options["answerWithinMs"], LONGEST_ANSWER) ?? 2_000,
    timeoutMs: ms("timeoutMs", options["timeoutMs"]) ?? LONGEST_HOLD,
    localAdmission,
    redact: redact as BreakerOptions["redact"],
    ...present({
      locationHint: locationHint === undefined ? undefined : oneOf("locationHint", HINTS, locationHint),
      jurisdiction: jurisdiction === undefined ? undefined : oneOf("jurisdiction", JURISDICTIONS, jurisdiction),
    }),
  };
}

function text(what: string, value: unknown, most = Number.POSITIVE_INFINITY): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalidArgument(`${what} must be a string, not ${kind(value)}`);
  if (!value.isWellFormed()) throw invalidArgument(`${what} is not well-formed Unicode`);
  const { length } = new TextEncoder().encode(value);
  if (length > most) throw invalidArgument(`${what} must be at most ${most} bytes, not ${length}`);
  return value;
}
