//! The command of a run: started, its lease renewed, its outcome reported.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use halfopen::{Outcome, Permit, PermitGuard, Report, State};

use super::report::{Delivery, deliver};
use super::retry_after::{self, RetryAfterFile};
use super::session::{End, Session};
use super::start_error;
use crate::exit::Code;
use crate::process::{Ended, Keeper, TimeLimit};
use crate::shell::output::note;
use crate::shell::text;

/// A permit as plain data: what a permit's guard needs is closed while the command runs.
struct Held {
    permit: Permit,
    /// The length of the lease, for a probe.
    lease: Option<Duration>,
}

impl Session<'_> {
    /// Starts the command and reports its outcome; without a permit nothing is reported.
    pub fn execute(&self, keeper: &Keeper, guard: Option<PermitGuard>) -> anyhow::Result<End> {
        let held = guard.map(|guard| Held { lease: guard.expires_in(), permit: guard.into_permit() });
        let lease = held.as_ref().and_then(|held| Some((held.permit, held.lease?)));
        let renewals = lease.map(|(permit, length)| self.renew(permit, length));
        let file = RetryAfterFile::new();
        let variables = self.variables(lease.and_then(|(permit, _)| permit.lease), file.as_ref());
        let limit = self.args.timeout.map(|timeout| TimeLimit { timeout, kill_after: self.args.kill_after });
        let ended = match self.supervisor.run(keeper, variables, file.as_ref().and_then(RetryAfterFile::path), limit) {
            Ok(ended) => ended,
            Err(error) => {
                let code = self.not_started(&error);
                held.inspect(|held| drop(self.deliver(held, &Report::new(Outcome::Ignored))));
                return Ok(End::Status(code));
            }
        };
        drop(renewals);
        if ended.timed_out {
            self.say(&format!("{}: the command was ended", self.cause(&ended)));
        }
        if let Some(held) = held {
            self.report(&held, &ended, file.as_ref());
        }
        Ok(match ended.status.signal() {
            _ if ended.timed_out => End::Status(Code::TimedOut as u8),
            Some(signal) => End::Signal(signal),
            None => End::Status(ended.code()),
        })
    }

    fn name(&self) -> &OsStr {
        self.args.command.first().map(std::ffi::OsString::as_os_str).unwrap_or_default()
    }

    /// The variables of the command. One without a value is removed: this program may itself run under a probe.
    fn variables(&self, token: Option<u64>, file: Option<&RetryAfterFile>) -> Vec<(String, Option<String>)> {
        let role = if token.is_some() { "probe" } else { "call" };
        [
            ("HALFOPEN_DEPENDENCY", Some(self.args.dependency.clone())),
            ("HALFOPEN_ROLE", Some(role.to_owned())),
            ("HALFOPEN_TOKEN", token.map(|token| token.to_string())),
            (retry_after::VARIABLE, file.and_then(RetryAfterFile::path)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Writes why the command was not started; returns the exit code.
    fn not_started(&self, error: &io::Error) -> u8 {
        let (code, why) = start_error::explained(self.name(), error);
        let name = self.name().to_string_lossy();
        let name = text::shortened(&name);
        note(format_args!("cannot start {name:?}: {why}; nothing was reported about {}", self.args.dependency));
        code as u8
    }

    /// Reports the outcome. The exit status stays the command's in any case.
    fn report(&self, held: &Held, ended: &Ended, file: Option<&RetryAfterFile>) {
        let outcome = self.outcome(ended);
        if held.lease.is_none() && outcome == Outcome::Ignored {
            // It counts nowhere.
            return;
        }
        let mut report = Report::new(outcome).took(ended.took).caller(self.caller());
        if !self.args.redact {
            report = report.cause(self.cause(ended));
        }
        match file.and_then(RetryAfterFile::read) {
            Some(Ok(time)) => report = report.retry_after(time),
            Some(Err(why)) => {
                self.say(&format!("what the command wrote to {} is ignored: {why}", retry_after::VARIABLE))
            }
            None => {}
        }
        let delivery = self.deliver(held, &report);
        if let Some(message) = delivery.explained(outcome, held.lease.is_some()) {
            match delivery {
                Delivery::Failed { .. } | Delivery::Unanswered => self.say_always(&message),
                Delivery::AtOnce(_) | Delivery::Late { .. } => self.say(&(message + &self.remedy(held, ended))),
            }
        }
        if let Some(receipt) = delivery.applied()
            && receipt.state == State::Open
            && matches!(outcome, Outcome::Failure | Outcome::Timeout)
        {
            let left = receipt.next_due.unwrap_or_default().saturating_sub(text::now());
            let left = text::duration(Duration::from_millis(left));
            self.say(&format!("the breaker is open now, after this failure ({}); retry in {left}", self.cause(ended)));
        }
    }

    fn deliver(&self, held: &Held, report: &Report) -> Delivery {
        let attempt = || {
            let (permit, report) = (held.permit, report.clone());
            // A store that does not open is an error of the report.
            self.with_breaker(halfopen::OnStoreError::FailOpen, move |breaker| Ok(breaker.report(permit, report)))
        };
        deliver(attempt, held.lease, |pause| self.supervisor.sleep(pause).is_none())
    }

    /// What to do where the result of a probe did not count because the probe took too long.
    fn remedy(&self, held: &Held, ended: &Ended) -> String {
        let longest = held.lease.and_then(|_| self.probe_max().ok()?);
        match longest.filter(|longest| ended.took > *longest) {
            Some(longest) => {
                format!(
                    "; a probe may take {} (probe_max_ms): {}",
                    text::duration(longest),
                    self.longer_probes(ended.took)
                )
            }
            None => String::new(),
        }
    }
}
