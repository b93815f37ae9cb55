//! `halfopen run`.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};

use super::values::{duration, statuses};
use crate::exit;

/// Run a command only if its dependency may be called.
///
/// The command gets the program's streams and signals, and the program ends as the command does: with its exit status, or
/// by its signal. Exit status 0 is reported as success, any other as failure. A command that fails after halfopen got a
/// signal to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT), or that ends by a signal that halfopen got, is reported as ignored:
/// that says nothing about the dependency. When halfopen is killed, the command is killed too.
///
/// When the store is not available at the end, the report is retried: that of a probe until its lease has ended, any other
/// for 10 seconds, and not after a signal. The exit status is the command's in any case.
///
/// The command's environment holds HALFOPEN_DEPENDENCY, HALFOPEN_ROLE ("call" or "probe") and, for a probe, HALFOPEN_TOKEN:
/// a number that only ever rises, for use as a fencing token. To the file HALFOPEN_RETRY_AFTER_FILE a command that fails may
/// write the time that the dependency asks to be left alone: seconds or a date, as in the header Retry-After, or "2m".
///
/// The result of a probe that takes longer than the policy's probe_max_ms (1 minute by default) does not count. For jobs that
/// run longer, such as those of cron: halfopen policy set DEPENDENCY probe_max=15m
#[derive(Debug, Args)]
#[command(after_long_help = exit::help())]
pub struct Run {
    /// Exit statuses that say nothing about the dependency: "3", "3,22", "64-78"
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = statuses)]
    pub ignore_status: Vec<RangeInclusive<u8>>,

    /// The time limit ("30s", "1m 30s"): after it the command gets SIGTERM, and a timeout is reported
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// The time after SIGTERM until a command that still runs gets SIGKILL
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5s", requires = "timeout")]
    pub kill_after: Duration,

    /// When deferred, wait and retry; a store that is not available is not waited for
    #[arg(long)]
    pub wait: bool,

    /// The longest time to wait in total
    #[arg(long, value_name = "DURATION", value_parser = duration, requires = "wait")]
    pub max_wait: Option<Duration>,

    /// The time for which to retry the acquire while the store is not available ("10s")
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub store_retry: Option<Duration>,

    /// Write only errors to stderr
    #[arg(long, short)]
    pub quiet: bool,

    /// What to do when the store cannot be opened or read, stays locked, or is full or damaged
    #[arg(long, value_enum, value_name = "CHOICE", default_value_t)]
    pub on_store_error: OnStoreError,

    /// The caller's name, kept with a lease and with a failure [default: "COMMAND@MACHINE (pid N)"]
    #[arg(long, value_name = "NAME")]
    pub caller: Option<String>,

    /// Keep no cause with a failure, and no name of the command or the machine
    #[arg(long)]
    pub redact: bool,

    /// The dependency that the command calls
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,

    /// The command and its arguments, after "--"
    #[arg(value_name = "COMMAND", last = true, required = true, num_args = 1.., value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub enum OnStoreError {
    /// Do not start the command; exit with the code of the error
    #[default]
    FailClosed,
    /// Start the command without a lease, and do not count its outcome
    FailOpen,
}
