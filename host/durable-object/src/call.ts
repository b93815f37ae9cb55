/**
 * Makes one call that has been admitted, and reports it.
 *
 * @module
 */
import type { Admitted, Basis, Deferred } from "./admitted.js";
import { type Instant, ago, instant } from "./local.js";
import type { Outcome, Receipt } from "./types.js";

/** How a call ended. */
export type Ended<T> = { value: T } | { error: unknown };

/** What the work is given. */
export interface CallContext {
  /** Aborted when the time limit is over, or when the caller's own signal is. Pass it on to `fetch`. */
  signal: AbortSignal;
  /** Whether the call is one of many, or the probe that decides. */
  role: "call" | "probe";
  /** For a probe: the fencing token of its lease. */
  token: string | null;
}

/** How a call is made. */
export interface CallOptions<T> {
  /** A time limit in ms. A call that exceeds it is reported as timed out, and {@link CallTimedOut} is thrown. */
  timeoutMs?: number;
  /** Cancels the call: it then says nothing about the dependency. A time limit of your own belongs into `timeoutMs`. */
  signal?: AbortSignal;
  /**
   * What an end says about the dependency. By default a `Response` with a status of 500 or more and whatever is thrown is
   * a failure, a `TimeoutError` a timeout, and all else a success.
   */
  classify?: (ended: Ended<T>) => Outcome;
}

/** A call that was made. */
export interface Called<T> {
  deferred: false;
  /** What the work returned. */
  value: T;
  /** Whether it was one of many, or the probe. */
  role: "call" | "probe";
  /** What the admission rests on. */
  basis: Basis;
  /** What the report came to; null where it was counted in this isolate, or could not be made. */
  receipt: Receipt | null;
}

/** What comes of a call: its value, or a deferral. What the work throws is thrown. */
export type CallResult<T> = Called<T> | Deferred;

/** The time limit of a call is over. */
export class CallTimedOut extends Error {
  override readonly name = "CallTimedOut";
}

/** Makes the call. While a probe runs, its lease is renewed. */
export async function make<T>(
  admitted: Admitted,
  asked: Instant,
  work: (context: CallContext) => T | PromiseLike<T>,
  options: CallOptions<T>,
): Promise<Called<T>> {
  const { role, token, basis } = admitted;
  const begun = instant();
  const stopRenewing = renewing(admitted, asked);
  const limit = new Limit(options);
  let ended: Ended<T>;
  try {
    ended = { value: await limit.race(Promise.resolve(work({ signal: limit.signal, role, token }))) };
  } catch (error) {
    ended = { error };
  }
  limit.end();
  stopRenewing();
  const receipt = await settled(admitted, () => outcomeOf(ended, options), begun);
  if ("error" in ended) throw ended.error;
  return { deferred: false, value: ended.value, role, basis, receipt };
}

/** Reports, without ever hiding how the call itself ended. */
async function settled(admitted: Admitted, outcome: () => Outcome, begun: Instant): Promise<Receipt | null> {
  const took = ago(begun, instant());
  let judged: Outcome;
  try {
    judged = outcome();
  } catch (error) {
    await admitted.release().catch(warn);
    throw error;
  }
  try {
    return await admitted.report(judged, Number.isFinite(took) ? Math.round(took) : undefined);
  } catch (error) {
    warn(error);
    return null;
  }
}

function outcomeOf<T>(ended: Ended<T>, { signal, classify }: CallOptions<T>): Outcome {
  if ("error" in ended) {
    if (ended.error instanceof CallTimedOut) return "timeout";
    if (signal?.aborted === true) return "ignored";
  }
  return (classify ?? byDefault)(ended);
}

function byDefault(ended: Ended<unknown>): Outcome {
  if ("error" in ended) return ended.error instanceof Error && ended.error.name === "TimeoutError" ? "timeout" : "failure";
  return ended.value instanceof Response && ended.value.status >= 500 ? "failure" : "success";
}

/** The end of the time that a call may take. */
class Limit {
  readonly signal: AbortSignal;
  readonly #over: Promise<never> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor({ timeoutMs, signal }: Pick<CallOptions<never>, "timeoutMs" | "signal">) {
    const controller = new AbortController();
    this.signal = signal === undefined ? controller.signal : AbortSignal.any([controller.signal, signal]);
    if (timeoutMs === undefined) return;
    this.#over = new Promise((_, reject) => {
      this.#timer = setTimeout(() => {
        const error = new CallTimedOut(`the call took longer than ${timeoutMs} ms`);
        controller.abort(error);
        reject(error);
      }, timeoutMs);
    });
  }

  race<T>(work: Promise<T>): Promise<T> {
    return this.#over === null ? work : Promise.race([work, this.#over]);
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** Renews the lease of a probe at a third of its length, until told to stop or until it is lost. */
function renewing(admitted: Admitted, asked: Instant): () => void {
  const { expiresInMs } = admitted;
  if (expiresInMs === null) return () => {};
  const every = Math.max(1, Math.floor(expiresInMs / 3));
  let stopped = false;
  let timer = setTimeout(renew, Math.max(0, every - ago(asked, instant())));
  async function renew(): Promise<void> {
    try {
      // Once it is stale the lease is lost; the report will say so.
      if (!(await admitted.renew()).applied) return;
    } catch (error) {
      warn(error);
    }
    if (!stopped) timer = setTimeout(renew, every);
  }
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

function warn(error: unknown): void {
  console.warn(`halfopen: ${error instanceof Error ? error.message : String(error)}`);
}
