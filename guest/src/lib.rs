//! The rules of the halfopen circuit breaker.
//!
//! The rules are pure: they have no I/O, no clock and no randomness of their own, and build for any target.
//! [`step`](step::step) runs one operation on one record through the functions that a host supplies ([`step::Ports`]):
//! it loads the record, reads the clock, decides, and commits.
//!
//! | module | holds |
//! |---|---|
//! | [`contract`] | the types of the WIT package `halfopen:breaker`, generated |
//! | [`policy`] | a policy: its defaults, its ranges, its JSON |
//! | [`record`] | the stored record of a dependency, and its bytes |
//! | [`documents`] | the JSON of transitions and inspections |
//! | [`rules`] | the rules, one module for each operation |
//! | [`step`] | one operation, from load to commit |
//!
//! On `wasm32` the module `component` exports [`step`](step::step) as the world `component`.

#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(target_arch = "wasm32")]
mod component;
pub mod contract;
pub mod documents;
pub mod policy;
pub mod record;
pub mod rules;
pub mod step;
pub mod text;
