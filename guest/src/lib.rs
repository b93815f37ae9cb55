//! The state machine of the halfopen circuit breaker.
//!
//! The core is pure: it has no I/O, no clock and no randomness of its own, and builds for any target. [`step`] runs one
//! operation against what a host supplies ([`step::Ports`]): load, look at the clock, decide, commit. The rules stand in
//! [`acquire`], [`report`] and [`control`]; what a record holds stands in [`record`], and how it is written in [`codec`].
//!
//! On `wasm32` the module `export` wraps [`step`] into the world `component` of package `halfopen:breaker`.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

pub mod abi;
pub mod acquire;
#[cfg(target_arch = "wasm32")]
mod arena;
pub mod arguments;
pub mod backoff;
pub mod codec;
pub mod contract;
pub mod control;
#[cfg(target_arch = "wasm32")]
mod export;
mod form;
#[cfg(target_arch = "wasm32")]
mod import;
pub mod inspect;
pub mod policy;
pub mod record;
pub mod report;
pub mod step;
pub mod turn;
pub mod window;
