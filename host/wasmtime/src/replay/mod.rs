//! Replay files: sequences of steps on a virtual clock, with what is expected of them.
//!
//! A replay file is JSON Lines. The first line names the scenario; each further line is a step that goes through the real
//! component, and says what must come of it:
//!
//! ```
//! use halfopen::replay::{Replay, Scenario};
//!
//! let scenario = Scenario::parse(br#"{"scenario": "one probe", "policy": {"consecutive_failures": 1, "jitter_percent": 0}}
//! {"at": 0, "by": "A", "do": "acquire", "expect": "proceed"}
//! {"at": 0, "by": "A", "do": "report", "outcome": "failure", "expect": "applied", "state": "open"}
//! {"at": 5000, "by": "P", "do": "acquire", "expect": "probe"}
//! {"at": 5000, "by": "Q", "do": "acquire", "expect": {"defer_ms": 5000}}
//! "#)?;
//! let report = Replay::in_memory().run(&scenario)?;
//! assert!(report.holds());
//! # Ok::<(), halfopen::replay::ReplayError>(())
//! ```
//!
//! Each run has an empty namespace of its own in the store, which is removed afterwards, also when something fails. The
//! clock and the randomness are the file's; nothing is answered from local memory: every step asks the component, unless
//! [`Replay::local_admission`] says otherwise.

mod answer;
mod expect;
mod json;
mod judge;
mod namespace;
mod parse;
mod run;
mod scenario;
mod steps;
mod target;
#[cfg(test)]
mod tests;
mod through;
mod typo;
mod untimed;

pub use crate::wire::{Decision, Probe};
pub use answer::{Answer, Failure, Report};
pub use run::{Replay, ReplayError};
pub use scenario::Scenario;
pub use target::{Ground, Target};
pub use typo::nearest;
