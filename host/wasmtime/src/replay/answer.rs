//! What a run tells.

use std::fmt;

/// What came of one call of a step.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer<'a> {
    /// The line of the step in the file; the first line is 1.
    pub line: usize,
    /// The instant on the virtual clock, in ms.
    pub at: u64,
    /// The dependency.
    pub dependency: &'a str,
    /// The caller.
    pub by: &'a str,
    /// What the step does, as the file names it.
    pub step: &'static str,
    /// The answer, in words.
    pub text: String,
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answer { line, at, dependency, by, step, text } = self;
        write!(f, "line {line}: at {at}: {step} {dependency} by {by}: {text}")
    }
}

/// An expectation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The line of the step in the file; the first line is 1.
    pub line: usize,
    /// What the file expects.
    pub wanted: String,
    /// What came of it.
    pub got: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: wanted {}, got {}", self.line, self.wanted, self.got)
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How many steps were run: all of them.
    pub steps: usize,
    /// The expectations that do not hold, in the order of the file.
    pub failures: Vec<Failure>,
}

impl Report {
    /// Whether all expectations hold.
    pub fn holds(&self) -> bool {
        self.failures.is_empty()
    }
}
