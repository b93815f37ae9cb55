/** Options of the object, for a class that extends it. */
import type { PolicyInput } from "../contract/documents.js";
import type { Outcome } from "../contract/types.js";
import type { Runtime } from "./component.js";

/** A probe that the object runs by itself. */
export interface DueProbe {
  /** The dependency. */
  dependency: string;
  /** The fencing token of the lease. */
  token: string;
  /** Aborted before the lease ends. */
  signal: AbortSignal;
}

/** Options of the object. */
export interface ObjectOptions {
  /** The policy of dependencies without one of their own. Default: the variable `HALFOPEN_POLICY`, or the built-in policy. */
  defaultPolicy?: PolicyInput | string | undefined;
  /** The number of transitions that are kept for a dependency. Default 1,000. */
  history?: number;
  /**
   * Runs a scheduled probe where no health URL is set: over a service binding, say. An error is a failure, and a timeout
   * where the signal was aborted.
   */
  probe?: (due: DueProbe) => Promise<Outcome>;
}

/** Options that only tests give. The package does not export them. */
export interface Internals {
  /** The instant, in ms since the Unix epoch, in place of the object's clock. */
  now?: () => number | bigint;
  /** A random number, uniform over 64 bits, in place of the runtime's. */
  random?: () => bigint;
  /** Another component. */
  runtime?: Runtime;
}
