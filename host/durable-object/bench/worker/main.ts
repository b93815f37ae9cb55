/** What the benchmark measures, each beside its peer: the same road to an object that does one statement of SQL. */
import { DurableObject } from "cloudflare:workers";

import { HalfOpen as Shipped } from "../../dist/index.js";

interface Env {
  HALFOPEN: DurableObjectNamespace<HalfOpen>;
  PEER: DurableObjectNamespace<Peer>;
}

const DEPENDENCY = "payments";
const FAILURE = { outcome: "failure", tookMs: 5 } as const;
/** As large as a record. */
const RECORD = new Uint8Array(64);

/** The shipped class, and a loop around its methods. */
export class HalfOpen extends Shipped {
  loop(what: "acquire" | "report", times: number): number {
    const begun = performance.now();
    for (let time = 0; time < times; time++) {
      if (what === "acquire") this.acquire(DEPENDENCY, "bench");
      else this.report(DEPENDENCY, "0", FAILURE);
    }
    return ((performance.now() - begun) * 1_000) / times;
  }
}

export class Peer extends DurableObject {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as Cloudflare.Env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS r (k TEXT PRIMARY KEY, version INTEGER, data BLOB) WITHOUT ROWID");
    ctx.storage.sql.exec("INSERT OR IGNORE INTO r VALUES (?, 1, ?)", DEPENDENCY, RECORD);
  }

  select(key: string): unknown {
    return this.ctx.storage.sql.exec("SELECT version, data FROM r WHERE k = ?", key).next().value;
  }

  upsert(key: string): unknown {
    const query = "INSERT INTO r VALUES (?, 1, ?) ON CONFLICT (k) DO UPDATE SET version = version + 1, data = excluded.data RETURNING version";
    return this.ctx.storage.sql.exec(query, key, RECORD).next().value;
  }

  loop(what: "acquire" | "report", times: number): number {
    const { storage } = this.ctx;
    const begun = performance.now();
    for (let time = 0; time < times; time++) {
      storage.transactionSync(() => (what === "acquire" ? this.select(DEPENDENCY) : this.upsert(DEPENDENCY)));
    }
    return ((performance.now() - begun) * 1_000) / times;
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const url = new URL(request.url);
    const [ours, peer] = [env.HALFOPEN.getByName(DEPENDENCY), env.PEER.getByName(DEPENDENCY)];
    const times = Number(url.searchParams.get("times"));
    switch (url.pathname) {
      case "/acquire":
        return Response.json((await ours.acquire(DEPENDENCY, "bench")).ok);
      case "/report":
        return Response.json((await ours.report(DEPENDENCY, "0", FAILURE)).ok);
      case "/select":
        return Response.json((await peer.select(DEPENDENCY)) !== undefined);
      case "/upsert":
        return Response.json((await peer.upsert(DEPENDENCY)) !== undefined);
      case "/loop": {
        const what = url.searchParams.get("what") === "report" ? "report" : "acquire";
        return Response.json(await (url.searchParams.get("side") === "peer" ? peer : ours).loop(what, times));
      }
      default:
        return Response.json(null);
    }
  },
} satisfies ExportedHandler<Env>;
