//! A policy: its fields, their defaults and ranges, and its JSON.

mod check;
mod decimal;
mod fields;
mod json;
mod nearest;
mod range;
mod types;

pub use types::{BUILT_IN, FailureRate, LostProbe, Policy, Ramp, SlowCalls, WindowSpan};
