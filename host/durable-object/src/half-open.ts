/**
 * The Durable Object.
 *
 * @module
 */
import { DurableObject } from "cloudflare:workers";

import type * as wit from "../generated/interfaces/halfopen-breaker-types.js";
import * as take from "./arguments.js";
import type { Exports } from "./component.js";
import * as show from "./convert.js";
import { Engine } from "./engine.js";
import { BreakerError, type Reply, invalidArgument } from "./faults.js";
import { type PolicyInForce, type PolicyInput, readPolicy, writePolicy } from "./policy.js";
import { Recovery, type RecoverySettings } from "./recovery.js";
import type { Surroundings } from "./surroundings.js";
import type { Decision, Inspection, Mode, Outcome, Receipt, Tally, Transition } from "./types.js";

/** Outcomes that an isolate has counted, handed over when it asks again. */
export interface Settlement {
  /** What the calls were admitted under. */
  permit: string;
  /** How they ended. */
  tally: Tally;
}

/**
 * The breakers of one dependency, on the object's own SQLite database.
 *
 * Every method answers a {@link Reply}: the value, or the fault as data; it throws nothing of its own. The client
 * {@link breaker} turns faults into errors. Each call of the component runs in one transaction, which stands only if the
 * component says so, and no answer leaves the object before what it rests on is durable.
 *
 * To set a default policy or a probe of your own, extend it and pass {@link Surroundings} to the constructor.
 */
export class HalfOpen<Env = unknown> extends DurableObject<Env> {
  readonly #engine: Engine;
  readonly #recovery: Recovery;

  constructor(ctx: DurableObjectState, env: Env, surroundings: Surroundings = {}) {
    super(ctx, env);
    this.#engine = new Engine(ctx.storage, withDefaultPolicy(surroundings, env));
    this.#recovery = new Recovery(ctx.storage, this.#engine, surroundings.probe);
  }

  /** Asks whether a call may be made. `caller`, up to 64 bytes, is kept with a lease and shown by `inspect`. */
  acquire(dependency: string, caller: string): Reply<Decision> {
    return reply(() => this.#acquire(dependency, caller));
  }

  /** The same, after handing over what was counted since the last time. Each is a call of its own. */
  settleAndAcquire(dependency: string, caller: string, settled: Settlement[]): Reply<Decision> {
    return reply(() => {
      if (!Array.isArray(settled)) throw invalidArgument(`what is settled must be an array, not ${take.kind(settled)}`);
      for (const one of settled) {
        if (!take.isRecord(one)) throw invalidArgument(`a settlement must be an object, not ${take.kind(one)}`);
        this.#tally(dependency, one.permit, one.tally);
      }
      return this.#acquire(dependency, caller);
    });
  }

  /** Reports the outcome of a call, and how many ms it took where that is known. */
  report(dependency: string, permit: string, outcome: Outcome, tookMs?: number | bigint | null): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const held = take.permit(permit);
      const ended = take.outcome(outcome);
      const took = take.optionalU64("how long the call took", tookMs);
      return ({ breaker }, name) => breaker.report(name, held, ended, took);
    });
  }

  /** Reports the outcomes of many closed-state calls. They are judged once, after all of them are counted. */
  reportTally(dependency: string, permit: string, tally: Tally): Reply<Receipt> {
    return reply(() => show.receipt(this.#tally(dependency, permit, tally)));
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
    return reply(() => show.inspection(this.#run(dependency, ({ control }, name) => control.inspect(name))));
  }

  /** The policy that the dependency goes by. */
  policy(dependency: string): Reply<PolicyInForce> {
    return reply(() => {
      const { policy, origin } = this.#run(dependency, ({ control }, name) => control.policy(name));
      return { policy: writePolicy(policy), origin };
    });
  }

  /** Gives the dependency a policy of its own; what it leaves out gets its built-in default. */
  configure(dependency: string, policy: PolicyInput): Reply<Receipt> {
    return this.#receipt(dependency, () => ({ control, setup }, name) => {
      return control.configure(name, readPolicy(policy, setup.builtInPolicy()));
    });
  }

  /** Forces a state, or takes that back. With `lastingMs` it ends by itself so long after. The note has up to 100 bytes. */
  force(dependency: string, mode: Mode, lastingMs?: number | bigint | null, note: string = ""): Reply<Receipt> {
    return this.#receipt(dependency, () => {
      const forced = take.mode(mode);
      const lasting = take.optionalU64("how long it lasts", lastingMs);
      const noted = take.text("the note", note);
      return ({ control }, name) => control.force(name, forced, lasting, noted);
    });
  }

  /** Closes the breaker and lets it forget what was. The policy stays. Also mends a damaged record. */
  reset(dependency: string): Reply<Receipt> {
    return this.#receipt(dependency, () => ({ control }, name) => control.reset(name));
  }

  /** Removes the record, its history and its policy. What was out stays stale. */
  forget(dependency: string): Reply<Receipt> {
    return this.#receipt(dependency, () => ({ control }, name) => control.forget(name));
  }

  /**
   * Removes the record if nobody needs it, and says whether it did: only while it is closed, with nothing forced and no
   * policy of its own, and only if nothing was written to it for so many ms.
   */
  prune(dependency: string, idleMs: number | bigint): Reply<boolean> {
    return reply(() => {
      const idle = take.u64("how long it was idle", idleMs);
      return this.#run(dependency, ({ control }, name) => control.prune(name, idle));
    });
  }

  /** The last transitions, the latest last: at most `limit`, 1 to 10,000. */
  history(dependency: string, limit: number = 100): Reply<Transition[]> {
    return reply(() => {
      const name = take.dependencyName(dependency);
      if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
        throw invalidArgument(`the limit must be a whole number from 1 to 10000, not ${take.kind(limit)}`);
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

  /** For the object that lists a namespace: adds a dependency. */
  enlist(dependency: string): Reply<null> {
    return this.#directory("INSERT OR IGNORE INTO halfopen_directory VALUES (?)", dependency);
  }

  /** Takes it off the list. */
  delist(dependency: string): Reply<null> {
    return this.#directory("DELETE FROM halfopen_directory WHERE dependency = ?", dependency);
  }

  /** The list, sorted. */
  enlisted(): Reply<string[]> {
    return reply(() => {
      const query = "SELECT dependency FROM halfopen_directory ORDER BY dependency";
      const rows = this.#engine.transaction(() => this.#engine.store.rows<{ dependency: string }>(query));
      return rows.map(({ dependency }) => dependency);
    });
  }

  /** Called by the runtime when a scheduled probe is due. */
  override async alarm(): Promise<void> {
    await this.#recovery.alarm();
  }

  #acquire(dependency: string, caller: string): Decision {
    const asking = take.text("the caller's name", caller);
    return show.decision(this.#run(dependency, ({ breaker }, name) => breaker.acquire(name, asking)));
  }

  #tally(dependency: string, permit: string, tally: Tally): wit.Receipt {
    const held = take.permit(permit);
    const counted = take.tally(tally);
    return this.#run(dependency, ({ breaker }, name) => breaker.reportTally(name, held, counted));
  }

  #receipt(dependency: string, prepare: () => (exports: Exports, name: string) => wit.Receipt): Reply<Receipt> {
    return reply(() => show.receipt(this.#run(dependency, prepare())));
  }

  #run<T>(dependency: string, call: (exports: Exports, name: string) => T): T {
    const name = take.dependencyName(dependency);
    const value = this.#engine.run((exports) => call(exports, name));
    if (this.#engine.store.wrote) this.#recovery.changed(name);
    return value;
  }

  #directory(query: string, dependency: string): Reply<null> {
    return reply(() => {
      const name = take.dependencyName(dependency);
      this.#engine.transaction(() => this.#engine.store.rows(query, name));
      return null;
    });
  }
}

/** The policy as `wrangler.jsonc` gives it, unless the code gives one. */
function withDefaultPolicy(surroundings: Surroundings, env: unknown): Surroundings {
  const given = take.isRecord(env) ? env["HALFOPEN_POLICY"] : undefined;
  if (given === undefined || surroundings.defaultPolicy !== undefined) return surroundings;
  let policy: unknown = given;
  try {
    if (typeof given === "string") policy = JSON.parse(given) as unknown;
  } catch {
    // What is no JSON is no policy either; every call will say so.
  }
  return { ...surroundings, defaultPolicy: policy as PolicyInput };
}

function reply<T>(work: () => T): Reply<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    if (error instanceof BreakerError) return { ok: false, fault: error.fault };
    throw error;
  }
}
