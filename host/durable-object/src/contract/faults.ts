/** Faults, as data that crosses from the object to its callers. */
import type * as wit from "../../generated/interfaces/halfopen-breaker-types.js";

/** A fault of a policy. */
export interface PolicyFault {
  /** The key, with its table: `failure_rate.percent`; empty where the policy is no JSON object. */
  field: string;
  /** The fault, with the allowed range. */
  why: string;
}

/** Why a call failed. It then changed nothing. */
export type Fault =
  /** The name of the dependency is empty, longer than 256 bytes, or holds a control character. */
  | { code: "invalid-dependency"; message: string }
  /** The policy has faults: all of them. */
  | { code: "invalid-policy"; message: string; faults: PolicyFault[] }
  /** Another argument is of the wrong type or out of range. */
  | { code: "invalid-argument"; message: string }
  /** The record was written by a later release; it is left alone. */
  | { code: "newer-version"; message: string }
  /** The object's storage failed; `reset` or `forget` mends a `corrupt` record. */
  | { code: "storage"; kind: wit.StorageError["tag"]; message: string }
  /** The component failed. Nothing was written, and the next call gets a new instance. */
  | { code: "component"; message: string }
  /** The object could not be reached, or did not answer in time. */
  | { code: "unreachable"; message: string }
  /** Other callers wrote the record each time before this call could, or an error of a later version. */
  | { code: "contended" | "other"; message: string };

/** The answer of a method of the object. */
export type Reply<T> = { ok: true; value: T } | { ok: false; fault: Fault };

/** A fault as an error. */
export class BreakerError extends Error {
  override readonly name = "BreakerError";
  /** The fault. */
  readonly fault: Fault;

  constructor(fault: Fault, options?: { cause?: unknown }) {
    super(fault.message, options);
    this.fault = fault;
  }

  /** The kind of the fault. */
  get code(): Fault["code"] {
    return this.fault.code;
  }
}

/** A fault of an argument. */
export function invalidArgument(message: string): BreakerError {
  return new BreakerError({ code: "invalid-argument", message });
}

/** The faults of a policy. */
export function invalidPolicy(faults: PolicyFault[]): BreakerError {
  const list = faults.map(({ field, why }) => (field === "" ? why : `${field}: ${why}`)).join("; ");
  return new BreakerError({ code: "invalid-policy", message: `the policy is invalid: ${list}`, faults });
}

/** An error of the component as a fault. */
export function faultOf(error: wit.Error): Fault {
  switch (error.tag) {
    case "invalid-dependency":
      return { code: error.tag, message: `the name of the dependency is invalid: ${error.val}` };
    case "invalid-policy":
      return invalidPolicy(error.val).fault;
    case "invalid-argument":
    case "other":
      return { code: error.tag, message: error.val };
    case "contended":
      return { code: error.tag, message: "other callers wrote the record each time; try again" };
    case "newer-version":
      return { code: error.tag, message: "the record was written by a later release; deploy that release" };
    case "storage":
      return { code: error.tag, kind: error.val.tag, message: `the storage of the object failed: ${error.val.val}` };
    case "too-many-calls":
    case "too-many-dependencies":
      return { code: "other", message: "the component answered with a limit of tenants, which only their platform sets" };
  }
}

/** Whether a fault is the caller's own mistake. */
export function isMistake({ code }: Fault | BreakerError): boolean {
  return code === "invalid-dependency" || code === "invalid-argument";
}

/** The reply of a method: its value, or the fault that it throws. */
export function replyOf<T>(work: () => T): Reply<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    if (error instanceof BreakerError) return { ok: false, fault: error.fault };
    throw error;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
