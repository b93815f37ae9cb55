//! The outcome of a command, its cause, and the caller.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use halfopen::Outcome;

use super::session::Session;
use crate::process::Ended;
use crate::shell::text;

/// The longest name of a caller, in bytes.
pub const LONGEST_CALLER: usize = 128;

impl Session<'_> {
    /// The outcome that is reported.
    pub fn outcome(&self, ended: &Ended) -> Outcome {
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

    /// The cause of a failure: "exit status 22", "signal 9", "timed out after 10s".
    pub fn cause(&self, ended: &Ended) -> String {
        match (self.args.timeout.filter(|_| ended.timed_out), ended.status.signal()) {
            (Some(timeout), _) => format!("timed out after {}", text::duration(timeout)),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => format!("exit status {}", ended.code()),
        }
    }

    /// The caller's name: that of `--caller`, or the command's name, the machine's and the process number. With `--redact` the
    /// number alone.
    pub fn caller(&self) -> String {
        if let Some(caller) = &self.args.caller {
            return caller.clone();
        }
        let pid = format!("pid {}", std::process::id());
        if self.args.redact {
            return pid;
        }
        let machine = rustix::system::uname();
        let end = format!("@{} ({pid})", machine.nodename().to_string_lossy());
        let name = self.args.command.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
        let mut name: String = name.to_string_lossy().chars().filter(|c| !c.is_control()).collect();
        name.truncate(name.floor_char_boundary(LONGEST_CALLER.saturating_sub(end.len())));
        name + &end
    }
}
