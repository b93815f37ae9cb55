/** Instances of the component, each with a default policy. */
import { type Component, type ImportObject, instantiate } from "../../generated/halfopen.js";
import main from "../../generated/halfopen.core.wasm";
import shim from "../../generated/halfopen.core2.wasm";
import fixup from "../../generated/halfopen.core3.wasm";
import type * as storage from "../../generated/interfaces/halfopen-breaker-storage.js";
import type * as wit from "../../generated/interfaces/halfopen-breaker-types.js";
import { BreakerError } from "../contract/faults.js";

export type Exports = Component;

/** The imports that the host supplies to one call. */
export interface Ports {
  load: typeof storage.load;
  commit: typeof storage.commit;
  /** The instant, in ms since the Unix epoch. */
  now(): bigint;
  /** A random number, uniform over 64 bits. */
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
 * turn, each with its own ports. An instance for each object would cost a memory each.
 */
export class Runtime {
  readonly #instantiate: Instantiate;
  readonly #instances = new Map<string | null, Exports>();
  #ports: Ports | null = null;

  constructor(instantiate: Instantiate) {
    this.#instantiate = instantiate;
  }

  /** Runs a call on the instance for a default policy, a JSON text. An error of the component is thrown with its own `payload`. */
  run<T>(policy: string | null, ports: Ports, call: (exports: Exports) => T): T {
    this.#ports = ports;
    try {
      return call(this.#instances.get(policy) ?? this.#make(policy));
    } catch (error) {
      // Any other error may have unwound through the component, and left the instance in an unknown state.
      if (!hasPayload(error) && !(error instanceof BreakerError)) this.#instances.delete(policy);
      throw error;
    } finally {
      this.#ports = null;
    }
  }

  #make(policy: string | null): Exports {
    const exports = this.#instantiate({
      load: (dependency) => this.#present().load(dependency),
      commit: (...args) => this.#present().commit(...args),
      now: () => this.#present().now(),
      next: () => this.#present().next(),
    });
    if (policy !== null) exports.setup.setDefaultPolicy(policy);
    // A default policy changes with a deployment only; tests use several.
    if (this.#instances.size >= 8) this.#instances.delete(this.#instances.keys().next().value ?? null);
    this.#instances.set(policy, exports);
    return exports;
  }

  #present(): Ports {
    if (this.#ports === null) throw new Error("an import was called outside of a call");
    return this.#ports;
  }
}

/** Whether an error is an answer of the component. */
export function hasPayload(error: unknown): error is { payload: wit.Error } {
  return typeof error === "object" && error !== null && Object.hasOwn(error, "payload");
}
