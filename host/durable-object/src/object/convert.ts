/** The component's answers as callers see them. */
import type * as wit from "../../generated/interfaces/halfopen-breaker-types.js";
import type { Admission, Decision, Receipt } from "../contract/types.js";

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
export function decision({ tag, val }: wit.Decision, longest: () => number): Decision {
  switch (tag) {
    case "proceed":
      return { kind: tag, ...admission(val) };
    case "probe":
      return {
        kind: tag,
        permit: permit(val.permit),
        token: String(val.permit.lease ?? ""),
        expiresInMs: number(val.expiresIn),
        longestMs: longest(),
        slowerThanMs: optionalNumber(val.slowerThan),
      };
    case "defer":
      return {
        kind: tag,
        retryAfterMs: number(val.retryAfter),
        spreadMs: number(val.spread),
        reason: word(val.reason),
        freshForMs: number(val.freshFor),
        admission: val.admission === undefined ? null : admission(val.admission),
      };
  }
}

function admission({ permit: held, freshFor, percent, slowerThan }: wit.Admission): Admission {
  return { permit: permit(held), freshForMs: number(freshFor), percent, slowerThanMs: optionalNumber(slowerThan) };
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
