import { type Reply, objectName } from "../../dist/index.js";
import type { TestObject } from "./test-object.js";
import type { WireAnswer, WireStep } from "./wire.js";

/** Takes the steps of a file, one by one, each through the object of its dependency. */
export class Replay {
  readonly #objects: DurableObjectNamespace<TestObject>;
  readonly #namespace: string;
  readonly #policy: unknown;
  readonly #seed: bigint;
  readonly #permits = new Map<string, string>();
  readonly #used = new Set<string>();
  /** How often the host was opened: one that starts again draws other numbers. */
  #opened = 0n;

  constructor(objects: DurableObjectNamespace<TestObject>, namespace: string, policy: unknown, seed: bigint) {
    this.#objects = objects;
    this.#namespace = namespace;
    this.#policy = policy;
    this.#seed = seed;
  }

  /** The policy in force; refused where the default policy is invalid. */
  async open(): Promise<Reply<unknown>> {
    // The file's own dependency may have a name that the component refuses: that is for its steps to say.
    const object = await this.#object("any", 0n);
    return (await object.policy("any")) as Reply<unknown>;
  }

  async take(step: WireStep): Promise<WireAnswer> {
    const replies = await this.#run(step);
    const after = step.after ? await (await this.#object(step.dependency, step.at)).inspect(step.dependency) : null;
    return { replies, after };
  }

  async close(): Promise<void> {
    for (const name of this.#used) await this.#objects.getByName(name).wipe();
  }

  async #run({ call, dependency, at }: WireStep): Promise<Reply<unknown>[] | null> {
    if (call.do === "restart") {
      for (const name of this.#used) await this.#objects.getByName(name).restart().catch(() => {});
      this.#opened += 1n;
      this.#used.clear();
      return [{ ok: true, value: null }];
    }
    const object = await this.#object(dependency, at);
    switch (call.do) {
      case "acquire": {
        const replies = [];
        for (let time = 0; time < call.times; time++) {
          const reply = await object.acquire(dependency, call.caller);
          if (reply.ok && reply.value.kind !== "defer") {
            this.#permits.set(objectName(dependency, call.keepAs), reply.value.permit);
          }
          replies.push(reply as Reply<unknown>);
        }
        return replies;
      }
      case "inspect":
      case "reset":
      case "forget":
      case "configure":
      case "force":
        return [await method(object, call.do)(dependency, ...call.args)];
      default: {
        const permit = this.#permits.get(objectName(dependency, call.permit));
        if (permit === undefined) return null;
        const replies = [];
        for (let time = 0; time < call.times; time++) {
          replies.push(await method(object, call.do)(dependency, permit, ...call.args));
        }
        return replies;
      }
    }
  }

  async #object(dependency: string, now: bigint): Promise<DurableObjectStub<TestObject>> {
    const name = objectName(this.#namespace, dependency);
    const object = this.#objects.getByName(name);
    if (this.#used.has(name)) {
      await object.setUp({ now });
    } else {
      await object.setUp({ now, seed: this.#seed + this.#opened, policy: this.#policy });
      this.#used.add(name);
    }
    return object;
  }
}

type Method = (...args: unknown[]) => Promise<Reply<unknown>>;

function method(object: DurableObjectStub<TestObject>, name: string): Method {
  const stub = object as unknown as Record<string, Method>;
  return (...args) => (stub[name] as Method)(...args);
}
