/** The Worker under test: lets a test call any method of any object, use the client, and run replay files. */
import {
  BreakerError,
  type BreakerOptions,
  type CallOptions,
  HalfOpen,
  type Report,
  breaker,
  dependencies,
  retryLater,
  unavailable,
} from "../../dist/index.js";
import { argumentsOf, decode, encode } from "./json.js";
import { setWay, through } from "./network.js";
import { Replay } from "./replay.js";
import { TestObject } from "./test-object.js";
import type { Way, WireStep } from "./wire.js";

export { HalfOpen, TestObject };

interface Env {
  HALFOPEN: DurableObjectNamespace<HalfOpen>;
  TEST: DurableObjectNamespace<TestObject>;
}

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;

// So that a test can see the memories of the instances that are made.
const memories: WebAssembly.Memory[] = [];
const Instance = WebAssembly.Instance;
WebAssembly.Instance = new Proxy(Instance, {
  construct(target, args) {
    const instance = Reflect.construct(target, args) as WebAssembly.Instance;
    if (instance.exports["memory"] instanceof WebAssembly.Memory) memories.push(instance.exports["memory"]);
    return instance;
  },
});

/** A client's call, as a test describes it. */
export interface Guarded {
  dependency: string;
  options?: BreakerOptions;
  call?: { timeoutMs?: number; cancelAfterMs?: number; reason?: string; classify?: "ignored" | "throws" };
  /** The work fetches a URL, or ends by itself after the given time. */
  work: { url: string } | { ms?: number; throws?: string; status?: number; deaf?: boolean };
}

/** Calls that a test makes at once. */
export interface Many {
  dependency: string;
  options?: BreakerOptions;
  count: number;
  ms: number;
  /** The number of calls that fail. */
  failing?: number;
}

const handlers: Record<string, (body: never, env: Env) => Promise<unknown>> = {
  /** Calls a method of an object. */
  async object(body: { object: "HALFOPEN" | "TEST"; name: string; method: string; args: unknown[] }, env) {
    const stub = env[body.object].getByName(body.name) as unknown as Methods;
    return (stub[body.method] as Methods[string])(...argumentsOf(body.args));
  },

  /** Calls a method of a client. */
  async client(body: { dependency: string; options?: BreakerOptions; method: string; args: unknown[] }, env) {
    const client = breaker(through(env.TEST), body.dependency, body.options) as unknown as Methods;
    return (client[body.method] as Methods[string])(...body.args);
  },

  /** Sets the way to the object of a dependency. */
  async way({ dependency, way }: { dependency: string; way: Way }) {
    return setWay(dependency, way);
  },

  /** Makes the given number of calls at once in one request, each of the given length, and counts the answers by basis. */
  async many({ dependency, options, count, ms, failing = 0 }: Many, env) {
    const bases: Record<string, number> = {};
    const one = async (index: number): Promise<void> => {
      const result = await breaker(through(env.TEST), dependency, options).call(async ({ signal }) => {
        await sleep(ms, signal);
        return new Response(null, { status: index < failing ? 500 : 200 });
      });
      bases[result.basis] = (bases[result.basis] ?? 0) + 1;
    };
    await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
    return bases;
  },

  async list(options: { namespace?: string }, env) {
    return dependencies(env.TEST, options);
  },

  /** Acquires and reports with what comes back. */
  async admitted(body: { dependency: string; options?: BreakerOptions } & Report, env) {
    const answer = await breaker(through(env.TEST), body.dependency, body.options).acquire();
    if (answer.deferred) return answer;
    const { outcome, tookMs, cause, retryAfterMs } = body;
    const receipt = await answer.report({ outcome, tookMs, cause, retryAfterMs });
    return { ...answer, receipt };
  },

  /** Acquires, waits, and reports. */
  async held(body: { dependency: string; ms: number }, env) {
    const answer = await breaker(through(env.TEST), body.dependency).acquire();
    if (answer.deferred) return answer;
    await sleep(body.ms, new AbortController().signal);
    return { receipt: await answer.report("success") };
  },

  /** Makes a guarded call. */
  async guarded({ dependency, options, call = {}, work }: Guarded, env) {
    const callOptions: CallOptions<Response> = {};
    if (call.timeoutMs !== undefined) callOptions.timeoutMs = call.timeoutMs;
    if (call.cancelAfterMs !== undefined) callOptions.signal = cancelled(call.cancelAfterMs, call.reason);
    if (call.classify === "ignored") callOptions.classify = () => "ignored";
    if (call.classify === "throws") {
      callOptions.classify = () => {
        throw new RangeError("the classifier failed");
      };
    }
    const result = await breaker(through(env.TEST), dependency, options).call<Response>(async ({ signal, role, token }) => {
      if ("url" in work) return fetch(work.url, { signal, headers: { "x-role": role, "x-token": String(token) } });
      await sleep(work.ms ?? 0, work.deaf === true ? new AbortController().signal : signal);
      if (work.throws !== undefined) throw Object.assign(new Error(work.throws), { name: work.throws });
      return new Response("done", { status: work.status ?? 200 });
    }, callOptions);
    return result.deferred ? result : { ...result, value: result.value.status };
  },

  /** The sizes of all instances, after what is garbage has been collected: the engine by itself is in no hurry. */
  async memory() {
    (globalThis as { gc?: () => void }).gc?.();
    return memories.map(({ buffer }) => buffer.byteLength);
  },

  /** What the helpers make of a deferral. */
  async helpers(deferral: { retryAfterMs: number; spreadMs: number }) {
    const delays: unknown[] = [];
    const note = (options?: QueueRetryOptions): void => void delays.push(options?.delaySeconds);
    const full = { deferred: true, reason: "open", basis: "object", fault: null, ...deferral } as const;
    retryLater({ retry: note }, full);
    retryLater({ retryAll: note }, full);
    const response = unavailable(full, { body: "later", headers: { "x-own": "1" } });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text(), delays };
  },

  async replay(
    body: { namespace: string; policy: unknown; seed: bigint; steps: WireStep[] },
    env,
  ) {
    const replay = new Replay(env.TEST, body.namespace, body.policy, body.seed);
    try {
      const opened = await replay.open();
      const answers = [];
      if (opened.ok) for (const step of body.steps) answers.push(await replay.take(step));
      return { opened, answers };
    } finally {
      await replay.close();
    }
  },
};

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const handler = handlers[new URL(request.url).pathname.slice(1)];
    if (handler === undefined) return new Response("no such handler", { status: 404 });
    try {
      return new Response(encode((await handler(decode(await request.text()) as never, env)) ?? null));
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const fault = error instanceof BreakerError ? error.fault : null;
      return new Response(encode({ name, message, fault }), { status: 500 });
    }
  },
} satisfies ExportedHandler<Env>;

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    setTimeout(resolve, ms);
  });
}

function cancelled(ms: number, reason = "AbortError"): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new DOMException("cancelled", reason));
  if (ms === 0) abort();
  else setTimeout(abort, ms);
  return controller.signal;
}
