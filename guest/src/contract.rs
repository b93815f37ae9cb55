//! The types of the contract, item by item those of `wit/types.wit` and `wit/storage.wit`, where they are documented.
//!
//! Their layout in memory is the component model's: that of a C structure for a record, and of a C union with a tag before
//! it for a variant. So a host reads and writes them in place. `tests/layout.rs` compares names, order and layout with the
//! contract.

#![allow(missing_docs)]

pub use crate::abi::{List, Maybe, Reply, Text};

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    pub consecutive_failures: u32,
    pub failure_rate: Maybe<FailureRate>,
    pub slow_calls: Maybe<SlowCalls>,
    pub window: Window,
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
    pub ramp: Maybe<Ramp>,
    pub fresh_ms: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRate {
    pub percent: u32,
    pub minimum_calls: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowCalls {
    pub slower_than_ms: u64,
    pub percent: u32,
    pub minimum_calls: u32,
}

#[repr(C, u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    Ms(u64),
    Calls(u32),
}

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostProbe {
    Reprobe,
    Reopen,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ramp {
    pub over_ms: u64,
    pub from_percent: u32,
}

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Closed,
    Open,
    HalfOpen,
}

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Open,
    Closed,
    None,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit {
    pub epoch: u64,
    pub lease: Maybe<u64>,
}

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Failure,
    Timeout,
    Ignored,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    pub successes: u64,
    pub slow_successes: u64,
    pub failures: u64,
    pub slow_failures: u64,
}

#[repr(C, u8)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Proceed(Admission),
    Probe(Probe),
    Defer(Deferral),
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    pub permit: Permit,
    pub fresh_for: u64,
    pub percent: u32,
    pub slower_than: Maybe<u64>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    pub permit: Permit,
    pub expires_in: u64,
    pub slower_than: Maybe<u64>,
}

#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferral {
    pub retry_after: u64,
    pub spread: u64,
    pub reason: DeferReason,
    pub fresh_for: u64,
    pub admission: Maybe<Admission>,
}

#[repr(C, u8)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeferReason {
    Open,
    Probing,
    ForcedOpen,
    Ramping,
    Other(Text),
}

#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub verdict: Verdict,
    pub state: State,
    pub next_due: Maybe<u64>,
    pub transitions: List<Transition>,
}

#[repr(C, u8)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Applied,
    Stale(StaleReason),
}

#[repr(C, u8)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StaleReason {
    Forced,
    AlreadyReported,
    LeaseExpired,
    OldEpoch,
    UnknownPermit,
    Other(Text),
}

#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    pub from: State,
    pub to: State,
    pub at: u64,
    pub epoch: u64,
    pub reason: TransitionReason,
}

#[repr(C, u8)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransitionReason {
    ConsecutiveFailures,
    FailureRate,
    SlowCalls,
    RampFailure,
    ProbeDue,
    ProbeSucceeded,
    ProbeFailed,
    ProbeTimedOut,
    ProbeSlow,
    ProbeLost,
    Forced,
    OverrideRemoved,
    OverrideEnded,
    Reset,
    Other(Text),
}

#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    pub state: State,
    pub override_: Maybe<Forced>,
    pub probe_due: bool,
    pub leases: List<Lease>,
    pub successes: u32,
    pub level: u32,
    pub calls: u64,
    pub failures: u64,
    pub slow: u64,
    pub failures_in_row: u64,
    pub epoch: u64,
    pub since: Maybe<u64>,
    pub next_due: Maybe<u64>,
}

#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forced {
    pub mode: Mode,
    pub since: u64,
    pub ends_in: Maybe<u64>,
    pub note: Text,
}

#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub token: u64,
    pub caller: Text,
    pub expires_in: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyInForce {
    pub policy: Policy,
    pub origin: PolicyOrigin,
}

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyOrigin {
    Host,
    Dependency,
}

#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFault {
    pub field: Text,
    pub why: Text,
}

#[repr(C, u8)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    InvalidDependency(Text),
    InvalidPolicy(List<PolicyFault>),
    InvalidArgument(Text),
    Contended,
    NewerVersion,
    Storage(StorageError),
    TooManyCalls(u64),
    TooManyDependencies(u32),
    Other(Text),
}

#[repr(C, u8)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageError {
    Unavailable(Text),
    Denied(Text),
    Corrupt(Text),
    Other(Text),
}

#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub version: u64,
    pub data: Maybe<List<u8>>,
}

#[repr(C, u8)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    Committed(u64),
    Stale(Snapshot),
}
