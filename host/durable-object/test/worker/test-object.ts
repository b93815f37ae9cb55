import { HalfOpen, type Reply } from "../../dist/index.js";
import type { Batch, Decision, ObjectOptions, Receipt, Report, Settled, Tally } from "../../dist/index.js";
import type { Internals } from "../../dist/object/options.js";
import { Hostile, type Misdeed } from "./hostile.js";
import { decode, encode } from "./json.js";

/** Settings that a test gives to an object. A restart forgets them. */
export interface Setup {
  /** The instant on the virtual clock; null for the real one. */
  now?: bigint | null;
  seed?: bigint;
  policy?: unknown;
  /** What the component does after it has done its work. */
  misdeed?: Misdeed;
  /** Whether every call throws what is no fault. */
  broken?: boolean;
}

/** The shipped class with a clock, a randomness, a default policy and a component that the test holds in its hands. */
export class TestObject extends HalfOpen {
  readonly #setup: { now: bigint | null; seed: bigint; broken: boolean };
  readonly #options: ObjectOptions & Internals;
  readonly #hostile: Hostile;
  #calls: string[] = [];

  constructor(ctx: DurableObjectState, env: unknown) {
    const setup: { now: bigint | null; seed: bigint; broken: boolean } = { now: null, seed: 1n, broken: false };
    const hostile = new Hostile();
    const options: ObjectOptions & Internals = {
      now: () => setup.now ?? Date.now(),
      random: () => {
        setup.seed = BigInt.asUintN(64, setup.seed + 0x9e3779b97f4a7c15n);
        return mixed(setup.seed);
      },
      // A probe that never ends, and ignores its signal.
      ...(ctx.id.name?.includes("custom probe") === true ? { probe: () => new Promise<never>(() => {}) } : {}),
      get runtime() {
        return hostile.runtime;
      },
    };
    super(ctx, env, options);
    this.#setup = setup;
    this.#options = options;
    this.#hostile = hostile;
  }

  setUp({ now, seed, policy, misdeed, broken }: Setup): void {
    if (now !== undefined) this.#setup.now = now;
    if (seed !== undefined) this.#setup.seed = seed;
    if (policy !== undefined) this.#options.defaultPolicy = policy as NonNullable<ObjectOptions["defaultPolicy"]>;
    if (misdeed !== undefined) this.#hostile.misdeed = misdeed;
    if (broken !== undefined) this.#setup.broken = broken;
  }

  /** Calls a method at an instant of a virtual clock. The arguments are encoded, since they may hold bigints. */
  at(now: bigint, method: string, args: string): unknown {
    this.#setup.now = now;
    return (this as unknown as Record<string, (...args: unknown[]) => unknown>)[method]?.(...(decode(args) as unknown[]));
  }

  /** Ends the object; the next call makes it anew from what is stored. */
  restart(): void {
    this.ctx.abort("restarted by a test");
  }

  async wipe(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  /** Answers no call for the given time. */
  async busy(ms: number): Promise<void> {
    await this.ctx.blockConcurrencyWhile(() => new Promise((resolve) => setTimeout(resolve, ms)));
  }

  /** Runs SQL on the object's own database. */
  sql(query: string): unknown[] {
    return this.ctx.storage.sql.exec(query).toArray();
  }

  /** How many instances of the component were made for this object. */
  instances(): number {
    return this.#hostile.made;
  }

  alarmAt(): Promise<number | null> {
    return this.ctx.storage.getAlarm();
  }

  /** The calls of the breaker so far, and forgets them. */
  calls(): string[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  /** Acquires and reports the given number of times. */
  hammer(dependency: string, times: number): void {
    for (let time = 0; time < times; time++) {
      const decision = super.acquire(dependency, "hammer");
      if (!decision.ok || decision.value.kind !== "proceed") throw new Error(JSON.stringify(decision));
      const receipt = super.report(dependency, decision.value.permit, {
        outcome: time % 3 === 0 ? "failure" : "success",
        tookMs: 5,
      });
      if (!receipt.ok || !receipt.value.applied) throw new Error(JSON.stringify(receipt));
    }
  }

  override acquire(dependency: string, caller: string): Reply<Decision> {
    this.#note("acquire");
    return super.acquire(dependency, caller);
  }

  override settleAndAcquire(dependency: string, caller: string, batch: Batch | null): Reply<Settled<Decision>> {
    this.#note(batch === null ? "acquire" : `settleAndAcquire ${encode(batch?.settled)}`);
    return super.settleAndAcquire(dependency, caller, batch);
  }

  override settle(dependency: string, caller: string, batch: Batch): Reply<Settled<Decision | null>> {
    this.#note(`settle ${encode(batch?.settled)}`);
    return super.settle(dependency, caller, batch);
  }

  override report(dependency: string, permit: string, report: Report): Reply<Receipt> {
    this.#note(`report ${report?.outcome}`);
    return super.report(dependency, permit, report);
  }

  override reportTally(dependency: string, permit: string, tally: Tally): Reply<Receipt> {
    this.#note(`reportTally ${encode(tally)}`);
    return super.reportTally(dependency, permit, tally);
  }

  override renew(dependency: string, permit: string): Reply<Receipt> {
    this.#note("renew");
    return super.renew(dependency, permit);
  }

  override release(dependency: string, permit: string): Reply<Receipt> {
    this.#note("release");
    return super.release(dependency, permit);
  }

  #note(call: string): void {
    if (this.#setup.broken) throw new Error("broken by a test");
    this.#calls.push(call);
  }
}

/** SplitMix64. */
function mixed(state: bigint): bigint {
  let z = state;
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}
