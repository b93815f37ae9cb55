use std::time::Duration;

use serde::{Deserialize, Serialize};
#[cfg(feature = "component-model")]
use wasmtime::component::{ComponentType, Lift, Lower};

use super::Permit;
use super::words::{named, open_words};

named! {
    variant:
    /// The answer to `acquire`. Deferring is an answer, not an error.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Decision {
        /// Make the call, and report its outcome.
        Proceed(Admission) = "proceed",
        /// Make the call as the probe, under a lease, and report its outcome before the lease ends.
        Probe(Probe) = "probe",
        /// Make no call now.
        Defer(Deferral) = "defer",
    }
}

/// A call is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
pub struct Admission {
    /// What the outcome is reported with.
    pub permit: Permit,
    /// For this many ms from when `acquire` was sent a process may admit further calls under this permit without asking.
    #[cfg_attr(feature = "component-model", component(name = "fresh-for"))]
    pub fresh_for: u64,
    /// The percentage of those further calls that it may admit: below 100 during a ramp.
    pub percent: u32,
    /// A call that takes this many ms or longer is slow; none where slow calls are not told apart.
    #[cfg_attr(feature = "component-model", component(name = "slower-than"))]
    pub slower_than: Option<u64>,
}

/// A probe is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
pub struct Probe {
    /// What the outcome is reported with; it holds the lease.
    pub permit: Permit,
    /// The lease ends this many ms after `acquire` was sent.
    #[cfg_attr(feature = "component-model", component(name = "expires-in"))]
    pub expires_in: u64,
    /// A call that takes this many ms or longer is slow; none where slow calls are not told apart.
    #[cfg_attr(feature = "component-model", component(name = "slower-than"))]
    pub slower_than: Option<u64>,
}

/// A call is deferred. A deferred caller makes no call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
pub struct Deferral {
    /// Come back after this many ms; never 0.
    #[cfg_attr(feature = "component-model", component(name = "retry-after"))]
    pub retry_after: u64,
    /// The host adds a random 0 to `spread` ms on top, drawn anew for each answer, so that callers do not return
    /// together: [`wait`](Deferral::wait).
    pub spread: u64,
    /// Why.
    pub reason: DeferReason,
    /// For this many ms from when `acquire` was sent a process may defer further calls without asking, with the rest of
    /// `retry_after` for each.
    #[cfg_attr(feature = "component-model", component(name = "fresh-for"))]
    pub fresh_for: u64,
    /// During a ramp: what a process may admit further calls with, by drawing.
    pub admission: Option<Admission>,
}

impl Deferral {
    /// The wait before the next acquire: `retry_after` plus a random 0 to `spread`, drawn anew at each call.
    pub fn wait(&self) -> Duration {
        Duration::from_millis(self.retry_after.saturating_add(fastrand::u64(..=self.spread)))
    }
}

impl std::fmt::Display for Deferral {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; come back in {} ms", self.reason.explained(), self.retry_after)
    }
}

open_words! {
    /// Why a call is deferred.
    pub enum DeferReason {
        /// The breaker is open.
        Open = "open",
        /// The breaker is half-open and all leases are taken.
        Probing = "probing",
        /// An operator forced the breaker open.
        ForcedOpen = "forced-open",
        /// The breaker has closed a moment ago and admits a part of the calls.
        Ramping = "ramping",
    }
}

impl DeferReason {
    /// The reason as a clause for a message.
    pub fn explained(&self) -> &str {
        match self {
            Self::Open => "the breaker is open",
            Self::Probing => "another caller is probing",
            Self::ForcedOpen => "the breaker is forced open",
            Self::Ramping => "the breaker has just closed and admits a part of the calls",
            Self::Other(text) => text,
        }
    }
}

#[cfg(test)]
mod tests;
