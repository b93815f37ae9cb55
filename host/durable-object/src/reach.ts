/**
 * Calls of an object from afar: bounded in time, and faults as errors.
 *
 * The runtime itself repeats what cannot have reached the object, and nothing else; neither is anything repeated here: a
 * report without a lease counts twice when it arrives twice.
 *
 * @module
 */
import { BreakerError, type Reply } from "./faults.js";
import type { HalfOpen } from "./half-open.js";

/** The binding of the Durable Object class, or of one that extends it, whatever its environment. */
export type BreakerNamespace = DurableObjectNamespace<HalfOpen<any>>;

/** Where the object is. */
export interface Place {
  /** Where Cloudflare should make the object, if it does not exist yet. */
  locationHint?: DurableObjectLocationHint | undefined;
  /** Where the object must stay. Each jurisdiction has objects of its own. */
  jurisdiction?: DurableObjectJurisdiction | undefined;
}

type Stub = DurableObjectStub<HalfOpen>;

export class Reach {
  readonly #objects: BreakerNamespace;
  readonly #name: string;
  readonly #place: Place;
  readonly #withinMs: number;

  constructor(objects: BreakerNamespace, name: string, place: Place, withinMs: number) {
    this.#objects = place.jurisdiction === undefined ? objects : objects.jurisdiction(place.jurisdiction);
    this.#name = name;
    this.#place = place;
    this.#withinMs = withinMs;
  }

  /**
   * Calls the object. `late` is given what the answer may still become once the time is up.
   *
   * @throws BreakerError the object's fault, or `unreachable`
   */
  async ask<T>(call: (object: Stub) => PromiseLike<unknown>, late?: (answer: Promise<Reply<T>>) => void): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const tooLate = new Promise<"too late">((resolve) => {
      timer = setTimeout(() => resolve("too late"), this.#withinMs);
    });
    // A stub that has failed once is of no more use, so each call has its own; making one costs nothing.
    const answer = Promise.resolve(call(this.#stub()) as PromiseLike<Reply<T>>);
    let reply: Reply<T> | "too late";
    try {
      reply = await Promise.race([answer, tooLate]);
    } catch (cause) {
      throw unreachable(`the object could not be reached: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
    } finally {
      if (timer !== null) clearTimeout(timer);
    }
    if (reply === "too late") {
      if (late === undefined) answer.catch(() => {});
      else late(answer);
      throw unreachable(`the object did not answer within ${this.#withinMs} ms`);
    }
    if (!reply.ok) throw new BreakerError(reply.fault);
    return reply.value;
  }

  #stub(): Stub {
    const { locationHint } = this.#place;
    const id = this.#objects.idFromName(this.#name);
    return this.#objects.get(id, locationHint === undefined ? {} : { locationHint }) as unknown as Stub;
  }
}

function unreachable(message: string, cause?: unknown): BreakerError {
  return new BreakerError({ code: "unreachable", message }, { cause });
}
