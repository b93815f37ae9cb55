/**
 * The Durable Object.
 *
 * @module
 */
import { DurableObject } from "cloudflare:workers";

import type * as wit from "../../generated/interfaces/halfopen-breaker-types.js";
import type { Inspection, Policy, PolicyInForce, PolicyInput, Transition } from "../contract/documents.js";
import { BreakerError, type Reply, invalidArgument } from "../contract/faults.js";
import type { Batch, Decision, Mode, Operator, Receipt, Report, Settled, Tally } from "../contract/types.js";
import { kind } from "../contract/values.js";
import * as take from "./arguments.js";
import type { Exports } from "./component.js";
import * as show from "./convert.js";
import { Engine } from "./engine.js";
import type { ObjectOptions } from "./options.js";
import { Recovery, type RecoverySettings } from "./recovery.js";

/**
 * The breakers of one dependency, on the object's own SQLite database.
 *
 * Every method answers a {@link Reply}: the value, or the fault as data; it throws nothing of its own. The client
 * {@link breaker} turns faults into errors. Each call of the component runs in one transaction, which stands only if the
 * component returns, and no answer leaves the object before all that it rests on is durable.
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

  /** Decides whether a call may be made. `caller` is kept with a lease and shown by `inspect`; cut at 128 bytes. */
  acquire(dependency: string, caller: string): Reply<Decision> {
    return reply(() => this.#acquire(dependency, caller));
  }

  /** The same, after the outcomes that an isolate has counted are reported. */
  settleAndAcquire(dependency: string, caller: string, batch: Batch): Reply<Settled<Decision>> {
    return reply(() => {
      const receipts = this.#settle(dependency, batch);
      return { receipts, decision: this.#acquire(dependency, caller) };
    });
  }

  /** Reports the outcomes that an isolate has counted. While closed the answer also holds the decision for a further call. */
  settle(dependency: string, caller: string, batch: Batch): Reply<Settled<Decision | null>> {
    return reply(() => {
      const receipts = this.#settle(dependency, batch);
      // Only while closed does an acquire take no lease.
      const closed = receipts.at(-1)?.state === "closed";
      return { receipts, decision: closed ? this.#acquire(dependency, caller) : null };
    });
  }

  /** Reports the outcome of a call. A report with a lease may be repeated; any other must not be. */
  report(dependency: string, permit: string, report: Report): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const held = take.permit(permit);
      const ended = take.report(report);
      return ({ breaker }, name) => breaker.report(name, held, ended);
    });
  }

  /** Reports the outcomes of many closed-state calls. They are judged once, after all of them are counted. */
  reportTally(dependency: string, permit: string, tally: Tally): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const held = take.permit(permit);
      const counted = take.tally(tally);
      return ({ breaker }, name) => breaker.reportTally(name, held, counted);
    });
  }

  /** Lets a live lease start anew, now, never to end later than `probe_max_ms` after its grant. */
  renew(dependency: string, permit: string): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const held = take.permit(permit);
      return ({ breaker }, name) => breaker.renew(name, held);
    });
  }

  /** Gives a permit back unused. */
  release(dependency: string, permit: string): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const held = take.permit(permit);
      return ({ breaker }, name) => breaker.release(name, held);
    });
  }

  /** Shows the breaker. It changes nothing and takes no lease. */
  inspect(dependency: string): Reply<Inspection> {
    return reply(() => JSON.parse(this.#run(dependency, ({ control }, name) => control.inspect(name))) as Inspection);
  }

  /** The policy of the dependency. */
  policy(dependency: string): Reply<PolicyInForce> {
    return reply(() => {
      const { policy, origin } = this.#run(dependency, ({ control }, name) => control.policy(name));
      return { policy: JSON.parse(policy) as Policy, origin };
    });
  }

  /** Gives the dependency a policy of its own, as an object or its JSON text; with null it goes back to the default. */
  configure(dependency: string, policy: PolicyInput | string | null, operator?: Operator): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const text = policy === null ? undefined : take.policyText(policy);
      const acting = take.operator(operator);
      return ({ control }, name) => control.configure(name, text, acting);
    });
  }

  /** Forces a state, or takes an override back. With `lastingMs` it ends by itself that many ms after it was set. */
  force(dependency: string, mode: Mode, lastingMs?: number | bigint | null, operator?: Operator): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const forced = take.mode(mode);
      const lasting = take.optionalU64("the length of a force", lastingMs);
      const acting = take.operator(operator);
      return ({ control }, name) => control.force(name, forced, lasting, acting);
    });
  }

  /** Closes the breaker and lets it forget what was. The policy stays. Also mends a damaged record. */
  reset(dependency: string, operator?: Operator): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const acting = take.operator(operator);
      return ({ control }, name) => control.reset(name, acting);
    });
  }

  /** Removes the record, its history and its policy. Permits that are out stay stale. */
  forget(dependency: string, operator?: Operator): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const acting = take.operator(operator);
      return ({ control }, name) => control.forget(name, acting);
    });
  }

  /**
   * Removes the record of a dependency that is no longer used, and answers whether it did: only while it is closed, with
   * nothing forced and no policy of its own, and only if nothing was written to it for `idleMs` or longer.
   */
  prune(dependency: string, idleMs: number | bigint, operator?: Operator): Reply<boolean> {
    return reply(() => {
      const idle = take.u64("the idle time", idleMs);
      const acting = take.operator(operator);
      return this.#run(dependency, ({ control }, name) => control.prune(name, idle, acting));
    });
  }

  /** The last transitions, the latest last: at most `limit`, 1 to 10,000. */
  history(dependency: string, limit: number = 100): Reply<Transition[]> {
    return reply(() => {
      const name = take.dependencyName(dependency);
      if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
        throw invalidArgument(`the limit must be a whole number from 1 to 10000, not ${kind(limit)}`);
      }
      return this.#engine.transaction(() => this.#engine.store.history(name, limit));
    });
  }

  /** The settings of scheduled recovery; null where it is off, which is the default. */
  recovery(dependency: string): Reply<RecoverySettings | null> {
    return reply(() => this.#recovery.settings(take.dependencyName(dependency)));
  }

  /** Switches scheduled recovery on, or off with null. */
  setRecovery(dependency: string, settings: RecoverySettings | null): Reply<RecoverySettings | null> {
    return reply(() => this.#recovery.set(take.dependencyName(dependency), settings));
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
    return reply(() => {
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
    return show.decision(decision, () => {
      const { policy } = this.#run(dependency, ({ control }, name) => control.policy(name));
      return (JSON.parse(policy) as Policy).probe_max_ms;
    });
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

  #receipt(dependency: string, prepare: () => (exports: Exports, name: string) => wit.Receipt): Reply<Receipt> {
    return reply(() => show.receipt(this.#run(dependency, prepare()), this.#engine.now()));
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
    return reply(() => {
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

function reply<T>(work: () => T): Reply<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    if (error instanceof BreakerError) return { ok: false, fault: error.fault };
    throw error;
  }
}
