/**
 * The client, for code in Workers.
 *
 * @module
 */
import { waitUntil } from "cloudflare:workers";

import { Admitted, type Basis, type Deferred } from "./admitted.js";
import { type CallContext, type CallOptions, type CallResult, make } from "./call.js";
import { enlist, delist } from "./directory.js";
import { BreakerError, type Fault, type Reply } from "./faults.js";
import { type Local, type LocalDecision, ago, instant } from "./local.js";
import { localOf } from "./locals.js";
import { objectName } from "./names.js";
import type { PolicyInForce, PolicyInput } from "./policy.js";
import { type BreakerNamespace, type Place, Reach } from "./reach.js";
import type { RecoverySettings } from "./recovery.js";
import type { Admission, Decision, Deferral, Inspection, Mode, Outcome, Receipt, Tally, Transition } from "./types.js";

/** What an acquire comes to when the object is out of reach, or its storage fails. */
export type WhenUnreachable =
  /** It defers, with the reason `unreachable`. The default. */
  | "fail-closed"
  /** It admits. Nothing of such a call is recorded. */
  | "fail-open"
  /** It does as this isolate was last told: admits, unrecorded, or defers for what is left; where it was told nothing, it defers. It never probes. */
  | "last-known";

/** How a client works. */
export interface BreakerOptions extends Place {
  /** Breakers of different namespaces see nothing of each other. Default `default`. */
  namespace?: string;
  /** Who holds the leases that this client takes, as `inspect` shows it; up to 64 bytes. Default `worker`. */
  caller?: string;
  /** What an acquire comes to when the object is out of reach. Default `fail-closed`. */
  whenUnreachable?: WhenUnreachable;
  /** How many ms the object has to answer. Default 2,000. */
  answerWithinMs?: number;
  /** Whether the isolate acts on its last look for as long as the policy's `fresh_ms` allows. Default true. */
  localAdmission?: boolean;
}

/** Who is told that the object is out of reach comes back after so many ms, and a random share of as many again. */
const UNREACHABLE_WAIT = 1_000;
/** How often it is asked again when each lease has run out by the time it arrives. */
const LATE = 3;
/** The runtime keeps what runs after a response for 30 seconds. */
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

export class Breaker {
  /** The dependency. */
  readonly dependency: string;
  readonly #objects: BreakerNamespace;
  readonly #options: BreakerOptions;
  readonly #namespace: string;
  readonly #caller: string;
  readonly #reach: Reach;
  readonly #local: Local;

  constructor(objects: BreakerNamespace, dependency: string, options: BreakerOptions = {}) {
    const { namespace = "default", caller = "worker", answerWithinMs = 2_000 } = options;
    this.dependency = dependency;
    this.#objects = objects;
    this.#options = options;
    this.#namespace = namespace;
    this.#caller = caller;
    this.#reach = new Reach(objects, objectName(namespace, dependency), options, answerWithinMs);
    this.#local = localOf(objects, JSON.stringify([options.jurisdiction ?? null, namespace, dependency]));
  }

  /**
   * Asks, makes the call if it may be made, and reports how it ended. While a probe runs its lease is renewed. Failing to
   * report never hides how the call ended.
   *
   * @throws whatever the work throws; {@link CallTimedOut}; {@link BreakerError} where the question itself is invalid
   */
  async call<T>(work: (context: CallContext) => T | PromiseLike<T>, options: CallOptions<T> = {}): Promise<CallResult<T>> {
    const asked = instant();
    const answer = await this.acquire();
    return answer.deferred ? answer : make(answer, asked, work, options);
  }

  /**
   * Asks whether a call may be made. A probe whose lease has run out by the time it arrives is treated as lost, and asked
   * for anew.
   *
   * @throws BreakerError
   */
  async acquire(): Promise<Admitted | Deferred> {
    const now = instant();
    const known = this.#fresh() ? this.#local.decide(now, Math.random) : null;
    if (known !== null) return this.#answer(known, "local");
    try {
      for (let attempt = 0; attempt < LATE; attempt++) {
        const sent = instant();
        const decision = await this.#ask();
        this.#local.note(decision, sent);
        if (decision.kind === "proceed") return this.#admitted(decision, "object");
        if (decision.kind === "defer") return deferred(decision, "object", null);
        if (ago(sent, instant()) < decision.expiresInMs) return this.#probe(decision);
      }
      const message = "a probe was granted, and its lease had run out before the answer arrived; give it a longer lease_ms";
      throw new BreakerError({ code: "unreachable", message });
    } catch (error) {
      if (error instanceof BreakerError && (error.code === "unreachable" || error.code === "storage")) {
        return this.#withoutObject(error.fault);
      }
      throw error;
    }
  }

  /**
   * Reports the outcome of a call that was admitted elsewhere: the permit came as text.
   *
   * @throws BreakerError
   */
  async report(permit: string, outcome: Outcome, tookMs?: number): Promise<Receipt> {
    return this.#learn(await this.#reach.ask<Receipt>((o) => o.report(this.dependency, permit, outcome, tookMs ?? null)));
  }

  /** Reports the outcomes of many closed-state calls at once. */
  async reportTally(permit: string, tally: Tally): Promise<Receipt> {
    return this.#learn(await this.#reach.ask<Receipt>((o) => o.reportTally(this.dependency, permit, tally)));
  }

  /** Renews the lease of a probe, which starts anew, now. */
  async renew(permit: string): Promise<Receipt> {
    return this.#learn(await this.#reach.ask<Receipt>((o) => o.renew(this.dependency, permit)));
  }

  /** Gives a permit back unused. */
  async release(permit: string): Promise<Receipt> {
    return this.#learn(await this.#reach.ask<Receipt>((o) => o.release(this.dependency, permit)));
  }

  /** Shows the breaker. It changes nothing and takes no lease. */
  inspect(): Promise<Inspection> {
    return this.#reach.ask((o) => o.inspect(this.dependency));
  }

  /** The policy that the dependency goes by. */
  policy(): Promise<PolicyInForce> {
    return this.#reach.ask((o) => o.policy(this.dependency));
  }

  /** Gives the dependency a policy of its own; what it leaves out gets its built-in default. */
  configure(policy: PolicyInput): Promise<Receipt> {
    return this.#control((o) => o.configure(this.dependency, policy));
  }

  /** Forces a state, or takes that back with `none`. With `lastingMs` it ends by itself so long after. */
  force(mode: Mode, options: { lastingMs?: number; note?: string } = {}): Promise<Receipt> {
    return this.#control((o) => o.force(this.dependency, mode, options.lastingMs ?? null, options.note ?? ""));
  }

  /** Closes the breaker and lets it forget what was. The policy stays. */
  reset(): Promise<Receipt> {
    return this.#control((o) => o.reset(this.dependency));
  }

  /** Removes the record, its history and its policy, and takes the dependency off the list. */
  async forget(): Promise<Receipt> {
    const receipt = await this.#control<Receipt>((o) => o.forget(this.dependency));
    await this.#leave();
    return receipt;
  }

  /**
   * Removes the record if nobody needs it, takes the dependency off the list then, and says whether it did: only while it
   * is closed, with nothing forced and no policy of its own, and only if nothing was written to it for so many ms.
   */
  async prune(idleMs: number): Promise<boolean> {
    const removed = await this.#control<boolean>((o) => o.prune(this.dependency, idleMs));
    if (removed) await this.#leave();
    return removed;
  }

  /** The last transitions, the latest last: at most `limit`, 1 to 10,000. */
  history(limit = 100): Promise<Transition[]> {
    return this.#reach.ask((o) => o.history(this.dependency, limit));
  }

  /** The settings of scheduled recovery; null where it is off. */
  recovery(): Promise<RecoverySettings | null> {
    return this.#reach.ask((o) => o.recovery(this.dependency));
  }

  /** Switches scheduled recovery on, or off with null. */
  setRecovery(settings: RecoverySettings | null): Promise<RecoverySettings | null> {
    return this.#reach.ask((o) => o.setRecovery(this.dependency, settings));
  }

  async #ask(): Promise<Decision> {
    const settled = this.#local.take();
    // Nobody waits for a probe that comes late; without this its lease would have to run out.
    const late = (answer: Promise<Reply<Decision>>): void =>
      afterwards(
        answer.then(async (reply) => {
          if (reply.ok && reply.value.kind === "probe") await this.release(reply.value.permit);
        }),
      );
    const decision = await this.#reach.ask<Decision>((o) => {
      return settled.length === 0
        ? o.acquire(this.dependency, this.#caller)
        : o.settleAndAcquire(this.dependency, this.#caller, settled);
    }, late);
    this.#enlist();
    return decision;
  }

  #answer(known: LocalDecision, basis: Basis): Admitted | Deferred {
    return known.kind === "proceed" ? this.#admitted(known.admission, basis) : deferred(known.deferral, basis, null);
  }

  #admitted(admission: Admission, basis: Basis): Admitted {
    const { permit } = admission;
    const terms = { role: "call", permit, token: null, expiresInMs: null, basis } as const;
    return new Admitted(terms, {
      report: (outcome, tookMs) => this.#settle(admission, outcome, tookMs),
      renew: () => this.renew(permit),
    });
  }

  #probe({ permit, token, expiresInMs }: Decision & { kind: "probe" }): Admitted {
    return new Admitted({ role: "probe", permit, token, expiresInMs, basis: "object" }, {
      report: (outcome, tookMs) => this.report(permit, outcome, tookMs),
      renew: () => this.renew(permit),
    });
  }

  #unrecorded(basis: Basis): Admitted {
    const terms = { role: "call", permit: null, token: null, expiresInMs: null, basis } as const;
    return new Admitted(terms, {
      report: () => Promise.resolve(null),
      renew: () => Promise.reject(new BreakerError({ code: "invalid-argument", message: "there is no lease to renew" })),
    });
  }

  /** Settles a closed-state call: a success is counted here while the look is fresh, a failure is reported at once. */
  async #settle(admission: Admission, outcome: Outcome, tookMs: number | undefined): Promise<Receipt | null> {
    if (outcome === "ignored") return null;
    const slow = admission.slowerThanMs !== null && tookMs !== undefined && tookMs >= admission.slowerThanMs;
    this.#local.count(admission.permit, outcome, slow);
    if (outcome === "success" && this.#fresh() && admission.freshForMs > 0) {
      this.#handOverSoon();
      return null;
    }
    return this.#handOver(admission.permit);
  }

  /** Hands over what was counted, and answers what came of one permit's. */
  async #handOver(permit?: string): Promise<Receipt | null> {
    let receipt: Receipt | null = null;
    for (const settled of this.#local.take()) {
      const came = await this.reportTally(settled.permit, settled.tally);
      if (settled.permit === permit) receipt = came;
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

  #withoutObject(fault: Fault): Admitted | Deferred {
    const choice = this.#options.whenUnreachable ?? "fail-closed";
    if (choice === "fail-open") return this.#unrecorded(choice);
    const known = choice === "last-known" ? this.#local.lastKnown(instant()) : null;
    if (known?.kind === "proceed") return this.#unrecorded(choice);
    if (known?.kind === "defer") return deferred(known.deferral, choice, fault);
    const [retryAfterMs, spreadMs] = [UNREACHABLE_WAIT, UNREACHABLE_WAIT];
    return { deferred: true, retryAfterMs, spreadMs, reason: "unreachable", basis: "fail-closed", fault };
  }

  /** What this isolate learns it acts on at once: an answer that does not fit the last look ends it. */
  #learn(receipt: Receipt): Receipt {
    if (!receipt.applied || receipt.state !== "closed" || receipt.transitions.length > 0) this.#local.forget();
    return receipt;
  }

  async #control<T>(call: Parameters<Reach["ask"]>[0]): Promise<T> {
    const answer = await this.#reach.ask<T>(call);
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

/** Does something that nobody waits for, also beyond the response. */
function afterwards(work: Promise<unknown>): void {
  waitUntil(work.catch((error: unknown) => console.warn(`halfopen: ${error instanceof Error ? error.message : String(error)}`)));
}
