/**
 * Runs calls of the component against the storage of one object.
 *
 * @module
 */
import { type Exports, type Ports, Runtime, embedded, hasPayload } from "./component.js";
import { next } from "./entropy.js";
import { BreakerError, faultOf } from "./faults.js";
import { Store, StoreFailure, failure } from "./store.js";
import type { Internals, Surroundings } from "./surroundings.js";

const EMBEDDED = new Runtime(embedded);

export class Engine {
  readonly store: Store;
  readonly #storage: DurableObjectStorage;
  readonly #surroundings: Surroundings & Internals;
  readonly #ports: Ports;

  constructor(storage: DurableObjectStorage, surroundings: Surroundings & Internals) {
    const store = new Store(storage.sql, surroundings.history ?? 1000);
    this.store = store;
    this.#storage = storage;
    this.#surroundings = surroundings;
    this.#ports = {
      load: (dependency) => store.load(dependency),
      commit: (...args) => store.commit(...args),
      now: () => this.now(),
      next: surroundings.random ?? next,
    };
  }

  /** The instant, in ms since the epoch of Unix. */
  now(): bigint {
    return BigInt(this.#surroundings.now?.() ?? Date.now());
  }

  /** One call of the component in one transaction, which stands only if the call returns. */
  run<T>(call: (exports: Exports) => T): T {
    const { runtime = EMBEDDED, defaultPolicy } = this.#surroundings;
    return this.transaction(() => runtime.run(defaultPolicy, this.#ports, call));
  }

  /**
   * Runs synchronous work in one transaction.
   *
   * @throws BreakerError whatever goes wrong; nothing was written then.
   */
  transaction<T>(work: () => T): T {
    const { store } = this;
    store.wrote = false;
    let thrown: unknown;
    try {
      const value = this.#storage.transactionSync(() => {
        try {
          store.prepare();
          return work();
        } catch (error) {
          thrown = error;
          throw error;
        }
      });
      store.committed();
      return value;
    } catch (error) {
      store.rolledBack();
      throw sorted(error, error === thrown);
    }
  }
}

/** An error as a fault; `inside` the transaction, or of the transaction itself. */
function sorted(error: unknown, inside: boolean): BreakerError {
  if (error instanceof BreakerError) return error;
  const cause = { cause: error };
  if (error instanceof StoreFailure) return new BreakerError(faultOf({ tag: "storage", val: error.payload }), cause);
  if (!inside) return new BreakerError(faultOf({ tag: "storage", val: failure(error).payload }), cause);
  if (hasPayload(error)) return new BreakerError(faultOf(error.payload), cause);
  const why = error instanceof Error ? error.message : String(error);
  return new BreakerError({ code: "component", message: `the component failed: ${why}` }, cause);
}
