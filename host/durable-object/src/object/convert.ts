/**
 * The component's answers as callers see them.
 *
 * @module
 */
import type * as wit from "../../generated/interfaces/halfopen-breaker-types.js";
import type { Admission, Decision, Deferral, Receipt } from "../contract/types.js";

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

/** A number of 64 bits as a number of JavaScript; a larger one becomes 2^53 - 1, which is 285,000 years in ms. */
export function number(value: bigint): number {
  return Number(value > LARGEST ? LARGEST : value);
}

function optionalNumber(value: bigint | undefined): number | null {
  return value === undefined ? null : number(value);
}

/** The word for a case: its tag, or the word of a later version. */
export function word<V extends { tag: string; val?: string }>(variant: V): string {
  return variant.tag === "other" && variant.val !== undefined ? variant.val : variant.tag;
}

/** A permit as text. */
export function permit({ epoch, lease }: wit.Permit): string {
  return lease === undefined ? `${epoch}` : `${epoch}:${lease}`;
}

/** An answer to `acquire`; `longest` gives the longest time of a probe's lease. */
export function decision(decision: wit.Decision, longest: () => number): Decision {
  switch (decision.tag) {
    case "proceed":
      return admitted(decision.val);
    case "probe": {
      const { permit: held, expiresIn, slowerThan } = decision.val;
      return {
        kind: "probe",
        permit: permit(held),
        token: String(held.lease ?? ""),
        expiresInMs: number(expiresIn),
        longestMs: longest(),
        slowerThanMs: optionalNumber(slowerThan),
      };
    }
    case "defer":
      return { kind: "defer", ...deferral(decision.val) };
  }
}

/** The answer that healthy traffic gets, put together without a copy. */
function admitted({ permit: held, freshFor, percent, slowerThan }: wit.Admission): Decision {
  return {
    kind: "proceed",
    permit: permit(held),
    freshForMs: number(freshFor),
    percent,
    slowerThanMs: optionalNumber(slowerThan),
  };
}

function admission({ permit: held, freshFor, percent, slowerThan }: wit.Admission): Admission {
  return { permit: permit(held), freshForMs: number(freshFor), percent, slowerThanMs: optionalNumber(slowerThan) };
}

function deferral(deferral: wit.Deferral): Deferral {
  return {
    retryAfterMs: number(deferral.retryAfter),
    spreadMs: number(deferral.spread),
    reason: word(deferral.reason),
    freshForMs: number(deferral.freshFor),
    admission: deferral.admission === undefined ? null : admission(deferral.admission),
  };
}

/** A receipt, `now` by the object's clock. */
export function receipt({ verdict, state, nextDue }: wit.Receipt, now: bigint): Receipt {
  return {
    applied: verdict.tag === "applied",
    stale: verdict.tag === "stale" ? word(verdict.val) : null,
    state,
    nextDue: optionalNumber(nextDue),
    dueInMs: nextDue === undefined ? null : number(nextDue > now ? nextDue - now : 0n),
  };
}
