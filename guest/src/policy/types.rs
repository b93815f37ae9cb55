//! The fields of a policy, and the built-in policy.

#![allow(missing_docs, reason = "documented in the contract")]

use serde::{Deserialize, Serialize};

/// A policy. Its fields are documented in `wit/types.wit`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub consecutive_failures: u32,
    pub failure_rate: Option<FailureRate>,
    pub slow_calls: Option<SlowCalls>,
    pub window: WindowSpan,
    pub open_ms: u64,
    pub open_multiplier: f64,
    pub open_max_ms: u64,
    pub jitter_percent: u32,
    pub stable_after_ms: u64,
    pub lease_ms: u64,
    pub probe_max_ms: u64,
    pub probes: u32,
    pub successes_to_close: u32,
    pub lost_probe: LostProbe,
    pub ramp: Option<Ramp>,
    pub fresh_ms: u64,
}

/// Trip when failures make up this share of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRate {
    pub percent: u32,
    pub minimum_calls: u32,
}

/// Trip when slow calls make up this share of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowCalls {
    pub slower_than_ms: u64,
    pub percent: u32,
    pub minimum_calls: u32,
}

/// The span of the window: a length of time, or a number of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSpan {
    Ms(u64),
    Calls(u32),
}

/// What follows a lease that expires without a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostProbe {
    Reprobe,
    Reopen,
}

/// Admit a growing share of the calls after probes have closed the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ramp {
    pub over_ms: u64,
    pub from_percent: u32,
}

/// The policy of a dependency without one of its own, on a host that sets no default.
pub const BUILT_IN: Policy = Policy {
    consecutive_failures: 5,
    failure_rate: Some(FailureRate { percent: 50, minimum_calls: 20 }),
    slow_calls: None,
    window: WindowSpan::Ms(30_000),
    open_ms: 5_000,
    open_multiplier: 2.0,
    open_max_ms: 300_000,
    jitter_percent: 20,
    stable_after_ms: 60_000,
    lease_ms: 5_000,
    probe_max_ms: 60_000,
    probes: 1,
    successes_to_close: 1,
    lost_probe: LostProbe::Reprobe,
    ramp: None,
    fresh_ms: 250,
};
