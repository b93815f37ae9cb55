/**
 * The client of a breaker, for code in Workers.
 *
 * @module
 */
import type { Inspection, PolicyInForce, PolicyInput, Transition } from "../contract/documents.js";
import { BreakerError, type Fault, type Reply } from "../contract/faults.js";
import type { Admission, Decision, Deferral, Mode, Operator, Outcome, Receipt, Report, Tally } from "../contract/types.js";
import type { RecoverySettings } from "../object/recovery.js";
import { LONGEST_HOLD, afterwards, hold } from "./background.js";
import { type CallContext, type CallOptions, type CallResult, make } from "./call.js";
import { delist, enlist } from "./directory.js";
import { localOf } from "./isolate.js";
import { type Local, type LocalDecision, ago, instant } from "./local.js";
import { objectName } from "./names.js";
import { type Basis, type Deferred, Permit, asReport } from "./permit.js";
import { type BreakerNamespace, type Place, Rpc } from "./rpc.js";

/** The answer to an acquire when the object is out of reach, or its storage fails. */
export type WhenUnreachable =
  /** It defers, with the reason `unreachable`. The default. */
  | "fail-closed"
  /** It admits. Nothing of such a call is recorded. */
  | "fail-open"
  /** It goes by this isolate's last answer: it admits, unrecorded, or defers for the rest; without one it defers. It never probes. */
  | "last-known";

/** Options of a client. */
export interface BreakerOptions extends Place {
  /** Breakers of different namespaces see nothing of each other. Default `default`. */
  namespace?: string;
  /** The caller that leases and failures are kept with, as `inspect` shows it; up to 128 bytes. Default `worker`. */
  caller?: string;
  /** The operator of acts by hand, where the act names none. Default none. */
  operator?: string;
  /** The answer to an acquire when the object is out of reach. Default `fail-closed`. */
  whenUnreachable?: WhenUnreachable;
  /** The time that the object has to answer, in ms. Default 2,000. */
  answerWithinMs?: number;
  /** Whether the isolate acts on its cached decision for the time that the policy's `fresh_ms` allows. Default true. */
  localAdmission?: boolean;
}

/** A caller of an object out of reach comes back after this many ms, and a random share of as many again. */
const UNREACHABLE_WAIT = 1_000;
/** The number of times that the object is asked when each lease has expired before it arrives. */
const LATE = 3;
/** The longest time to a handover in ms: the runtime lets a request go on for 30 seconds after its response. */
const LONGEST_HANDOVER = 20_000;

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

/** The client of one breaker. */
export class Breaker {
  /** The dependency. */
  readonly dependency: string;
  readonly #objects: BreakerNamespace;
  readonly #options: BreakerOptions;
  readonly #namespace: string;
  readonly #caller: string;
  readonly #rpc: Rpc;
  readonly #local: Local;

  constructor(objects: BreakerNamespace, dependency: string, options: BreakerOptions = {}) {
    const { namespace = "default", caller = "worker", answerWithinMs = 2_000 } = options;
    this.dependency = dependency;
    this.#objects = objects;
    this.#options = options;
    this.#namespace = namespace;
    this.#caller = caller;
    this.#rpc = new Rpc(objects, objectName(namespace, dependency), options, answerWithinMs);
    this.#local = localOf(objects, JSON.stringify([options.jurisdiction ?? null, namespace, dependency]));
  }

  /**
   * Acquires a permit, makes the call if it is admitted, and reports its outcome. While a probe runs its lease is renewed. A
   * report that fails never hides how the call ended. A client that disconnects does not keep the outcome from being reported.
   *
   * @throws the error of the work; {@link CallTimedOut}; {@link BreakerError} where an argument is invalid
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
   */
  async report(permit: string, report: Outcome | Report): Promise<Receipt> {
    const named = { caller: this.#caller, ...asReport(report) };
    return this.#learn(permit, await this.#rpc.call<Receipt>((o) => o.report(this.dependency, permit, named)));
  }

  /** Reports the outcomes of many closed-state calls at once. */
  async reportTally(permit: string, tally: Tally): Promise<Receipt> {
    return this.#learn(permit, await this.#rpc.call<Receipt>((o) => o.reportTally(this.dependency, permit, tally)));
  }

  /** Renews the lease of a probe: it starts anew, now. */
  async renew(permit: string): Promise<Receipt> {
    return this.#learn(permit, await this.#rpc.call<Receipt>((o) => o.renew(this.dependency, permit)));
  }

  /** Gives a permit back unused. */
  async release(permit: string): Promise<Receipt> {
    return this.#learn(permit, await this.#rpc.call<Receipt>((o) => o.release(this.dependency, permit)));
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
    return this.#control((o) => o.configure(this.dependency, policy, this.#operator(operator)));
  }

  /** Forces a state, or takes an override back with `none`. With `lastingMs` it ends by itself that many ms after it was set. */
  force(mode: Mode, { lastingMs, ...operator }: { lastingMs?: number } & Operator = {}): Promise<Receipt> {
    return this.#control((o) => o.force(this.dependency, mode, lastingMs ?? null, this.#operator(operator)));
  }

  /** Closes the breaker and lets it forget what was. The policy stays. Also mends a damaged record. */
  reset(operator: Operator = {}): Promise<Receipt> {
    return this.#control((o) => o.reset(this.dependency, this.#operator(operator)));
  }

  /** Removes the record, its history and its policy, and takes the dependency off the list. */
  async forget(operator: Operator = {}): Promise<Receipt> {
    const receipt = await this.#control<Receipt>((o) => o.forget(this.dependency, this.#operator(operator)));
    await this.#leave();
    return receipt;
  }

  /**
   * Removes the record of a dependency that is no longer used, takes it off the list then, and answers whether it did: only
   * while it is closed, with nothing forced and no policy of its own, and only if nothing was written to it for `idleMs`.
   */
  async prune(idleMs: number, operator: Operator = {}): Promise<boolean> {
    const removed = await this.#control<boolean>((o) => o.prune(this.dependency, idleMs, this.#operator(operator)));
    if (removed) await this.#leave();
    return removed;
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

  async #call<T>(work: (context: CallContext) => T | PromiseLike<T>, options: CallOptions<T>): Promise<CallResult<T>> {
    const asked = instant();
    const answer = await this.#acquire();
    return answer.deferred ? answer : make(answer, asked, work, options);
  }

  async #acquire(): Promise<Permit | Deferred> {
    const now = instant();
    const known = this.#fresh() ? this.#local.decide(now, Math.random) : null;
    if (known !== null) return this.#answer(known, "local");
    try {
      for (let attempt = 0; attempt < LATE; attempt++) {
        const sent = instant();
        const decision = await this.#ask();
        this.#local.note(decision, sent);
        if (decision.kind === "proceed") return this.#permit(decision, "object");
        if (decision.kind === "defer") return deferred(decision, "object", null);
        if (ago(sent, instant()) < decision.expiresInMs) return this.#probe(decision);
      }
      const message = "a probe was granted, and its lease expired before the answer arrived; give it a longer lease_ms";
      throw new BreakerError({ code: "unreachable", message });
    } catch (error) {
      if (error instanceof BreakerError && (error.code === "unreachable" || error.code === "storage")) {
        return this.#withoutObject(error.fault);
      }
      throw error;
    }
  }

  async #ask(): Promise<Decision> {
    const settled = this.#local.take();
    // A probe that comes late has no caller: it is given back, so that its lease need not expire.
    const late = (answer: Promise<Reply<Decision>>): void =>
      afterwards(
        answer.then(async (reply) => {
          if (reply.ok && reply.value.kind === "probe") await this.release(reply.value.permit);
        }),
      );
    const decision = await this.#rpc.call<Decision>((o) => {
      return settled.length === 0
        ? o.acquire(this.dependency, this.#caller)
        : o.settleAndAcquire(this.dependency, this.#caller, settled);
    }, late);
    this.#enlist();
    return decision;
  }

  #answer(known: LocalDecision, basis: Basis): Permit | Deferred {
    return known.kind === "proceed" ? this.#permit(known.admission, basis) : deferred(known.deferral, basis, null);
  }

  #permit(admission: Admission, basis: Basis): Permit {
    const { permit: text } = admission;
    return new Permit({ role: "call", text, basis }, {
      report: (report) => this.#settle(admission, report),
      renew: () => this.renew(text),
    });
  }

  #probe({ permit: text, token, expiresInMs, longestMs }: Decision & { kind: "probe" }): Permit {
    return new Permit({ role: "probe", text, token, expiresInMs, longestMs, basis: "object" }, {
      report: (report) => this.report(text, report),
      renew: () => this.renew(text),
    });
  }

  #unrecorded(basis: Basis): Permit {
    return new Permit({ role: "call", text: null, basis }, {
      report: () => Promise.resolve(null),
      renew: () => Promise.reject(new BreakerError({ code: "invalid-argument", message: "there is no lease to renew" })),
    });
  }

  /** Settles a closed-state call: a success is counted here while the cached decision is fresh, a failure is reported at once. */
  async #settle(admission: Admission, report: Report): Promise<Receipt | null> {
    const { outcome, tookMs = null } = report;
    if (outcome === "ignored") return null;
    const slow = admission.slowerThanMs !== null && tookMs !== null && tookMs >= admission.slowerThanMs;
    this.#local.count(admission.permit, { caller: this.#caller, ...report }, slow);
    if (outcome === "success" && this.#fresh() && admission.freshForMs > 0) {
      this.#handOverSoon();
      return null;
    }
    return this.#handOver(admission.permit);
  }

  /** Hands over the counted outcomes, and answers the receipt for one permit. */
  async #handOver(permit?: string): Promise<Receipt | null> {
    let receipt: Receipt | null = null;
    for (const settled of this.#local.take()) {
      const answer = await this.reportTally(settled.permit, settled.tally);
      if (settled.permit === permit) receipt = answer;
    }
    return receipt;
  }

  #handOverSoon(): void {
    const now = instant();
    const within = Math.min(this.#local.freshFor(now), LONGEST_HANDOVER);
    if (!this.#local.claimHandover(now, within)) return;
    afterwards(
      new Promise((resolve) => setTimeout(resolve, within)).then(async () => {
        this.#local.handedOver();
        await this.#handOver();
      }),
    );
  }

  #withoutObject(fault: Fault): Permit | Deferred {
    const choice = this.#options.whenUnreachable ?? "fail-closed";
    if (choice === "fail-open") return this.#unrecorded(choice);
    const known = choice === "last-known" ? this.#local.lastKnown(instant()) : null;
    if (known?.kind === "proceed") return this.#unrecorded(choice);
    if (known?.kind === "defer") return deferred(known.deferral, choice, fault);
    const [retryAfterMs, spreadMs] = [UNREACHABLE_WAIT, UNREACHABLE_WAIT];
    return { deferred: true, retryAfterMs, spreadMs, reason: "unreachable", basis: "fail-closed", fault };
  }

  /** Acts at once on an answer: one that may not fit the cached decision ends it. A report with a lease may close the breaker. */
  #learn(permit: string, receipt: Receipt): Receipt {
    if (!receipt.applied || receipt.state !== "closed" || permit.includes(":")) this.#local.forget();
    return receipt;
  }

  #operator({ by = this.#options.operator, note }: Operator): Operator {
    return { by, note };
  }

  async #control<T>(call: Parameters<Rpc["call"]>[0]): Promise<T> {
    const answer = await this.#rpc.call<T>(call);
    this.#local.forget();
    return answer;
  }

  /** The record is gone: the dependency goes off the list. */
  async #leave(): Promise<void> {
    await delist(this.#objects, this.#namespace, this.dependency, this.#options);
    this.#local.enlisted = null;
  }

  #fresh(): boolean {
    return this.#options.localAdmission !== false;
  }

  #enlist(): void {
    const now = instant();
    const { enlisted } = this.#local;
    if (enlisted !== null && ago(enlisted, now) < 3_600_000) return;
    this.#local.enlisted = now;
    afterwards(enlist(this.#objects, this.#namespace, this.dependency, this.#options));
  }
}

function deferred({ retryAfterMs, spreadMs, reason }: Deferral, basis: Basis, fault: Fault | null): Deferred {
  return { deferred: true, retryAfterMs, spreadMs, reason, basis, fault };
}
