export { HalfOpen, type Settlement } from "./half-open.js";
export * from "./types.js";
export { BreakerError, type Fault, type PolicyFault, type Reply } from "./faults.js";
export type { Policy, PolicyInForce, PolicyInput } from "./policy.js";
export { directoryName, objectName } from "./names.js";
