//! One `halfopen run`.

use halfopen::{Breaker, OnStoreError};

use crate::args::{OnStoreError as Choice, Run};
use crate::host::Opener;
use crate::process::{Interruptible, Supervisor};
use crate::shell::output::note;

/// The arguments of a run, what opens its host, and what listens for signals meanwhile.
pub struct Session<'a> {
    pub args: &'a Run,
    pub supervisor: &'a Supervisor,
    pub opener: Opener,
}

/// How a run ends.
pub enum End {
    /// With an exit status.
    Status(u8),
    /// By a signal.
    Signal(i32),
}

impl Session<'_> {
    /// Does work with the breaker, on a host that is open only for that: a connection is not held while a command runs or
    /// waits.
    pub fn with_breaker<T: Send + 'static>(
        &self,
        on_store_error: OnStoreError,
        work: impl FnOnce(Breaker) -> anyhow::Result<T> + Send + 'static,
    ) -> Interruptible<anyhow::Result<T>> {
        let (opener, dependency, caller) = (self.opener.clone(), self.args.dependency.clone(), self.caller());
        self.supervisor.during(move || work(opener(on_store_error)?.breaker(dependency).caller(caller)))
    }

    /// What `--on-store-error` asks for.
    pub fn on_store_error(&self) -> OnStoreError {
        match self.args.on_store_error {
            Choice::FailClosed => OnStoreError::FailClosed,
            Choice::FailOpen => OnStoreError::FailOpen,
        }
    }

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
