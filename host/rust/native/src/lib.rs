//! The rules of the halfopen circuit breaker, linked in: the engine without WebAssembly.
