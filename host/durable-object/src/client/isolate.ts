/** The memory of an isolate. Only plain data is kept in it: promises and stubs belong to one request. */
import { BreakerError, type Fault, isMistake } from "../contract/faults.js";
import { checkedReport } from "../contract/report.js";
import type { Receipt, Report } from "../contract/types.js";
import { CachedDecision } from "./cached-decision.js";
import { Claim } from "./claim.js";
import { type Instant, instant } from "./instant.js";
import type { WhenUnreachable } from "./options.js";
import { Outage } from "./outage.js";
import { Outbox } from "./outbox.js";
import type { Method, Rpc } from "./rpc.js";

/** The most dependencies of a binding: names that come from users could be without end. */
const MOST = 10_000;
/** A claim outlasts the time limit of its call by this many ms. */
export const CLAIM_SLACK = 1_000;

/** The memory of one dependency. */
export class IsolateState {
  readonly decision = new CachedDecision();
  readonly outbox: Outbox;
  readonly #outages = new Map<number, Outage>();
  /** The claim of the request that asks the object. */
  readonly question = new Claim();
  /** When this isolate last put the dependency on the list of its namespace. */
  enlisted: Instant | null = null;

  constructor(dependency: string) {
    this.outbox = new Outbox(dependency);
  }

  /** The outage for a limit: an object that is too slow for one client may be fast enough for another. */
  outage(answerWithinMs: number): Outage {
    const outage = this.#outages.get(answerWithinMs) ?? new Outage();
    this.#outages.set(answerWithinMs, outage);
    return outage;
  }
}

/** How a client admits calls. */
export interface Terms {
  dependency: string;
  caller: string;
  whenUnreachable: WhenUnreachable;
  answerWithinMs: number;
  localAdmission: boolean;
  redact?: ((cause: string) => string) | undefined;
}

/** A client's part of an isolate: its terms, the way to its object, and the memory that it shares with other clients. */
export class Isolate {
  /** The outage as clients see it that give the object as long to answer. */
  readonly outage: Outage;

  constructor(
    readonly terms: Terms,
    readonly rpc: Rpc,
    readonly state: IsolateState,
  ) {
    this.outage = state.outage(terms.answerWithinMs);
  }

  /** The time in ms for which a call of the object claims work that requests share. */
  get claimMs(): number {
    return this.terms.answerWithinMs + CLAIM_SLACK;
  }

  /** The receipt of a method, which is acted on at once, also where it comes late. An operator's act has no permit. */
  receipt(permit: string | null, method: Method<Receipt>): Promise<Receipt> {
    const sent = this.state.decision.send();
    return this.rpc.call(method, (receipt) => {
      this.outage.over();
      this.state.decision.learn(permit, receipt, sent);
    });
  }

  /** Reports under a permit that is settled by itself: a probe's, or one that another Worker was given. */
  report(permit: string, report: Report): Promise<Receipt> {
    return this.receipt(permit, (o) => o.report(this.terms.dependency, permit, this.blamed(report)));
  }

  /** A report with the client's name, and with the cause that the client lets out. */
  blamed(report: Report): Report {
    const { caller, redact } = this.terms;
    const named = { caller, ...report };
    if (redact === undefined || report.cause === undefined) return named;
    try {
      return checkedReport({ ...named, cause: redact(report.cause) });
    } catch (error) {
      console.error(`halfopen: redact failed, so a cause is left out: ${error instanceof Error ? error.name : typeof error}`);
      return { ...named, cause: "" };
    }
  }

  /** Renews the lease of a probe. */
  renew(permit: string): Promise<Receipt> {
    return this.receipt(permit, (o) => o.renew(this.terms.dependency, permit));
  }

  /** Remembers a fault of the object. The caller's own mistake is thrown. */
  failed(error: unknown, sent: Instant): Fault {
    if (!(error instanceof BreakerError) || isMistake(error)) throw error;
    if (this.outage.failed(error.fault, sent, instant())) {
      const { dependency, whenUnreachable } = this.terms;
      console.error(`halfopen: ${JSON.stringify(dependency)} answers ${whenUnreachable}: ${error.message}`);
    }
    return error.fault;
  }
}

let memory = new WeakMap<object, Map<string, IsolateState>>();

/** The memory of a dependency, by its binding and a key. */
export function stateOf(objects: object, key: string, dependency: string): IsolateState {
  const ofBinding = memory.get(objects) ?? new Map<string, IsolateState>();
  memory.set(objects, ofBinding);
  let state = ofBinding.get(key);
  if (state === undefined) {
    state = new IsolateState(dependency);
    const [oldest, dropped] = ofBinding.size < MOST ? [] : (ofBinding.entries().next().value ?? []);
    dropped?.outbox.abandon("the isolate has too many dependencies");
    ofBinding.delete(oldest ?? "");
  }
  // The one that was used last comes last, so that the first is the one that is missed least.
  ofBinding.delete(key);
  ofBinding.set(key, state);
  return state;
}

/** Forgets all that the isolate remembers of its breakers, outcomes that wait included. For tests: each begins anew. */
export function forgetAll(): void {
  memory = new WeakMap();
}
