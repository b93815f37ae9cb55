//! A replay file that has been read: what its lines say, before anything of it has been run.

use std::path::Path;

use super::ReplayError;
use super::expect::{OfAcquire, OfControl, OfInspect, OfReport};
use crate::{Mode, Outcome, Policy, State, Tally};

/// A replay file that has been read and is well-formed, its first policy aside, which the component judges when the
/// scenario is run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(super) name: String,
    pub(super) dependency: String,
    pub(super) policy: Policy,
    pub(super) seed: u64,
    pub(super) steps: Vec<Step>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Unreadable`] when it cannot be read, [`ReplayError::Malformed`] when it is not a well-formed replay
    /// file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        let bytes = crate::input::read(path.as_ref()).map_err(ReplayError::Unreadable)?;
        Self::parse(&bytes)
    }

    /// Reads the contents of a file.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Malformed`], with the line and what is wrong there.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReplayError> {
        super::parse::scenario(bytes)
    }

    /// What the first line calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many steps it has.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }
}

/// One line after the first.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) line: usize,
    pub(super) at: u64,
    pub(super) dependency: Option<String>,
    pub(super) by: String,
    pub(super) action: Action,
    pub(super) state: Option<State>,
}

/// What a step does, and what is expected of that.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Acquire { keep_as: String, times: u64, expect: Option<OfAcquire> },
    Report { what: Report, permit: String, times: u64, expect: Option<OfReport> },
    Inspect { expect: Option<OfInspect> },
    Control { what: Control, expect: OfControl },
}

/// The calls that take a permit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Report {
    Outcome { outcome: Outcome, took_ms: Option<u64> },
    Tally(Tally),
    Renew,
    Release,
}

/// The control steps.
#[derive(Clone, Debug)]
pub(super) enum Control {
    Configure(Box<Policy>),
    Force { mode: Mode, lasting_ms: Option<u64> },
    Reset,
    Forget,
    Restart,
}

impl Action {
    /// The word that `do` has in the file.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Action::Acquire { .. } => "acquire",
            Action::Report { what: Report::Outcome { .. }, .. } => "report",
            Action::Report { what: Report::Tally(_), .. } => "tally",
            Action::Report { what: Report::Renew, .. } => "renew",
            Action::Report { what: Report::Release, .. } => "release",
            Action::Inspect { .. } => "inspect",
            Action::Control { what: Control::Configure(_), .. } => "configure",
            Action::Control { what: Control::Force { .. }, .. } => "force",
            Action::Control { what: Control::Reset, .. } => "reset",
            Action::Control { what: Control::Forget, .. } => "forget",
            Action::Control { what: Control::Restart, .. } => "restart",
        }
    }
}
