/**
 * A circuit breaker for Cloudflare Workers. The state machine is a WebAssembly component; one SQLite-backed Durable Object
 * per dependency runs it, and exactly one caller probes the dependency when it may have healed.
 *
 * @module
 */
export { Admitted, type Basis, type Deferred } from "./admitted.js";
export { Breaker, type BreakerOptions, type WhenUnreachable, breaker } from "./breaker.js";
export { type CallContext, type CallOptions, type CallResult, CallTimedOut, type Called, type Ended } from "./call.js";
export { type DirectoryOptions, dependencies } from "./directory.js";
export { BreakerError, type Fault, type PolicyFault, type Reply } from "./faults.js";
export { HalfOpen, type Settlement } from "./half-open.js";
export { directoryName, objectName } from "./names.js";
export type { Policy, PolicyInForce, PolicyInput } from "./policy.js";
export type { BreakerNamespace, Place } from "./reach.js";
export type { RecoverySettings } from "./recovery.js";
export { retryAfterSeconds, retryLater, unavailable } from "./respond.js";
export type { DueProbe, Surroundings } from "./surroundings.js";
export type * from "./types.js";
