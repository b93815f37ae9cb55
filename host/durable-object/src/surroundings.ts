/**
 * What a subclass can give to its object.
 *
 * @module
 */
import type { Runtime } from "./component.js";
import type { PolicyInput } from "./policy.js";
import type { Outcome } from "./types.js";

/** A probe that the object runs by itself. */
export interface DueProbe {
  /** The dependency. */
  dependency: string;
  /** The fencing token of the lease. */
  token: string;
  /** Aborted a while before the lease ends. */
  signal: AbortSignal;
}

/** What an object works with. All of it has defaults. */
export interface Surroundings {
  /** What dependencies without a policy of their own go by. Default: the variable `HALFOPEN_POLICY`, or the built-in policy. */
  defaultPolicy?: PolicyInput | undefined;
  /** How many transitions of a dependency to keep. Default 1,000. */
  history?: number;
  /**
   * How a scheduled probe is run where no health URL is set: over a service binding, say. What it throws is a failure,
   * and a timeout where its signal was aborted.
   */
  probe?: (due: DueProbe) => Promise<Outcome>;
}

/** What only tests give. It is no part of the package's face. */
export interface Internals {
  /** The instant, in ms since the epoch of Unix, in place of the object's clock. */
  now?: () => number | bigint;
  /** A number uniform over 64 bits, in place of the runtime's. */
  random?: () => bigint;
  /** Another component. */
  runtime?: Runtime;
}
