/**
 * From the component's answers to what callers see.
 *
 * @module
 */
import type * as wit from "../generated/interfaces/halfopen-breaker-types.js";
import type { Admission, Decision, Deferral, Inspection, Receipt, Transition } from "./types.js";

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

/** A number of 64 bits as one of JavaScript's; what does not fit becomes the largest that does, 285,000 years in ms. */
export function number(value: bigint): number {
  return Number(value > LARGEST ? LARGEST : value);
}

function optionalNumber(value: bigint | undefined): number | null {
  return value === undefined ? null : number(value);
}

/** The word for a case: its tag, or what a later version calls it. */
export function word<V extends { tag: string; val?: string }>(variant: V): string {
  return variant.tag === "other" && variant.val !== undefined ? variant.val : variant.tag;
}

/** A permit as text. */
export function permit({ epoch, lease }: wit.Permit): string {
  return lease === undefined ? `${epoch}` : `${epoch}:${lease}`;
}

/** An answer to `acquire`. */
export function decision(decision: wit.Decision): Decision {
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
        slowerThanMs: optionalNumber(slowerThan),
      };
    }
    case "defer":
      return { kind: "defer", ...deferral(decision.val) };
  }
}

/** The answer that healthy traffic gets, so it is put together in one go. */
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

/** What a report came to. */
export function receipt({ verdict, state, nextDue, transitions }: wit.Receipt): Receipt {
  return {
    applied: verdict.tag === "applied",
    stale: verdict.tag === "stale" ? word(verdict.val) : null,
    state,
    nextDue: optionalNumber(nextDue),
    transitions: transitions.map(transition),
  };
}

function transition({ from, to, at, epoch, reason }: wit.Transition): Transition {
  return { from, to, at: number(at), epoch: String(epoch), reason: word(reason) };
}

/** What is known of a dependency. */
export function inspection(shown: wit.Inspection): Inspection {
  const { override, leases } = shown;
  return {
    state: shown.state,
    override:
      override === undefined
        ? null
        : {
            mode: override.mode,
            since: number(override.since),
            endsInMs: optionalNumber(override.endsIn),
            note: override.note,
          },
    probeDue: shown.probeDue,
    leases: leases.map(({ token, caller, expiresIn }) => ({
      token: String(token),
      caller,
      expiresInMs: number(expiresIn),
    })),
    successes: shown.successes,
    level: shown.level,
    calls: number(shown.calls),
    failures: number(shown.failures),
    slow: number(shown.slow),
    failuresInRow: number(shown.failuresInRow),
    epoch: String(shown.epoch),
    since: optionalNumber(shown.since),
    nextDue: optionalNumber(shown.nextDue),
  };
}
