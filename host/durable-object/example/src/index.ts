import { breaker, retryLater, unavailable } from "@halfopen/durable-object";

import { admin } from "./admin.js";
import type { Env, Receipt } from "./env.js";

// The Durable Object class must be exported by the Worker that binds it.
export { HalfOpen } from "@halfopen/durable-object";

export default {
  /** A guarded call in a request: deferred callers get a 503 with Retry-After, and the dependency is left alone. */
  async fetch(request, env): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/admin" || url.pathname.startsWith("/admin/")) return admin(request, url, env);
    if (url.pathname !== "/") return new Response("not found\n", { status: 404 });

    const payments = breaker(env.HALFOPEN, "payments", { caller: "checkout" });
    try {
      const result = await payments.call(({ signal }) => fetch(env.PAYMENTS_URL, { signal }), { timeoutMs: 2_000 });
      if (result.deferred) return unavailable(result, { body: "payments are resting; try again later\n" });
      return new Response(result.value.body, { status: result.value.status });
    } catch (error) {
      console.error(error);
      return new Response("payments failed\n", { status: 502 });
    }
  },

  /** A guarded job: where the dependency is to be left alone, this run is skipped. */
  async scheduled(_controller, env): Promise<void> {
    const payments = breaker(env.HALFOPEN, "payments", { caller: "cron" });
    // The object itself probes when the open window is over, so that recovery does not wait for a caller.
    await payments.setRecovery({ healthUrl: env.PAYMENTS_URL });
    const result = await payments.call(({ signal }) => fetch(env.PAYMENTS_URL, { method: "HEAD", signal }), {
      timeoutMs: 10_000,
    });
    if (result.deferred) console.log(`skipped: ${result.reason}, come back in ${result.retryAfterMs} ms`);
  },

  /** A guarded consumer: what may not go out now goes back to the queue until it may. */
  async queue(batch, env): Promise<void> {
    const payments = breaker(env.HALFOPEN, "payments", { caller: "receipts" });
    for (const message of batch.messages) {
      try {
        const body = JSON.stringify(message.body);
        const result = await payments.call(({ signal }) => fetch(env.PAYMENTS_URL, { method: "POST", body, signal }), {
          timeoutMs: 5_000,
        });
        if (result.deferred) retryLater(message, result);
        else if (result.value.status >= 500) message.retry();
        else message.ack();
      } catch {
        message.retry();
      }
    }
  },
} satisfies ExportedHandler<Env, Receipt>;
