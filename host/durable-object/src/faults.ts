/**
 * What can go wrong, as data that crosses from the object to its callers.
 *
 * @module
 */
import type * as wit from "../generated/interfaces/halfopen-breaker-types.js";

/** A field of a policy that is wrong. */
export interface PolicyFault {
  /** The field, with its table: `failure-rate.percent`. */
  field: string;
  /** What is wrong, with what is allowed. */
  why: string;
}

/** Why a call came to nothing. It then changed nothing. */
export type Fault =
  /** The name of the dependency is empty, longer than 256 bytes, or holds a control character. */
  | { code: "invalid-dependency"; message: string }
  /** The policy has wrong fields: all of them. */
  | { code: "invalid-policy"; message: string; faults: PolicyFault[] }
  /** Another argument is of the wrong kind or out of range. */
  | { code: "invalid-argument"; message: string }
  /** The record was written by a later release; it is left alone. */
  | { code: "newer-version"; message: string }
  /** The object's storage failed; `corrupt` can be mended by `reset` or `forget`. */
  | { code: "storage"; kind: wit.StorageError["tag"]; message: string }
  /** The component failed. Nothing was written, and the next call gets a new instance. */
  | { code: "component"; message: string }
  /** The object could not be reached, or did not answer in time. */
  | { code: "unreachable"; message: string }
  /** Others wrote the record each time this call was about to, or an error of a later version. */
  | { code: "contended" | "other"; message: string };

/** What a method of the object answers. */
export type Reply<T> = { ok: true; value: T } | { ok: false; fault: Fault };

/** A fault as an error. */
export class BreakerError extends Error {
  override readonly name = "BreakerError";
  /** What went wrong. */
  readonly fault: Fault;

  constructor(fault: Fault, options?: { cause?: unknown }) {
    super(fault.message, options);
    this.fault = fault;
  }

  /** Which kind of fault it is. */
  get code(): Fault["code"] {
    return this.fault.code;
  }
}

/** A fault of an argument. */
export function invalidArgument(message: string): BreakerError {
  return new BreakerError({ code: "invalid-argument", message });
}

/** A fault of a policy. */
export function invalidPolicy(faults: PolicyFault[]): BreakerError {
  const list = faults.map(({ field, why }) => `${field}: ${why}`).join("; ");
  return new BreakerError({ code: "invalid-policy", message: `the policy is invalid: ${list}`, faults });
}

/** What the component answered in place of a result. */
export function faultOf(error: wit.Error): Fault {
  switch (error.tag) {
    case "invalid-dependency":
      return { code: error.tag, message: `the name of the dependency is invalid: ${error.val}` };
    case "invalid-policy":
      return invalidPolicy(error.val).fault;
    case "invalid-argument":
      return { code: error.tag, message: error.val };
    case "contended":
      return { code: error.tag, message: "the record was written by others each time; try again" };
    case "newer-version":
      return { code: error.tag, message: "the record was written by a later release; deploy that release" };
    case "storage":
      return { code: error.tag, kind: error.val.tag, message: `the storage of the object failed: ${error.val.val}` };
    case "too-many-calls":
    case "too-many-dependencies":
      return { code: "other", message: "the component answers with a limit, which only the platform of a tenant does" };
    case "other":
      return { code: error.tag, message: error.val };
  }
}
