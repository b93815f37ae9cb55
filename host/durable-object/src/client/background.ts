/** Work of a request that goes on after its response, and when its client disconnects. The runtime grants it 30 seconds. */
import { waitUntil } from "cloudflare:workers";

import { messageOf } from "../contract/faults.js";

/** The longest time in ms that a request is held: a report that follows still has time to arrive. */
export const LONGEST_HOLD = 25_000;

/** Holds the request until the work has ended. An error belongs to the caller of the work. */
export function hold(work: Promise<unknown>): void {
  waitUntil(work.catch(() => {}));
}

/** Holds the request until work has ended that no caller waits for. An error is logged. */
export function afterwards(work: Promise<unknown>): void {
  waitUntil(work.catch(warn));
}

/** Logs an error that has no caller. */
export function warn(error: unknown): void {
  console.warn(`halfopen: ${messageOf(error)}`);
}
