//! The command of a run: started, its lease renewed, its outcome reported.

use std::ffi::OsStr;
use std::process::Command;

use halfopen::{Breaker, LeaseKeeper, Outcome, Report};

use super::admission::Admitted;
use super::report::{Delivery, deliver};
use super::session::Session;
use super::start_error;
use crate::exit::Code;
use crate::process::{CommandError, Ended, TimeLimit};
use crate::shell::output::note;
use crate::shell::text;

impl Session<'_> {
    /// Starts the command and reports its outcome; without a permit nothing is reported.
    pub fn execute(&self, admitted: Option<(&Breaker, Admitted)>) -> anyhow::Result<u8> {
        let probe = admitted.as_ref().is_some_and(|(_, admitted)| admitted.lease.is_some());
        let token = admitted.as_ref().and_then(|(_, admitted)| admitted.guard.token());
        let mut command = self.command(probe, token);
        let keeper = admitted.as_ref().and_then(|(breaker, admitted)| self.keep(breaker, admitted));
        let limit = self.args.timeout.map(|timeout| TimeLimit { timeout, kill_after: self.args.kill_after });
        let ended = match self.supervisor.run(&mut command, limit) {
            Ok(ended) => ended,
            Err(error) => return Ok(self.without_outcome(&error)),
        };
        drop(keeper);
        if let Some((breaker, admitted)) = admitted {
            self.report(breaker, admitted, &ended);
        }
        Ok(if ended.timed_out { Code::TimedOut as u8 } else { ended.code() })
    }

    fn name(&self) -> &OsStr {
        self.args.command.first().map(std::ffi::OsString::as_os_str).unwrap_or_default()
    }

    fn command(&self, probe: bool, token: Option<u64>) -> Command {
        let mut command = Command::new(self.name());
        command
            .args(self.args.command.iter().skip(1))
            .env("HALFOPEN_DEPENDENCY", &self.args.dependency)
            .env("HALFOPEN_ROLE", if probe { "probe" } else { "call" });
        match token {
            Some(token) => command.env("HALFOPEN_TOKEN", token.to_string()),
            // This program may itself run under a probe, with that probe's token in its environment.
            None => command.env_remove("HALFOPEN_TOKEN"),
        };
        command
    }

    /// Renews the lease of a probe, and warns when it is lost.
    fn keep(&self, breaker: &Breaker, admitted: &Admitted) -> Option<LeaseKeeper> {
        let expires_in = admitted.lease?;
        let (dependency, quiet) = (self.args.dependency.clone(), self.args.quiet);
        Some(LeaseKeeper::start_with(breaker, admitted.guard.permit(), expires_in, move |why| {
            if !quiet {
                note(format_args!(
                    "{dependency}: the probe's lease is lost ({why}); the command runs on, but its result will not count"
                ));
            }
        }))
    }

    /// Writes why there is no outcome to report; returns the exit code. The permit is released when it is dropped.
    fn without_outcome(&self, error: &CommandError) -> u8 {
        let dependency = &self.args.dependency;
        match error {
            CommandError::NotStarted(error) => {
                let (code, why) = start_error::explained(self.name(), error);
                let name = self.name().to_string_lossy();
                let name = text::shortened(&name);
                note(format_args!("cannot start {name:?}: {why}; nothing was reported about {dependency}"));
                code as u8
            }
            CommandError::StatusLost(error) => {
                self.say_always(&format!(
                    "the command was run, but its exit status is lost ({error}); nothing was reported"
                ));
                Code::Io as u8
            }
        }
    }

    /// Reports the outcome. The exit status stays the command's in any case.
    fn report(&self, breaker: &Breaker, admitted: Admitted, ended: &Ended) {
        let outcome = self.outcome(ended);
        let Admitted { guard, lease } = admitted;
        let permit = guard.into_permit();
        if lease.is_none() && outcome == Outcome::Ignored {
            // It counts nowhere.
            return;
        }
        // Written to the store at once: no later call of this process would carry it along.
        let report = Report::new(outcome).took(ended.took).caller(self.caller()).cause(self.cause(ended));
        let attempt = || {
            let (breaker, report) = (breaker.clone(), report.clone());
            self.supervisor.during(move || breaker.report(permit, report))
        };
        let delivery = deliver(attempt, lease, |pause| self.supervisor.sleep(pause).is_none());
        let Some(message) = delivery.explained(outcome, lease.is_some()) else { return };
        match delivery {
            Delivery::Failed { .. } | Delivery::Unanswered => self.say_always(&message),
            Delivery::AtOnce(_) | Delivery::Late { .. } => self.say(&message),
        }
    }
}
