//! A replay file that has been read.

mod parse;
mod step;

use std::sync::Arc;

use halfopen_contract::documents::Policy;

pub use step::{Action, Step};

/// A replay file that is well-formed. Whether its policies are valid, the rules decide when it is run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) name: String,
    pub(crate) dependency: Arc<str>,
    pub(crate) policy: Policy,
    pub(crate) seed: u64,
    pub(crate) steps: Vec<Step>,
}

/// Why a file is no scenario.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The file is not a well-formed replay file.
    #[error("line {line}: {why}")]
    Malformed {
        /// The line; the first is 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl Scenario {
    /// The name, from the first line.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }
}
