//! The state machine of the halfopen circuit breaker.
//!
//! The core is pure: it has no I/O, no clock and no randomness of its own, and builds for any target. [`step`] runs one
//! operation against what a host supplies ([`step::Ports`]): load, look at the clock, decide, commit. The rules stand in
//! [`acquire`], [`report`] and [`control`]; what a record holds stands in [`record`], and how it is written in [`codec`].
//!
//! On `wasm32` the module `export` wraps [`step`] into the world `component` of package `halfopen:breaker`.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

pub mod acquire;
pub mod arguments;
pub mod backoff;
#[allow(missing_docs, clippy::all)]
pub mod bindings;
pub mod codec;
pub mod control;
#[cfg(target_arch = "wasm32")]
mod export;
pub mod inspect;
pub mod policy;
pub mod record;
pub mod report;
#[cfg(target_arch = "wasm32")]
mod runtime;
pub mod step;
pub mod turn;
pub mod window;
