//! The WebAssembly component of the halfopen circuit breaker under wasmtime: for an application's host and for a platform's own engine.
