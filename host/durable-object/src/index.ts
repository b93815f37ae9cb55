/**
 * A circuit breaker for Cloudflare Workers. The state machine is a WebAssembly component; one SQLite-backed Durable Object
 * per dependency runs it, and exactly one caller probes the dependency when it may have healed.
 */
export { Breaker, breaker } from "./client/breaker.js";
export { type CallContext, type CallOptions, type CallResult, CallTimedOut, type Called, type Ended } from "./client/call.js";
export { type DirectoryOptions, dependencies } from "./client/directory.js";
export { forgetAll } from "./client/isolate.js";
export { directoryName, objectName } from "./client/names.js";
export type { BreakerOptions, WhenUnreachable } from "./client/options.js";
export { type Basis, type Deferred, Permit } from "./client/permit.js";
export { retryAfterSeconds, retryLater, unavailable } from "./client/respond.js";
export type { BreakerNamespace, Place } from "./client/rpc.js";
export type * from "./contract/documents.js";
export { BreakerError, type Fault, type PolicyFault, type Reply } from "./contract/faults.js";
export type * from "./contract/types.js";
export { HalfOpen } from "./object/durable-object.js";
export type { DueProbe, ObjectOptions } from "./object/options.js";
export type { RecoverySettings } from "./object/recovery.js";
