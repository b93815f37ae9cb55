/** The client of a breaker, for code in Workers. */
import { orAborted } from "../contract/abort.js";
import type { Inspection, PolicyInForce, PolicyInput, Transition } from "../contract/documents.js";
import { BreakerError, invalidArgument } from "../contract/faults.js";
import type { Mode, Operator, Outcome, Receipt, Report, Tally } from "../contract/types.js";
import { fields } from "../contract/values.js";
import type { RecoverySettings } from "../object/recovery.js";
import { acquire } from "./admission.js";
import { LONGEST_HOLD, afterwards, hold } from "./background.js";
import { type CallContext, type CallOptions, type CallResult, checkedCall, make } from "./call.js";
import { delist, enlist } from "./directory.js";
import { ago, instant } from "./instant.js";
import { Isolate, stateOf } from "./isolate.js";
import { objectName } from "./names.js";
import { type BreakerOptions, type CheckedOptions, checkedOptions } from "./options.js";
import { type Deferred, type Permit, asReport } from "./permit.js";
import { type BreakerNamespace, type Method, Rpc } from "./rpc.js";

/**
 * The breaker of a dependency.
 *
 * ```ts
 * const payments = breaker(env.HALFOPEN, "payments");
 * const result = await payments.call(({ signal }) => fetch(url, { signal }), { timeoutMs: 2_000 });
 * if (result.deferred) return unavailable(result);
 * return result.value;
 * ```
 */
export function breaker(objects: BreakerNamespace, dependency: string, options: BreakerOptions = {}): Breaker {
  return new Breaker(objects, dependency, options);
}

/** A longer name is valid nowhere. */
const LONGEST_NAME = 1_024;

/** The client of one breaker. */
export class Breaker {
  /** The dependency. */
  readonly dependency: string;
  readonly #objects: BreakerNamespace;
  readonly #options: CheckedOptions;
  readonly #rpc: Rpc;
  readonly #isolate: Isolate;

  /** @throws BreakerError where an option is invalid */
  constructor(objects: BreakerNamespace, dependency: string, given: BreakerOptions = {}) {
    if (typeof (objects as Partial<BreakerNamespace> | undefined)?.idFromName !== "function") {
      throw invalidArgument("a breaker needs the binding of its Durable Object class, as in breaker(env.HALFOPEN, ...)");
    }
    if (typeof dependency !== "string") {
      throw new BreakerError({ code: "invalid-dependency", message: "the name of the dependency must be a string" });
    }
    if (dependency.length > LONGEST_NAME) {
      // Not sent: a name that is too long for a message would look like an object out of reach.
      const message = "the name of the dependency is invalid: it is longer than 256 bytes";
      throw new BreakerError({ code: "invalid-dependency", message });
    }
    const options = checkedOptions(given);
    const { namespace, jurisdiction = null, answerWithinMs } = options;
    this.dependency = dependency;
    this.#objects = objects;
    this.#options = options;
    this.#rpc = new Rpc(objects, objectName(namespace, dependency), options, answerWithinMs);
    const state = stateOf(objects, JSON.stringify([jurisdiction, namespace, dependency]), dependency);
    this.#isolate = new Isolate({ dependency, ...options }, this.#rpc, state);
  }

  /**
   * Acquires a permit, makes the call if it is admitted, and reports its outcome. While a probe runs its lease is renewed. A
   * report that fails never hides how the call ended. A client that disconnects does not keep the outcome from being reported.
   *
   * @throws the error of the work; {@link CallTimedOut}; {@link BreakerError} where a name or an option is invalid; a TypeError
   *   where the work is no function, or `classify` returns no outcome: nothing is counted then
   */
  call<T>(work: (context: CallContext) => T | PromiseLike<T>, options: CallOptions<T> = {}): Promise<CallResult<T>> {
    const result = this.#call(work, options);
    hold(result);
    return result;
  }

  /**
   * Decides whether a call may be made. A probe whose lease has expired before it arrives is treated as lost, and the
   * object is asked again. The request is held until the permit is settled, for at most 25 seconds.
   *
   * @throws BreakerError
   */
  acquire(): Promise<Permit | Deferred> {
    const answer = this.#acquire().then((answer) => {
      if (!answer.deferred && answer.text !== null) hold(answer.settled(LONGEST_HOLD));
      return answer;
    });
    hold(answer);
    return answer;
  }

  /**
   * Reports the outcome of a call under a permit that another Worker was given, as text.
   *
   * @throws BreakerError
   * @throws TypeError where it is no outcome and no report
   */
  async report(permit: string, report: Outcome | Report): Promise<Receipt> {
    return await this.#isolate.report(permit, asReport(report));
  }

  /** Reports the outcomes of many closed-state calls at once. */
  reportTally(permit: string, tally: Tally): Promise<Receipt> {
    return this.#isolate.receipt(permit, (o) => o.reportTally(this.dependency, permit, tally));
  }

  /** Renews the lease of a probe: it starts anew, now. */
  renew(permit: string): Promise<Receipt> {
    return this.#isolate.renew(permit);
  }

  /** Gives a permit back unused. */
  release(permit: string): Promise<Receipt> {
    return this.#isolate.report(permit, { outcome: "ignored" });
  }

  /** Shows the breaker. It changes nothing and takes no lease. */
  inspect(): Promise<Inspection> {
    return this.#rpc.call((o) => o.inspect(this.dependency));
  }

  /** The policy of the dependency. */
  policy(): Promise<PolicyInForce> {
    return this.#rpc.call((o) => o.policy(this.dependency));
  }

  /** Gives the dependency a policy of its own: a key that is left out has its built-in default. With null it goes back to the host's default. */
  configure(policy: PolicyInput | null, operator: Operator = {}): Promise<Receipt> {
    return this.#act((o) => o.configure(this.dependency, policy, this.#operator(operator)));
  }

  /** Forces a state, or takes an override back with `none`. With `lastingMs` it ends by itself that many ms after it was set. */
  async force(mode: Mode, given: { lastingMs?: number } & Operator = {}): Promise<Receipt> {
    // A misspelt `lastingMs` would force it without end.
    fields("the options of a force", given, ["lastingMs", "by", "note"]);
    const { lastingMs, ...operator } = given;
    return await this.#act((o) => o.force(this.dependency, mode, lastingMs ?? null, this.#operator(operator)));
  }

  /** Closes the breaker and lets it forget what was. The policy stays. Also mends a damaged record. */
  reset(operator: Operator = {}): Promise<Receipt> {
    return this.#act((o) => o.reset(this.dependency, this.#operator(operator)));
  }

  /** Removes the record, its history and its policy, and takes the dependency off the list. */
  async forget(operator: Operator = {}): Promise<Receipt> {
    const receipt = await this.#act((o) => o.forget(this.dependency, this.#operator(operator)));
    await this.#leave();
    return receipt;
  }

  /**
   * Removes the record of a dependency that is no longer used, takes it off the list then, and answers whether it did: only
   * while it is closed, with nothing forced and no policy of its own, and only if nothing was written to it for `idleMs`.
   */
  async prune(idleMs: number, operator: Operator = {}): Promise<boolean> {
    const removed = await this.#rpc.call((o) => o.prune(this.dependency, idleMs, this.#operator(operator)));
    if (!removed) return false;
    this.#isolate.state.decision.invalidate();
    await this.#leave();
    return true;
  }

  /** The last transitions, the latest last: at most `limit`, 1 to 10,000. */
  history(limit = 100): Promise<Transition[]> {
    return this.#rpc.call((o) => o.history(this.dependency, limit));
  }

  /** The settings of scheduled recovery; null where it is off. */
  recovery(): Promise<RecoverySettings | null> {
    return this.#rpc.call((o) => o.recovery(this.dependency));
  }

  /** Switches scheduled recovery on, or off with null. */
  setRecovery(settings: RecoverySettings | null): Promise<RecoverySettings | null> {
    return this.#rpc.call((o) => o.setRecovery(this.dependency, settings));
  }

  async #call<T>(work: (context: CallContext) => T | PromiseLike<T>, given: CallOptions<T>): Promise<CallResult<T>> {
    const options = checkedCall(work, given, this.#options.timeoutMs);
    options.signal?.throwIfAborted();
    const asked = instant();
    const acquired = this.#acquire();
    const answer = await (options.signal === undefined ? acquired : orAborted(acquired, options.signal)).catch((error: unknown) => {
      // A permit that comes for a caller who has left is given back.
      if (options.signal?.aborted === true) afterwards(acquired.then((late) => (late.deferred ? null : late.release())));
      throw error;
    });
    return answer.deferred ? answer : make(answer, asked, work, options);
  }

  async #acquire(): Promise<Permit | Deferred> {
    const answer = await acquire(this.#isolate);
    if (answer.basis === "object") this.#enlist();
    return answer;
  }

  #operator(given: Operator): Operator {
    fields("the operator", given, ["by", "note"]);
    const { by = this.#options.operator, note } = given;
    return { by, note };
  }

  #act(method: Method<Receipt>): Promise<Receipt> {
    return this.#isolate.receipt(null, method);
  }

  /** The record is gone: the dependency goes off the list. */
  async #leave(): Promise<void> {
    await delist(this.#objects, this.#options.namespace, this.dependency, this.#options);
    this.#isolate.state.enlisted = null;
  }

  #enlist(): void {
    const now = instant();
    const { enlisted } = this.#isolate.state;
    if (enlisted !== null && ago(enlisted, now) < 3_600_000) return;
    this.#isolate.state.enlisted = now;
    afterwards(enlist(this.#objects, this.#options.namespace, this.dependency, this.#options));
  }
}
