use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

use super::text::words;

/// Entitles its holder to report the result of one or more calls.
///
/// It is plain data: it may be handed to another thread, process or machine, also as text (`EPOCH` or `EPOCH:LEASE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
pub struct Permit {
    /// The epoch that the permit was given in. The epoch rises by one at every change of state.
    pub epoch: u64,
    /// The token of the lease, for a probe. Tokens only ever rise for one dependency, so it may be handed on as a
    /// fencing token.
    pub lease: Option<u64>,
}

/// A text that is no permit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no permit; a permit is written `EPOCH` or `EPOCH:LEASE`, both whole numbers")]
pub struct InvalidPermit {
    text: String,
}

impl fmt::Display for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lease {
            Some(lease) => write!(f, "{}:{lease}", self.epoch),
            None => write!(f, "{}", self.epoch),
        }
    }
}

impl FromStr for Permit {
    type Err = InvalidPermit;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten()
        };
        let parsed = match text.split_once(':') {
            Some((epoch, lease)) => number(epoch).zip(number(lease)).map(|(e, l)| (e, Some(l))),
            None => number(text).map(|epoch| (epoch, None)),
        };
        match parsed {
            Some((epoch, lease)) => Ok(Permit { epoch, lease }),
            None => Err(InvalidPermit { text: text.chars().take(64).collect() }),
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ComponentType, Lift, Lower)]
#[component(enum)]
#[repr(u8)]
pub enum Outcome {
    /// It succeeded.
    #[component(name = "success")]
    Success,
    /// It failed.
    #[component(name = "failure")]
    Failure,
    /// It was given up after a time limit. Counts as a failure.
    #[component(name = "timeout")]
    Timeout,
    /// It says nothing about the dependency (cancelled, a caller's own mistake). Counts nowhere.
    #[component(name = "ignored")]
    Ignored,
}

words!(Outcome { Success = "success", Failure = "failure", Timeout = "timeout", Ignored = "ignored" });

/// Outcomes of many closed-state calls. The successes came first (plain before slow), then the failures (likewise).
/// Slow ones count as slow only where the policy has `slow_calls`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(default, deny_unknown_fields)]
pub struct Tally {
    /// Successes that were not slow.
    pub successes: u64,
    /// Successes that were slow.
    #[component(name = "slow-successes")]
    pub slow_successes: u64,
    /// Failures and timeouts that were not slow.
    pub failures: u64,
    /// Failures and timeouts that were slow.
    #[component(name = "slow-failures")]
    pub slow_failures: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_survives_being_written_and_read() {
        for permit in [
            Permit { epoch: 0, lease: None },
            Permit { epoch: u64::MAX, lease: Some(u64::MAX) },
            Permit { epoch: 7, lease: Some(0) },
        ] {
            assert_eq!(permit.to_string().parse(), Ok(permit));
        }
    }

    #[test]
    fn a_text_that_is_no_permit_is_refused() {
        for text in ["", ":", "1:", ":1", "1:2:3", "+1", "-1", " 1", "1 ", "a", "18446744073709551616"] {
            assert!(text.parse::<Permit>().is_err(), "{text:?}");
        }
    }
}
