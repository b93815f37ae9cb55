/** The Worker under test: lets a test call any method of any object, use the client, and run replay files. */
import {
  BreakerError,
  type BreakerOptions,
  type CallOptions,
  HalfOpen,
  type Permit,
  type Report,
  breaker,
  dependencies,
  retryLater,
  unavailable,
} from "../../dist/index.js";
import { env as globalEnv } from "cloudflare:workers";

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

/** Made in global scope, as a Worker may make it once for all requests. */
const globally = breaker((globalEnv as unknown as Env).TEST, "global");

function assertNever(): never {
  throw new Error("no text is read from it");
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
  /** The classifier returns the given value, or throws. */
  call?: { timeoutMs?: number; cancelAfterMs?: number; reason?: string; classify?: unknown };
  /** The replacement for a cause, or an error. */
  redact?: string;
  /** The work fetches a URL, or ends by itself after the given time. It may be a promise, which is no function. */
  work: { url: string } | { ms?: number; throws?: string; status?: number; retryAfter?: string; deaf?: boolean } | "a promise";
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

  /** Acquires once, reports each of the given values, and answers with the errors. */
  async mistaken({ dependency, reports }: { dependency: string; reports: unknown[] }, env) {
    const answer = await breaker(through(env.TEST), dependency).acquire();
    if (answer.deferred) return answer;
    const errors: string[] = [];
    for (const report of argumentsOf(reports)) await answer.report(report as "success").catch((error) => errors.push(String(error)));
    return errors;
  },

  /** Puts the clock of the isolate forward. */
  async later(ms: number) {
    const now = Date.now.bind(Date);
    Date.now = () => now() + ms;
  },

  /** Holds a permit of each of the given number of epochs, and reports under all of them while the object is out of reach. */
  async epochs({ dependency, count }: { dependency: string; count: number }, env) {
    const client = breaker(through(env.TEST), dependency);
    const admitted = async (): Promise<Permit> => {
      const answer = await client.acquire();
      if (answer.deferred) throw new Error(JSON.stringify(answer));
      return answer;
    };
    const permits: Permit[] = [];
    for (let epoch = 0; epoch < count; epoch++) {
      permits.push(await admitted());
      await (await admitted()).report("failure");
      await new Promise((resolve) => setTimeout(resolve, 5));
      await (await admitted()).report("success");
    }
    setWay(dependency, { lose: "call" });
    for (const permit of permits) await permit.report("success");
    return new Set(permits.map(({ text }) => text)).size;
  },

  /** Uses as many other dependencies of the binding as an isolate remembers. */
  async crowd(count: number, env) {
    for (let other = 0; other < count; other++) breaker(through(env.TEST), `crowd ${other}`);
  },

  /** A breaker that was made in global scope. */
  async global() {
    return globally.call(() => "made");
  },

  /** Calls whose work throws what has no text. */
  async textless(dependency: string, env) {
    const client = breaker(through(env.TEST), dependency);
    const thrown: unknown[] = [
      Object.defineProperty(new Error("symbol"), "name", { value: Symbol("name") }),
      Object.defineProperty(new Error(), "message", { get: () => assertNever() }),
      Object.create(null, { constructor: { value: { name: 5 } } }),
    ];
    const same: boolean[] = [];
    for (const one of thrown) await client.call(() => Promise.reject(one)).catch((error: unknown) => same.push(error === one));
    return same;
  },

  /** A call within a call, which exceeds its own time limit; and what the outer classifier saw. */
  async nested([outer, inner]: [string, string], env) {
    const seen: string[] = [];
    const slow = () => breaker(through(env.TEST), inner).call(() => sleep(5_000, new AbortController().signal), { timeoutMs: 20 });
    const classify = (ended: object) => {
      seen.push("error" in ended ? (ended.error as Error).name : "no error");
      return "ignored" as const;
    };
    await breaker(through(env.TEST), outer).call(slow, { classify }).catch(() => {});
    return seen;
  },

  /** A caller with little patience comes while one with much waits for an object; the time that it takes, in ms. */
  async impatient(dependency: string, env) {
    const patient = breaker(through(env.TEST), dependency, { answerWithinMs: 3_000 }).acquire();
    await sleep(20, new AbortController().signal);
    const begun = Date.now();
    const { basis } = await breaker(through(env.TEST), dependency, { answerWithinMs: 100, whenUnreachable: "fail-open" }).acquire();
    const took = Date.now() - begun;
    await patient;
    return { basis, took };
  },

  /** Uses one breaker again and again among as many others as an isolate remembers. */
  async busy({ dependency, count }: { dependency: string; count: number }, env) {
    for (let other = 0; other < count; other++) {
      breaker(through(env.TEST), `busy ${other}`);
      if (other % 100 === 0) breaker(through(env.TEST), dependency);
    }
  },

  /** Acquires, waits, and reports. */
  async held(body: { dependency: string; ms: number }, env) {
    const answer = await breaker(through(env.TEST), body.dependency).acquire();
    if (answer.deferred) return answer;
    await sleep(body.ms, new AbortController().signal);
    return { receipt: await answer.report("success") };
  },

  /** Makes a guarded call. */
  async guarded({ dependency, options: given = {}, call = {}, redact, work }: Guarded, env) {
    const options: BreakerOptions = { ...given };
    if (redact !== undefined) {
      options.redact = (cause) => {
        if (redact === "throws") throw new Error(`the redactor failed at ${cause.length} characters`);
        return redact;
      };
    }
    const callOptions: CallOptions<Response> = {};
    if (call.timeoutMs !== undefined) callOptions.timeoutMs = call.timeoutMs;
    if (call.cancelAfterMs !== undefined) callOptions.signal = cancelled(call.cancelAfterMs, call.reason);
    if ("classify" in call) {
      callOptions.classify = () => {
        if (call.classify === "throws") throw new RangeError("the classifier failed");
        return (call.classify === "nothing" ? undefined : call.classify) as "success";
      };
    }
    const client = breaker(through(env.TEST), dependency, options);
    if (work === "a promise") return client.call(Promise.resolve() as never);
    const result = await client.call<Response>(async ({ signal, role, token }) => {
      if ("url" in work) return fetch(work.url, { signal, headers: { "x-role": role, "x-token": String(token) } });
      await sleep(work.ms ?? 0, work.deaf === true ? new AbortController().signal : signal);
      if (work.throws !== undefined) throw Object.assign(new Error(work.throws), { name: work.throws });
      const headers: HeadersInit = work.retryAfter === undefined ? {} : { "Retry-After": work.retryAfter };
      return new Response("done", { status: work.status ?? 200, headers });
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
