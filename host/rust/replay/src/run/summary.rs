use std::fmt;

/// The answer to one call of a step.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StepAnswer<'a> {
    /// The line of the step in the file; the first line is 1.
    pub line: usize,
    /// The instant on the virtual clock, in ms.
    pub at: u64,
    /// The dependency.
    pub dependency: &'a str,
    /// The caller, or the operator; may be empty.
    pub by: &'a str,
    /// What the step does, as the file names it.
    pub step: &'static str,
    /// The answer, in words.
    pub text: String,
}

impl fmt::Display for StepAnswer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StepAnswer { line, at, dependency, by, step, text } = self;
        let (between, by) = if by.is_empty() { ("", "") } else { (" by ", *by) };
        write!(f, "line {line}: at {at}: {step} {dependency}{between}{by}: {text}")
    }
}

/// An expectation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The line of the step in the file; the first line is 1.
    pub line: usize,
    /// The expectation.
    pub wanted: String,
    /// The answer.
    pub got: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: wanted {}, got {}", self.line, self.wanted, self.got)
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of steps: all of them were run.
    pub steps: usize,
    /// The expectations that do not hold, in the order of the file.
    pub failures: Vec<Failure>,
}

impl Summary {
    /// Whether all expectations hold.
    pub fn holds(&self) -> bool {
        self.failures.is_empty()
    }
}
