//! A policy: its fields, their defaults and ranges, and its JSON.

mod decimal;
mod fields;
mod json;
mod nearest;
mod range;
mod reader;
mod types;

pub use types::{BUILT_IN, FailureRate, LostProbe, Policy, Ramp, SlowCalls, WindowSpan};
