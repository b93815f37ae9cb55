/**
 * Calls of an object, each with a time limit, with faults as errors.
 *
 * No call is repeated here. The runtime itself repeats only the calls that cannot have reached the object.
 */
import { BreakerError, type Reply, messageOf } from "../contract/faults.js";
import type { HalfOpen } from "../object/durable-object.js";
import { afterwards } from "./background.js";

/** The binding of the Durable Object class, or of a class that extends it, with any environment. */
export type BreakerNamespace = DurableObjectNamespace<HalfOpen<any>>;

/** The place of an object. */
export interface Place {
  /** The place where Cloudflare should make the object, if it does not exist yet. */
  locationHint?: DurableObjectLocationHint | undefined;
  /** The jurisdiction in which the object must stay. Each jurisdiction has objects of its own. */
  jurisdiction?: DurableObjectJurisdiction | undefined;
}

/** A method of an object, called. */
export type Method<T> = (object: DurableObjectStub<HalfOpen>) => PromiseLike<Reply<T>>;

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
   * Calls the object. `learn` also gets an answer that comes too late for the caller.
   *
   * @throws BreakerError the object's fault, or `unreachable`
   */
  async call<T>(method: Method<T>, learn: (value: T, late: boolean) => unknown = () => {}): Promise<T> {
    // A stub that has failed once fails again, so each call has its own.
    const answer = Promise.resolve(method(this.#stub()));
    let timer: ReturnType<typeof setTimeout> | null = null;
    const limit = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), this.#withinMs);
    });
    const reply = await Promise.race([answer, limit])
      .catch((cause: unknown) => {
        throw unreachable(`the object could not be reached: ${messageOf(cause)}`, cause);
      })
      .finally(() => clearTimeout(timer));
    if (reply === null) {
      afterwards(answer.then((late) => (late.ok ? learn(late.value, true) : null)));
      throw unreachable(`the object did not answer within ${this.#withinMs} ms`);
    }
    if (!reply.ok) throw new BreakerError(reply.fault);
    learn(reply.value, false);
    return reply.value;
  }

  #stub(): DurableObjectStub<HalfOpen> {
    const { locationHint } = this.#place;
    const id = this.#objects.idFromName(this.#name);
    return this.#objects.get(id, locationHint === undefined ? {} : { locationHint }) as unknown as DurableObjectStub<HalfOpen>;
  }
}

function unreachable(message: string, cause?: unknown): BreakerError {
  return new BreakerError({ code: "unreachable", message }, { cause });
}
