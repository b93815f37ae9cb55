/** Runs calls of the component against the storage of one object. */
import { BreakerError, faultOf, messageOf } from "../contract/faults.js";
import { policyText } from "./arguments.js";
import { type Exports, type Ports, Runtime, embedded, hasPayload } from "./component.js";
import type { Internals, ObjectOptions } from "./options.js";
import { Store, StoreFailure, failure } from "./store.js";

const EMBEDDED = new Runtime(embedded);

/** The component over the storage of one object. */
export class Engine {
  readonly store: Store;
  readonly #storage: DurableObjectStorage;
  readonly #options: ObjectOptions & Internals;
  readonly #ports: Ports;
  /** The default policy, and its text. */
  #policy: { given: unknown; text: string | null } = { given: undefined, text: null };

  constructor(storage: DurableObjectStorage, options: ObjectOptions & Internals) {
    const store = new Store(storage.sql, options.history ?? 1000);
    this.store = store;
    this.#storage = storage;
    this.#options = options;
    this.#ports = {
      load: (dependency) => store.load(dependency),
      commit: (...args) => store.commit(...args),
      now: () => this.now(),
      next: options.random ?? (() => crypto.getRandomValues(new BigUint64Array(1))[0] as bigint),
    };
  }

  /** The instant, in ms since the Unix epoch. */
  now(): bigint {
    return BigInt(this.#options.now?.() ?? Date.now());
  }

  /** One call of the component in one transaction, which stands only if the call returns. */
  run<T>(call: (exports: Exports) => T): T {
    return this.transaction(() => this.call(call));
  }

  /** One call of the component in a transaction that is open already. */
  call<T>(call: (exports: Exports) => T): T {
    const { runtime = EMBEDDED, defaultPolicy } = this.#options;
    if (this.#policy.given !== defaultPolicy) this.#policy = { given: defaultPolicy, text: policyText(defaultPolicy) };
    return runtime.run(this.#policy.text, this.#ports, call);
  }

  /**
   * Runs synchronous work in one transaction.
   *
   * @throws BreakerError for every error; nothing was written then.
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

/** An error as a fault: one thrown `inside` the transaction, or an error of the transaction itself. */
function sorted(error: unknown, inside: boolean): BreakerError {
  if (error instanceof BreakerError) return error;
  const cause = { cause: error };
  if (error instanceof StoreFailure) return new BreakerError(faultOf({ tag: "storage", val: error.payload }), cause);
  if (!inside) return new BreakerError(faultOf({ tag: "storage", val: failure(error).payload }), cause);
  if (hasPayload(error)) return new BreakerError(faultOf(error.payload), cause);
  return new BreakerError({ code: "component", message: `the component failed: ${messageOf(error)}` }, cause);
}
