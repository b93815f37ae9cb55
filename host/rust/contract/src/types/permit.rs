use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
#[cfg(feature = "component-model")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Entitles its holder to report the result of one or more calls.
///
/// It is plain data: it may be handed to another thread, process or machine, also as text (`EPOCH` or `EPOCH:LEASE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
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

#[cfg(test)]
mod tests;
