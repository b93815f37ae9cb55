/**
 * Calls of an object, each with a time limit, with faults as errors.
 *
 * No call is repeated here: a report without a lease counts twice when it arrives twice. The runtime itself repeats only
 * the calls that cannot have reached the object.
 */
import { BreakerError, type Reply, messageOf } from "../contract/faults.js";
import type { HalfOpen } from "../object/durable-object.js";

/** The binding of the Durable Object class, or of a class that extends it, with any environment. */
export type BreakerNamespace = DurableObjectNamespace<HalfOpen<any>>;

/** The place of an object. */
export interface Place {
  /** The place where Cloudflare should make the object, if it does not exist yet. */
  locationHint?: DurableObjectLocationHint | undefined;
  /** The jurisdiction in which the object must stay. Each jurisdiction has objects of its own. */
  jurisdiction?: DurableObjectJurisdiction | undefined;
}

type Stub = DurableObjectStub<HalfOpen>;

/** A method of an object, called. */
export type Method<T> = (object: Stub) => PromiseLike<Reply<T>>;

/** Calls of one object. */
export class Rpc {
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
   * Calls the object. Where the time is up first, `late` gets the answer that may still come.
   *
   * @throws BreakerError the object's fault, or `unreachable`
   */
  async call<T>(method: Method<T>, late?: (answer: Promise<Reply<T>>) => void): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const tooLate = new Promise<"too late">((resolve) => {
      timer = setTimeout(() => resolve("too late"), this.#withinMs);
    });
    // A stub that has failed once fails again, so each call has its own.
    const answer = Promise.resolve(method(this.#stub()) as PromiseLike<Reply<T>>);
    let reply: Reply<T> | "too late";
    try {
      reply = await Promise.race([answer, tooLate]);
    } catch (cause) {
      throw unreachable(`the object could not be reached: ${messageOf(cause)}`, cause);
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
