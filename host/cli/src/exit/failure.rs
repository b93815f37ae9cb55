//! Errors of the program's own.

use super::Code;

/// An error of the program's own, with its exit code.
#[derive(Debug)]
pub struct Failure {
    pub(super) code: Code,
    message: String,
}

impl Failure {
    /// An error with a message that names the fault, its place, and the remedy.
    pub fn error(code: Code, message: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Failure { code, message: message.into() })
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
