/** Responses and queue delays for a deferral. */
import type { Deferred } from "./permit.js";

/** A queue takes a message back for at most twelve hours. */
const LONGEST_DELAY = 43_200;

/** The whole seconds after which to come back: `retryAfterMs` plus a random share of the spread, drawn anew each time. */
export function retryAfterSeconds({ retryAfterMs, spreadMs }: Pick<Deferred, "retryAfterMs" | "spreadMs">): number {
  return Math.max(1, Math.ceil((retryAfterMs + Math.random() * spreadMs) / 1_000));
}

/** A 503 with `Retry-After`. */
export function unavailable(deferral: Deferred, init: { body?: BodyInit | null; headers?: HeadersInit } = {}): Response {
  const headers = new Headers(init.headers);
  headers.set("Retry-After", String(retryAfterSeconds(deferral)));
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  return new Response(init.body ?? null, { status: 503, headers });
}

/** Gives a message, or a whole batch, back to its queue until the breaker may let it through. */
export function retryLater(what: Pick<Message, "retry"> | Pick<MessageBatch, "retryAll">, deferral: Deferred): void {
  const delaySeconds = Math.min(retryAfterSeconds(deferral), LONGEST_DELAY);
  if ("retryAll" in what) what.retryAll({ delaySeconds });
  else what.retry({ delaySeconds });
}
