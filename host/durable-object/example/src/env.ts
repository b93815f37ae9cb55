import type { HalfOpen } from "@halfopen/durable-object";

/** What `wrangler.jsonc` binds. */
export interface Env {
  HALFOPEN: DurableObjectNamespace<HalfOpen>;
  RECEIPTS: Queue<Receipt>;
  PAYMENTS_URL: string;
  /** A secret. Without it the admin route is closed. */
  ADMIN_TOKEN?: string;
}

/** A message of the queue. */
export interface Receipt {
  order: string;
}
