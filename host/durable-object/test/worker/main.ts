/** The Worker under test: lets a test call any method of any object, and run replay files. */
import { HalfOpen } from "../../dist/index.js";
import { decode, encode } from "./json.js";
import { Replay } from "./replay.js";
import { TestObject } from "./test-object.js";
import type { WireStep } from "./wire.js";

export { HalfOpen, TestObject };

interface Env {
  HALFOPEN: DurableObjectNamespace<HalfOpen>;
  TEST: DurableObjectNamespace<TestObject>;
}

type Handler = (body: never, env: Env) => Promise<unknown>;

const handlers: Record<string, Handler> = {
  async call({ object, name, method, args }: { object: "HALFOPEN" | "TEST"; name: string; method: string; args: unknown[] }, env) {
    const stub = env[object].getByName(name) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    return await (stub[method] as (...args: unknown[]) => Promise<unknown>)(...args);
  },
  async replay(
    body: { namespace: string; dependency: string; policy: unknown; seed: bigint; steps: WireStep[] },
    env,
  ) {
    const replay = new Replay(env.TEST, body.namespace, body.policy, body.seed);
    try {
      const opened = await replay.open(body.dependency);
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
      return new Response(String(error instanceof Error ? error.stack : error), { status: 500 });
    }
  },
} satisfies ExportedHandler<Env>;

