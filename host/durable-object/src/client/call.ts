/** Makes one call that has been admitted, and reports it. */
import { orAborted } from "../contract/abort.js";
import { invalidArgument } from "../contract/faults.js";
import { retryAfterMs } from "../contract/retry-after.js";
import type { Outcome, Receipt, Report } from "../contract/types.js";
import { fields, kind, ms } from "../contract/values.js";
import { afterwards, warn } from "./background.js";
import { type Instant, ago, instant } from "./instant.js";
import { type Deferred, type Permit, asReport } from "./permit.js";

/** How a call ended. */
export type Ended<T> = { value: T } | { error: unknown };

/** The argument of the work. */
export interface CallContext extends Pick<Permit, "role" | "token"> {
  /** Aborted when the time limit is over, or when the caller's own signal is. Pass it on to `fetch`. */
  signal: AbortSignal;
}

/** How a call is made. */
export interface CallOptions<T> {
  /**
   * The time limit in ms: a call that exceeds it is reported as a timeout, and {@link CallTimedOut} is thrown. Default: the
   * breaker's, 25,000. The limit of a probe ends before its lease can end.
   */
  timeoutMs?: number | undefined;
  /**
   * Ends the call for its caller at once when it is aborted: the call then says nothing about the dependency, but counts as a
   * timeout where the reason is a `TimeoutError`.
   */
  signal?: AbortSignal | undefined;
  /**
   * The outcome of a call that has ended. By default a `Response` with a status of 500 or more and an error are failures, a
   * `TimeoutError` is a timeout, and all else is a success. A cause and a `retryAfterMs` that it leaves out are those of the
   * response (`HTTP 429`, and its `Retry-After`) or the error (its name and message).
   */
  classify?: ((ended: Ended<T>) => Outcome | Report) | undefined;
}

/** A call that was made. */
export interface Called<T> extends Pick<Permit, "deferred" | "role" | "basis"> {
  /** The value that the work returned. */
  value: T;
  /** The answer to the report; null where the outcome was counted in this isolate, or the report could not be made. */
  receipt: Receipt | null;
}

/** The result of a call: its value, or a deferral. An error of the work is thrown. */
export type CallResult<T> = Called<T> | Deferred;

/** The time limit of a call is over. */
export class CallTimedOut extends Error {
  override readonly name = "CallTimedOut";
}

/** Options of a call with their defaults. */
type CheckedCall<T> = CallOptions<T> & { timeoutMs: number };

/**
 * Checks the arguments of a call.
 *
 * @throws BreakerError, TypeError
 */
export function checkedCall<T>(work: unknown, options: CallOptions<T>, timeoutMs: number): CheckedCall<T> {
  if (typeof work !== "function") {
    throw new TypeError(`the work must be a function, as in call(({ signal }) => fetch(url, { signal })), not ${kind(work)}`);
  }
  fields("the options of a call", options, ["timeoutMs", "signal", "classify"]);
  const { signal, classify } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidArgument(`signal must be an AbortSignal, not ${kind(signal)}`);
  }
  if (classify !== undefined && typeof classify !== "function") {
    throw invalidArgument(`classify must be a function, not ${kind(classify)}`);
  }
  return { ...options, timeoutMs: ms("timeoutMs", options.timeoutMs) ?? timeoutMs };
}

/** Makes the call. While a probe runs, its lease is renewed. */
export async function make<T>(
  permit: Permit,
  asked: Instant,
  work: (context: CallContext) => T | PromiseLike<T>,
  options: CheckedCall<T>,
): Promise<Called<T>> {
  const { role, token, basis } = permit;
  const begun = instant();
  const stopRenewing = renewing(permit, asked);
  const limit = new AbortController();
  const limitMs = timeLimit(permit, asked, options.timeoutMs);
  const timer = setTimeout(() => limit.abort(new CallTimedOut(`the call took longer than ${limitMs} ms`)), limitMs);
  const signal = options.signal === undefined ? limit.signal : AbortSignal.any([limit.signal, options.signal]);
  let ended: Ended<T>;
  try {
    ended = { value: await orAborted(work({ signal, role, token }), signal) };
  } catch (error) {
    ended = { error };
  }
  clearTimeout(timer);
  stopRenewing();
  const receipt = await unlessAborted(settled(permit, () => outcomeOf(ended, options, limit.signal), begun), options.signal);
  if ("error" in ended) throw ended.error;
  return { deferred: false, value: ended.value, role, basis, receipt };
}

/** The receipt; null where the signal is aborted before: the report then goes on without the caller. */
async function unlessAborted(reported: Promise<Receipt | null>, signal: AbortSignal | undefined): Promise<Receipt | null> {
  if (signal === undefined) return await reported;
  return await orAborted(reported, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    afterwards(reported);
    return null;
  });
}

/** Reports, without ever hiding how the call itself ended. */
async function settled(permit: Permit, outcome: () => Report, begun: Instant): Promise<Receipt | null> {
  const took = ago(begun, instant());
  let report: Report;
  try {
    report = outcome();
  } catch (error) {
    await permit.release().catch(warn);
    throw error;
  }
  try {
    return await permit.report(Number.isFinite(took) ? { tookMs: Math.round(took), ...report } : report);
  } catch (error) {
    warn(error);
    return null;
  }
}

function outcomeOf<T>(ended: Ended<T>, { signal, classify }: CallOptions<T>, limit: AbortSignal): Report {
  // The time limit of another call, made by the work, is an error like others.
  const cutOff = "error" in ended && limit.aborted && ended.error === limit.reason;
  if ("error" in ended && !cutOff && signal?.aborted === true) {
    return isTimeout(signal.reason) ? judged({ error: signal.reason }) : { outcome: "ignored" };
  }
  const byDefault = judged(ended);
  if (classify === undefined || cutOff) return byDefault;
  return { ...byDefault, ...asReport(classify(ended)) };
}

function judged(ended: Ended<unknown>): Report {
  if ("error" in ended) return { outcome: isTimeout(ended.error) ? "timeout" : "failure", cause: causeOf(ended.error) };
  const { value } = ended;
  if (!(value instanceof Response)) return { outcome: "success" };
  const { status } = value;
  return { outcome: status >= 500 ? "failure" : "success", cause: `HTTP ${status}`, retryAfterMs: retryAfterMs(value) };
}

function isTimeout(error: unknown): boolean {
  try {
    return error instanceof CallTimedOut || (error instanceof Error && error.name === "TimeoutError");
  } catch {
    return false;
  }
}

/** The cause, whatever was thrown: an error whose text cannot be had counts all the same. */
function causeOf(error: unknown): string {
  try {
    if (error instanceof CallTimedOut) return String(error.message);
    if (error instanceof Error) return `${error.name}: ${error.message}`;
    return typeof error === "string" ? error : kind(error);
  } catch {
    return "an error without a text";
  }
}

/** The time limit of a call in ms. A probe has nine tenths of the longest lease, so that the report of a hang still counts. */
function timeLimit({ longestMs }: Permit, asked: Instant, timeoutMs: number): number {
  if (longestMs === null) return timeoutMs;
  return Math.min(timeoutMs, Math.max(1, Math.floor(longestMs * 0.9 - ago(asked, instant()))));
}

/** Renews the lease of a probe at a third of its length, until it is stopped or the lease is lost. */
function renewing(permit: Permit, asked: Instant): () => void {
  const { expiresInMs } = permit;
  if (expiresInMs === null) return () => {};
  const every = Math.max(1, Math.floor(expiresInMs / 3));
  let stopped = false;
  let timer = setTimeout(renew, Math.max(0, every - ago(asked, instant())));
  async function renew(): Promise<void> {
    try {
      // Once it is stale the lease is lost; the report will say so.
      if (!(await permit.renew()).applied) return;
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
