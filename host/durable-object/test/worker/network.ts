/** The way from a Worker to its objects, with delays and losses that a test sets for a dependency. */
import type { TestObject } from "./test-object.js";
import type { Way } from "./wire.js";

type Method = (dependency: string, ...args: unknown[]) => Promise<unknown>;

const ways = new Map<string, Way>();
const sent = new Map<string, number>();
let network: DurableObjectNamespace<TestObject> | null = null;

/** Sets the way to a dependency, and answers how many calls were sent since the last time. */
export function setWay(dependency: string, way: Way): number {
  ways.set(dependency, way);
  const count = sent.get(dependency) ?? 0;
  sent.delete(dependency);
  return count;
}

/** The binding, with the network in between; one for the isolate, as a binding is. */
export function through(objects: DurableObjectNamespace<TestObject>): DurableObjectNamespace<TestObject> {
  network ??= {
    idFromName: (name: string) => objects.idFromName(name),
    get: (id: DurableObjectId) => {
      const stub = objects.get(id) as unknown as Record<string, Method>;
      return new Proxy({}, { get: (_, name) => (typeof name === "string" ? called(stub, name) : undefined) });
    },
  } as unknown as DurableObjectNamespace<TestObject>;
  return network;
}

function called(stub: Record<string, Method>, name: string): Method {
  return async (dependency, ...args) => {
    const { beforeMs = 0, afterMs = 0, lose = null } = ways.get(dependency) ?? {};
    sent.set(dependency, (sent.get(dependency) ?? 0) + 1);
    if (lose === "hang") await new Promise((resolve) => setTimeout(resolve, 60_000));
    if (beforeMs > 0) await new Promise((resolve) => setTimeout(resolve, beforeMs));
    if (lose === "call") throw new Error("the call was lost");
    const answer = await (stub[name] as Method)(dependency, ...args);
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
    if (lose === "answer") throw new Error("the answer was lost");
    return answer;
  };
}
