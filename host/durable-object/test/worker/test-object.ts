import { HalfOpen } from "../../dist/index.js";
import type { Surroundings } from "../../dist/surroundings.js";

/** What a test gives to an object. It lives as long as the object does: a restart forgets it. */
export interface Setup {
  /** The instant on the virtual clock. */
  now?: bigint;
  seed?: bigint;
  policy?: unknown;
}

/** The shipped class with a clock, a randomness and a default policy that the test holds in its hands. */
export class TestObject extends HalfOpen {
  readonly #setup: { now: bigint | null; seed: bigint };
  readonly #surroundings: Surroundings;

  constructor(ctx: DurableObjectState, env: unknown) {
    const setup: { now: bigint | null; seed: bigint } = { now: null, seed: 1n };
    const surroundings: Surroundings = {
      now: () => setup.now ?? Date.now(),
      random: () => {
        setup.seed = BigInt.asUintN(64, setup.seed + 0x9e3779b97f4a7c15n);
        return mixed(setup.seed);
      },
    };
    super(ctx, env, surroundings);
    this.#setup = setup;
    this.#surroundings = surroundings;
  }

  setUp({ now, seed, policy }: Setup): void {
    if (now !== undefined) this.#setup.now = now;
    if (seed !== undefined) this.#setup.seed = seed;
    if (policy !== undefined) this.#surroundings.defaultPolicy = policy as NonNullable<Surroundings["defaultPolicy"]>;
  }

  /** Ends the object; the next call makes it anew from what is stored. */
  restart(): void {
    this.ctx.abort("restarted by a test");
  }

  async wipe(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }
}

/** SplitMix64. */
function mixed(state: bigint): bigint {
  let z = state;
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}
