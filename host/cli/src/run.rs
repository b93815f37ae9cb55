//! `halfopen run`: ask, and only if allowed start the command.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use halfopen::{Breaker, BreakerError, Decision, Deferral, Host, LeaseKeeper, OnStoreError, Outcome, PermitGuard};
use rustix::process::Signal;

use crate::args::{Global, OnStoreError as Choice, Run};
use crate::exit::{Code, code_of};
use crate::output::note;
use crate::report::{self, Made};
use crate::supervise::{CameTo, Ended, RunError, Supervisor, TimeLimit};
use crate::{not_started, open, text};

/// However short a wait the breaker asks for, the program does not ask more often than this.
const LEAST_WAIT: Duration = Duration::from_millis(50);

/// How many bytes the name of a caller may have.
const CALLER: usize = 64;

/// Does it; answers with the exit status.
pub fn run(args: &Run, global: &Global) -> anyhow::Result<u8> {
    let supervisor = Supervisor::new()?;
    let session = Session { args, supervisor: &supervisor };
    let host = match session.open(global) {
        CameTo::Done(opened) => opened.map_err(|error| session.not_waited_for(error))?,
        CameTo::Interrupted { signal, .. } => return Ok(of_signal(signal)),
    };
    let caller = args.caller.clone().unwrap_or_else(|| default_caller(args));
    let breaker = host.breaker(args.dependency.as_str()).caller(caller);
    let asked = session.ask(&host, &breaker);
    if let Some(signal) = supervisor.asked_to_end() {
        // What there is of a permit is given back when it is dropped.
        return Ok(of_signal(signal));
    }
    if asked.is_ok() {
        session.warn_of_a_bad_folder(&host);
    }
    let admitted = match asked? {
        Ok(admitted) => admitted,
        Err(NotNow::Deferred) => return Ok(Code::Deferred as u8),
        Err(NotNow::Interrupted(signal)) => return Ok(of_signal(signal)),
    };
    if let Some(why) = admitted.guard.unrecorded() {
        session.tell_unrecorded(why);
        return session.start(None);
    }
    if admitted.lease.is_some()
        && let Err(signal) = session.warn_of_a_long_limit(&breaker)
    {
        return Ok(of_signal(signal));
    }
    session.start(Some((&breaker, admitted)))
}

fn on_store_error(choice: Choice) -> OnStoreError {
    match choice {
        Choice::FailClosed => OnStoreError::FailClosed,
        Choice::FailOpen => OnStoreError::FailOpen,
        Choice::LastKnown => OnStoreError::LastKnown,
    }
}

/// The command's name, so that `status` tells people what holds a lease.
fn default_caller(args: &Run) -> String {
    let name = args.command.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
    let pid = format!(" (pid {})", std::process::id());
    let mut name: String = name.to_string_lossy().chars().filter(|c| !c.is_control()).collect();
    name.truncate(name.floor_char_boundary(CALLER - pid.len()));
    name + &pid
}

fn of_signal(signal: Signal) -> u8 {
    u8::try_from(128 + signal.as_raw()).unwrap_or(u8::MAX)
}

/// A permit, and what it was given for.
struct Admitted {
    guard: PermitGuard,
    /// The length of the lease, for a probe.
    lease: Option<Duration>,
}

/// Why the command is not started.
enum NotNow {
    Deferred,
    Interrupted(Signal),
}

/// Why the command is deferred, and by whom, where it is not the store that says so.
fn why(host: &Host, deferral: &Deferral) -> String {
    let why = deferral.reason.explained();
    match host.store_error() {
        Some(error) => format!("{error}; when last asked, {why} (last-known)"),
        None => why.to_owned(),
    }
}

struct Session<'a> {
    args: &'a Run,
    supervisor: &'a Supervisor,
}

impl Session<'_> {
    fn say(&self, message: &str) {
        if !self.args.quiet {
            note(format_args!("{}: {message}", self.args.dependency));
        }
    }

    fn tell_unrecorded(&self, why: &halfopen::StoreError) {
        let started = match self.args.on_store_error {
            Choice::LastKnown => {
                "starting the command, as it would have been when last asked, and recording nothing (last-known)"
            }
            _ => "starting the command all the same, and recording nothing (fail-open)",
        };
        self.say(&format!("{why}; {started}"));
    }

    fn open(&self, global: &Global) -> CameTo<anyhow::Result<Host>> {
        let (global, choice) = (global.clone(), on_store_error(self.args.on_store_error));
        self.supervisor.during(move || open::host_that(&global, choice))
    }

    /// Says that a later run will not know what this one was told.
    fn warn_of_a_bad_folder(&self, host: &Host) {
        if let Some(fault) = host.last_known_fault() {
            self.say(&format!("what the store says is not kept for when it cannot be asked (last-known): {fault}"));
        }
    }

    /// Says that a probe may take less long than `--timeout` allows. Only who probes looks the policy up.
    fn warn_of_a_long_limit(&self, breaker: &Breaker) -> Result<(), Signal> {
        let Some(timeout) = self.args.timeout.filter(|_| !self.args.quiet) else { return Ok(()) };
        let looking = breaker.clone();
        let found = match self.supervisor.during(move || looking.policy()) {
            CameTo::Done(found) => found,
            CameTo::Interrupted { signal, .. } => return Err(signal),
        };
        let Ok(most) = found.map(|found| Duration::from_millis(found.policy.probe_max_ms)) else { return Ok(()) };
        if timeout > most {
            let (most, timeout) = (text::duration(most), text::duration(timeout));
            self.say(&format!(
                "the result of a probe that takes longer than {most} (probe_max_ms) does not count, and --timeout allows \
                 {timeout}"
            ));
        }
        Ok(())
    }

    /// Asks, and with `--wait` waits as told and asks again.
    fn ask(&self, host: &Host, breaker: &Breaker) -> anyhow::Result<Result<Admitted, NotNow>> {
        let started = Instant::now();
        loop {
            let asking = breaker.clone();
            let decision = match self.supervisor.during(move || asking.acquire()) {
                CameTo::Done(decision) => decision.map_err(|error| self.without_answer(host, error))?,
                // A permit that has come all the same is given back here.
                CameTo::Interrupted { signal, .. } => return Ok(Err(NotNow::Interrupted(signal))),
            };
            let deferral = match decision {
                Decision::Proceed(guard) | Decision::Probe(guard) => {
                    return Ok(Ok(Admitted { lease: guard.expires_in(), guard }));
                }
                Decision::Defer(deferral) => deferral,
            };
            let wait = deferral.wait().max(LEAST_WAIT);
            if !self.waits(&why(host, &deferral), wait, started) {
                return Ok(Err(NotNow::Deferred));
            }
            if let Some(signal) = self.supervisor.sleep(wait) {
                return Ok(Err(NotNow::Interrupted(signal)));
            }
        }
    }

    /// An error of the breaker, and what it means here.
    fn without_answer(&self, host: &Host, error: BreakerError) -> anyhow::Error {
        let is_store = matches!(error, BreakerError::Store(_));
        let error = anyhow::Error::new(error);
        if !is_store || self.args.on_store_error != Choice::LastKnown {
            return self.not_waited_for(error);
        }
        let dependency = &self.args.dependency;
        let why = match host.last_known_fault() {
            Some(fault) => format!("what is known from before cannot be used (last-known): {fault}"),
            None if host.last_wait_has_passed(dependency) => {
                "the wait that was known has passed (last-known)".to_owned()
            }
            None => "nothing is known from before (last-known)".to_owned(),
        };
        self.not_waited_for(error.context(format!("{dependency}: not started, as {why}")))
    }

    /// With `--wait` somebody may have hoped for more.
    fn not_waited_for(&self, error: anyhow::Error) -> anyhow::Error {
        if self.args.wait && code_of(&error) == Code::Unavailable {
            error.context("--wait waits for the dependency, not for the store")
        } else {
            error
        }
    }

    /// Whether to wait for so long and ask again; says why and when to come back either way.
    fn waits(&self, why: &str, wait: Duration, started: Instant) -> bool {
        let when = text::duration(wait);
        if !self.args.wait {
            self.say(&format!("not started: {why}; come back in {when}"));
            return false;
        }
        let left = self.args.max_wait.map(|most| most.saturating_sub(started.elapsed()));
        if left.is_some_and(|left| left < wait) {
            self.say(&format!("not started: {why}; come back in {when}, which is longer than --max-wait allows"));
            return false;
        }
        self.say(&format!("{why}; asking again in {when}"));
        true
    }

    /// Starts the command and reports how it ended; without a permit nothing is reported.
    fn start(&self, admitted: Option<(&Breaker, Admitted)>) -> anyhow::Result<u8> {
        let probe = admitted.as_ref().is_some_and(|(_, admitted)| admitted.lease.is_some());
        let token = admitted.as_ref().and_then(|(_, admitted)| admitted.guard.token());
        let mut command = self.command(probe, token);
        let keeper = admitted.as_ref().and_then(|(breaker, admitted)| self.keep(breaker, admitted));
        let ended = match self.supervisor.run(&mut command, self.limit()) {
            Ok(ended) => ended,
            Err(error) => return Ok(self.has_no_end(&error)),
        };
        drop(keeper);
        if let Some((breaker, admitted)) = admitted {
            self.report(breaker, admitted, &ended);
        }
        Ok(if ended.timed_out { Code::TimedOut as u8 } else { ended.code() })
    }

    /// What the command is called.
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
            // Not that of a probe which this program is itself a part of.
            None => command.env_remove("HALFOPEN_TOKEN"),
        };
        command
    }

    fn limit(&self) -> Option<TimeLimit> {
        self.args.timeout.map(|timeout| TimeLimit { timeout, kill_after: self.args.kill_after })
    }

    /// Keeps the lease of a probe alive, and says so when it is lost all the same.
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

    /// Says why nothing is reported. What there is of a permit is given back when it is dropped.
    fn has_no_end(&self, error: &RunError) -> u8 {
        let (name, dependency) = (self.name(), &self.args.dependency);
        match error {
            RunError::NotStarted(error) => {
                let (code, why) = not_started::explained(name, error);
                let name = name.to_string_lossy();
                let name = text::shortened(&name);
                note(format_args!("cannot start {name:?}: {why}; nothing was reported about {dependency}"));
                code as u8
            }
            RunError::Lost(error) => {
                note(format_args!(
                    "{dependency}: the command was run, and how it ended is not known ({error}); nothing was reported"
                ));
                Code::Io as u8
            }
        }
    }

    /// Reports. Whatever comes of it, the exit status stays the command's.
    fn report(&self, breaker: &Breaker, admitted: Admitted, ended: &Ended) {
        let outcome = self.outcome(ended);
        let Admitted { guard, lease } = admitted;
        let permit = guard.into_permit();
        if lease.is_none() && outcome == Outcome::Ignored {
            // It counts nowhere.
            return;
        }
        // Written at once: this process will not be asked again.
        let took = ended.took;
        let report = || {
            let breaker = breaker.clone();
            self.supervisor.during(move || breaker.report(permit, outcome, Some(took)))
        };
        let made = report::made(report, lease, |pause| self.supervisor.sleep(pause).is_none());
        let Some(message) = made.explained(outcome, lease.is_some()) else { return };
        match made {
            Made::NotTold { .. } | Made::Unanswered => note(format_args!("{}: {message}", self.args.dependency)),
            Made::Told(_) | Made::ToldLate { .. } => self.say(&message),
        }
    }

    fn outcome(&self, ended: &Ended) -> Outcome {
        let code = ended.code();
        if ended.timed_out {
            Outcome::Timeout
        } else if code == 0 {
            Outcome::Success
        } else if ended.interrupted || self.args.ignore_status.iter().any(|range| range.contains(&code)) {
            Outcome::Ignored
        } else {
            Outcome::Failure
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    fn args(words: &[&str]) -> Run {
        let cli = crate::args::Cli::try_parse_from([&["halfopen", "run"], words].concat()).unwrap();
        match cli.command {
            crate::args::Command::Run(run) => run,
            other => panic!("{other:?}"),
        }
    }

    fn outcome(args: &Run, raw_status: i32, timed_out: bool, interrupted: bool) -> Outcome {
        let ended = Ended { status: ExitStatus::from_raw(raw_status), took: Duration::ZERO, timed_out, interrupted };
        Session { args, supervisor: &Supervisor::new().unwrap() }.outcome(&ended)
    }

    #[test]
    fn how_a_command_ended_is_what_is_reported() {
        let args = args(&["--ignore-status", "3,20-22", "pay", "--", "true"]);
        let exit = |code: i32| code << 8;
        assert_eq!(outcome(&args, exit(0), false, false), Outcome::Success);
        assert_eq!(outcome(&args, exit(0), false, true), Outcome::Success);
        assert_eq!(outcome(&args, exit(1), false, false), Outcome::Failure);
        assert_eq!(outcome(&args, exit(3), false, false), Outcome::Ignored);
        assert_eq!(outcome(&args, exit(21), false, false), Outcome::Ignored);
        assert_eq!(outcome(&args, exit(1), false, true), Outcome::Ignored);
        assert_eq!(outcome(&args, exit(0), true, false), Outcome::Timeout);
        assert_eq!(outcome(&args, 9, false, false), Outcome::Failure);
    }

    #[test]
    fn the_caller_fits_and_names_the_command() {
        let long = "x".repeat(300);
        let name = default_caller(&args(&["pay", "--", &format!("/usr/bin/{long}")]));
        assert!(name.len() <= CALLER && name.contains(&format!("(pid {})", std::process::id())), "{name}");
        assert!(default_caller(&args(&["pay", "--", "/usr/bin/curl", "-f"])).starts_with("curl (pid "));
        assert!(default_caller(&args(&["pay", "--", &"ü".repeat(60)])).len() <= CALLER);
    }
}
