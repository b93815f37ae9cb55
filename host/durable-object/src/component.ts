/**
 * The component: instances of it, each with the policy that its host goes by.
 *
 * @module
 */
import { type Component, type ImportObject, instantiate } from "../generated/halfopen.js";
import main from "../generated/halfopen.core.wasm";
import shim from "../generated/halfopen.core2.wasm";
import fixup from "../generated/halfopen.core3.wasm";
import type * as storage from "../generated/interfaces/halfopen-breaker-storage.js";
import type * as wit from "../generated/interfaces/halfopen-breaker-types.js";
import { readPolicy } from "./policy.js";

export type Exports = Component;

/** What a host supplies to one call. */
export interface Ports {
  load: typeof storage.load;
  commit: typeof storage.commit;
  /** The instant, in ms since the epoch of Unix. */
  now(): bigint;
  /** A number, uniform over 64 bits. */
  next(): bigint;
}

/** Makes an instance whose imports are these. */
export type Instantiate = (ports: Ports) => Exports;

/** The component of this package. */
export const embedded: Instantiate = (ports) => {
  const modules: Record<string, WebAssembly.Module> = {
    "halfopen.core.wasm": main,
    "halfopen.core2.wasm": shim,
    "halfopen.core3.wasm": fixup,
  };
  // The generated code asks for its imports by names without a version; the declarations give them with one.
  const imports = {
    "halfopen:breaker/storage": { load: ports.load, commit: ports.commit },
    "halfopen:breaker/clock": { now: ports.now },
    "halfopen:breaker/entropy": { next: ports.next },
  };
  return instantiate((name) => modules[name] as WebAssembly.Module, imports as unknown as ImportObject);
};

/**
 * Instances of one component, shared by all objects of an isolate: calls are synchronous, so one instance serves them in
 * turn, each with its own ports. An object of its own instance each would cost a memory each.
 */
export class Runtime {
  readonly #instantiate: Instantiate;
  readonly #instances = new Map<string, Exports>();
  #ports: Ports | null = null;

  constructor(instantiate: Instantiate) {
    this.#instantiate = instantiate;
  }

  /** Runs a call on the instance for a default policy. An error of the component is thrown with its own `payload`. */
  run<T>(policy: unknown, ports: Ports, call: (exports: Exports) => T): T {
    const key = policy === undefined ? "" : JSON.stringify(policy, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
    this.#ports = ports;
    try {
      return call(this.#instances.get(key) ?? this.#make(key, policy));
    } catch (error) {
      // Whatever is no answer of the component has unwound through it, and left it in a state that nobody knows.
      if (!hasPayload(error)) this.#instances.delete(key);
      throw error;
    } finally {
      this.#ports = null;
    }
  }

  #make(key: string, policy: unknown): Exports {
    const exports = this.#instantiate({
      load: (dependency) => this.#present().load(dependency),
      commit: (...args) => this.#present().commit(...args),
      now: () => this.#present().now(),
      next: () => this.#present().next(),
    });
    if (policy !== undefined) exports.setup.setDefaultPolicy(readPolicy(policy, exports.setup.builtInPolicy()));
    // A default policy changes with a deployment, so there is one; more are seen where tests run many.
    if (this.#instances.size >= 8) this.#instances.delete(this.#instances.keys().next().value ?? "");
    this.#instances.set(key, exports);
    return exports;
  }

  #present(): Ports {
    if (this.#ports === null) throw new Error("an import was called outside of a call");
    return this.#ports;
  }
}

/** Whether an error is one that the component answered. */
export function hasPayload(error: unknown): error is { payload: wit.Error } {
  return typeof error === "object" && error !== null && Object.hasOwn(error, "payload");
}
