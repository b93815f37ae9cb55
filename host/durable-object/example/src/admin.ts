import { BreakerError, type Mode, breaker, dependencies } from "@halfopen/durable-object";

import type { Env } from "./env.js";

/**
 * Lists, shows and forces breakers from outside, with `Authorization: Bearer ADMIN_TOKEN`:
 *
 *     GET  /admin                                all breakers
 *     GET  /admin/payments                       one, with its policy and history
 *     POST /admin/payments/force?mode=open       force it open (closed, none), &lasting_ms=60000&note=maintenance
 *     POST /admin/payments/reset
 *     POST /admin/payments/forget
 */
export async function admin(request: Request, url: URL, env: Env): Promise<Response> {
  if (!(await allowed(request, env))) {
    return new Response("not allowed\n", { status: 401, headers: { "WWW-Authenticate": "Bearer" } });
  }
  try {
    return await answer(request.method, url, env);
  } catch (error) {
    if (!(error instanceof BreakerError)) throw error;
    const status = error.code.startsWith("invalid-") ? 400 : 503;
    return Response.json({ error: error.fault }, { status });
  }
}

async function answer(method: string, url: URL, env: Env): Promise<Response> {
  const path = decoded(url.pathname);
  if (path === null) return new Response("the path is malformed\n", { status: 400 });
  const [, , dependency, action] = path;
  if (dependency === undefined || dependency === "") return Response.json(await all(env));
  const one = breaker(env.HALFOPEN, dependency, { operator: "admin" });
  switch (`${method} ${action ?? ""}`) {
    case "GET ": {
      const [breaker, policy, history] = await Promise.all([one.inspect(), one.policy(), one.history(20)]);
      return Response.json({ breaker, policy, history });
    }
    case "POST force": {
      const lasting = url.searchParams.get("lasting_ms");
      const note = url.searchParams.get("note") ?? "";
      // Another mode is refused, with a message that names the modes.
      const mode = (url.searchParams.get("mode") ?? "") as Mode;
      return Response.json(await one.force(mode, lasting === null ? { note } : { note, lastingMs: Number(lasting) }));
    }
    case "POST reset":
      return Response.json(await one.reset());
    case "POST forget":
      return Response.json(await one.forget());
    default:
      return new Response("not found\n", { status: 404 });
  }
}

function decoded(path: string): string[] | null {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return null;
  }
}

async function all(env: Env): Promise<Record<string, unknown>> {
  const names = await dependencies(env.HALFOPEN);
  const shown = await Promise.all(names.map((name) => breaker(env.HALFOPEN, name).inspect()));
  return Object.fromEntries(names.map((name, index) => [name, shown[index]]));
}

/** Compares in a time that does not tell how much of the secret was right. */
async function allowed(request: Request, env: Env): Promise<boolean> {
  if (!env.ADMIN_TOKEN) return false;
  const digest = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const [given, wanted] = await Promise.all([
    digest(request.headers.get("Authorization") ?? ""),
    digest(`Bearer ${env.ADMIN_TOKEN}`),
  ]);
  return crypto.subtle.timingSafeEqual(given, wanted);
}
