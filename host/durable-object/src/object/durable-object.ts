/** The Durable Object. */
import { DurableObject } from "cloudflare:workers";

import type * as wit from "../../generated/interfaces/halfopen-breaker-types.js";
import type { Inspection, Policy, PolicyInForce, PolicyInput, Transition } from "../contract/documents.js";
import { type Reply, invalidArgument, replyOf } from "../contract/faults.js";
import type { Batch, Decision, Mode, Operator, Receipt, Report, Settled, Tally } from "../contract/types.js";
import { kind, optionalU64, u64 } from "../contract/values.js";
import * as take from "./arguments.js";
import type { Exports } from "./component.js";
import * as show from "./convert.js";
import { Engine } from "./engine.js";
import type { ObjectOptions } from "./options.js";
import { Recovery, type RecoverySettings } from "./recovery.js";

/**
 * The breakers of one dependency, on the object's own SQLite database.
 *
 * The methods are those of the client {@link Breaker}, which describes them. Each answers a {@link Reply}: the value, or
 * the fault as data; it throws nothing of its own. Each call of the component runs in one transaction, which stands only
 * if the component returns, and no answer leaves the object before all that it rests on is durable.
 *
 * To set a default policy or a probe in code, extend it and pass {@link ObjectOptions} to the constructor.
 */
export class HalfOpen<Env = unknown> extends DurableObject<Env> {
  readonly #engine: Engine;
  readonly #recovery: Recovery;

  constructor(ctx: DurableObjectState, env: Env, options: ObjectOptions = {}) {
    super(ctx, env);
    this.#engine = new Engine(ctx.storage, withDefaultPolicy(options, env));
    this.#recovery = new Recovery(ctx.storage, this.#engine, options.probe);
  }

  acquire(dependency: string, caller: string): Reply<Decision> {
    return replyOf(() => this.#acquire(dependency, caller));
  }

  /** The same, after the outcomes that an isolate has counted are reported, where there are any. */
  settleAndAcquire(dependency: string, caller: string, batch: Batch | null): Reply<Settled<Decision>> {
    return replyOf(() => {
      const receipts = batch === null ? [] : this.#settle(dependency, batch);
      return { receipts, decision: this.#acquire(dependency, caller) };
    });
  }

  /** Reports the outcomes that an isolate has counted. While closed the answer also holds the decision for a further call. */
  settle(dependency: string, caller: string, batch: Batch): Reply<Settled<Decision | null>> {
    return replyOf(() => {
      const receipts = this.#settle(dependency, batch);
      // Only while closed does an acquire take no lease.
      const closed = receipts.at(-1)?.state === "closed";
      return { receipts, decision: closed ? this.#acquire(dependency, caller) : null };
    });
  }

  report(dependency: string, permit: string, report: Report): Reply<Receipt> {
    return this.#receipt(dependency, ({ breaker }, name) => breaker.report(name, take.permit(permit), take.report(report)));
  }

  reportTally(dependency: string, permit: string, tally: Tally): Reply<Receipt> {
    return this.#receipt(dependency, ({ breaker }, name) => breaker.reportTally(name, take.permit(permit), take.tally(tally)));
  }

  renew(dependency: string, permit: string): Reply<Receipt> {
    return this.#receipt(dependency, ({ breaker }, name) => breaker.renew(name, take.permit(permit)));
  }

  release(dependency: string, permit: string): Reply<Receipt> {
    return this.#receipt(dependency, ({ breaker }, name) => breaker.release(name, take.permit(permit)));
  }

  inspect(dependency: string): Reply<Inspection> {
    return replyOf(() => JSON.parse(this.#run(dependency, ({ control }, name) => control.inspect(name))) as Inspection);
  }

  policy(dependency: string): Reply<PolicyInForce> {
    return replyOf(() => this.#policy(dependency));
  }

  configure(dependency: string, policy: PolicyInput | string | null, operator?: Operator): Reply<Receipt> {
    return this.#receipt(dependency, ({ control }, name) => {
      return control.configure(name, policy === null ? undefined : take.policyText(policy), take.operator(operator));
    });
  }

  force(dependency: string, mode: Mode, lastingMs?: number | bigint | null, operator?: Operator): Reply<Receipt> {
    return this.#receipt(dependency, ({ control }, name) => {
      const lasting = optionalU64("the length of a force", lastingMs);
      return control.force(name, take.mode(mode), lasting, take.operator(operator));
    });
  }

  reset(dependency: string, operator?: Operator): Reply<Receipt> {
    return this.#receipt(dependency, ({ control }, name) => control.reset(name, take.operator(operator)));
  }

  forget(dependency: string, operator?: Operator): Reply<Receipt> {
    return this.#receipt(dependency, ({ control }, name) => control.forget(name, take.operator(operator)));
  }

  prune(dependency: string, idleMs: number | bigint, operator?: Operator): Reply<boolean> {
    return replyOf(() =>
      this.#run(dependency, ({ control }, name) => control.prune(name, u64("the idle time", idleMs), take.operator(operator))),
    );
  }

  history(dependency: string, limit: number = 100): Reply<Transition[]> {
    return replyOf(() => {
      const name = take.dependencyName(dependency);
      if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
        throw invalidArgument(`the limit must be a whole number from 1 to 10000, not ${kind(limit)}`);
      }
      return this.#engine.transaction(() => this.#engine.store.history(name, limit));
    });
  }

  recovery(dependency: string): Reply<RecoverySettings | null> {
    return replyOf(() => this.#recovery.settings(take.dependencyName(dependency)));
  }

  setRecovery(dependency: string, settings: RecoverySettings | null): Reply<RecoverySettings | null> {
    return replyOf(() => this.#recovery.set(take.dependencyName(dependency), settings));
  }

  /** Adds a dependency to the list of a namespace. Only the object that holds the list is called so. */
  enlist(dependency: string): Reply<null> {
    return this.#directory("INSERT OR IGNORE INTO halfopen_directory VALUES (?)", dependency);
  }

  /** Takes a dependency off the list. */
  delist(dependency: string): Reply<null> {
    return this.#directory("DELETE FROM halfopen_directory WHERE dependency = ?", dependency);
  }

  /** The list, sorted. */
  enlisted(): Reply<string[]> {
    return replyOf(() => {
      const query = "SELECT dependency FROM halfopen_directory ORDER BY dependency";
      const rows = this.#engine.transaction(() => this.#engine.store.select<{ dependency: string }>(query));
      return rows.map(({ dependency }) => dependency);
    });
  }

  /** Called by the runtime when a scheduled probe is due. */
  override async alarm(): Promise<void> {
    await this.#recovery.alarm();
  }

  #acquire(dependency: string, caller: string): Decision {
    const asking = take.text("the caller's name", caller);
    const decision = this.#run(dependency, ({ breaker }, name) => breaker.acquire(name, asking));
    return show.decision(decision, () => this.#policy(dependency).policy.probe_max_ms);
  }

  #policy(dependency: string): PolicyInForce {
    const { policy, origin } = this.#run(dependency, ({ control }, name) => control.policy(name));
    return { policy: JSON.parse(policy) as Policy, origin };
  }

  /** Counts a batch once, in one transaction: all of it, or nothing. */
  #settle(dependency: string, batch: Batch): Receipt[] {
    const name = take.dependencyName(dependency);
    const { sender, number, settled } = take.batch(batch);
    const receipts = this.#engine.transaction(() => {
      const { store } = this.#engine;
      if (store.counted(sender, number)) return [];
      const now = this.#engine.now();
      const receipts = settled.map(({ permit, tally }) => {
        return show.receipt(this.#engine.call(({ breaker }) => breaker.reportTally(name, permit, tally)), now);
      });
      store.count(sender, number, Number(now));
      return receipts;
    });
    this.#changed(name);
    return receipts;
  }

  #receipt(dependency: string, call: (exports: Exports, name: string) => wit.Receipt): Reply<Receipt> {
    return replyOf(() => show.receipt(this.#run(dependency, call), this.#engine.now()));
  }

  #run<T>(dependency: string, call: (exports: Exports, name: string) => T): T {
    const name = take.dependencyName(dependency);
    const value = this.#engine.run((exports) => call(exports, name));
    this.#changed(name);
    return value;
  }

  #changed(name: string): void {
    if (this.#engine.store.wrote) this.#recovery.changed(name);
  }

  #directory(query: string, dependency: string): Reply<null> {
    return replyOf(() => {
      const name = take.dependencyName(dependency);
      this.#engine.transaction(() => this.#engine.store.change(query, name));
      return null;
    });
  }
}

/** The policy as `wrangler.jsonc` gives it, an object or a JSON text, unless the code gives one. */
function withDefaultPolicy(options: ObjectOptions, env: unknown): ObjectOptions {
  const given = typeof env === "object" && env !== null ? (env as Record<string, unknown>)["HALFOPEN_POLICY"] : undefined;
  if (given === undefined || options.defaultPolicy !== undefined) return options;
  return { ...options, defaultPolicy: given as PolicyInput };
}
