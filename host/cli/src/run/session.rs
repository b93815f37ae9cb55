//! One `halfopen run`.

use crate::args::Run;
use crate::process::Supervisor;
use crate::shell::output::note;

/// The arguments of a run, and what listens for signals meanwhile.
pub struct Session<'a> {
    pub args: &'a Run,
    pub supervisor: &'a Supervisor,
}

impl Session<'_> {
    /// Writes a line about the dependency to stderr, unless `--quiet` is given.
    pub fn say(&self, message: &str) {
        if !self.args.quiet {
            self.say_always(message);
        }
    }

    /// The same, also with `--quiet`.
    pub fn say_always(&self, message: &str) {
        note(format_args!("{}: {message}", self.args.dependency));
    }
}
