//! The exit codes of the program: one table, which `--help` prints and errors are looked up in.

use std::fmt::Write as _;
use std::io;

use halfopen::{BreakerError, OpenError, StoreError};

/// Why the program ends otherwise than with 0 or with the status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// The command line, a name or a value is wrong.
    Usage = 64,
    /// A file or a record holds what it should not.
    Data = 65,
    /// A file that was named does not exist or cannot be read.
    NoInput = 66,
    /// The store cannot be reached, or others kept it busy for too long.
    Unavailable = 69,
    /// The component misbehaved, or the program has a bug.
    Internal = 70,
    /// Reading or writing failed, or the disk is full.
    Io = 74,
    /// The dependency is to be left alone for now.
    Deferred = 75,
    /// The system does not allow it.
    Denied = 77,
    /// The surroundings are not as the program needs them.
    Config = 78,
    /// The time limit ended the command.
    TimedOut = 124,
    /// The command cannot be executed.
    CannotExecute = 126,
    /// The command was not found.
    NotFound = 127,
}

/// What `--help` says of each code.
const TABLE: &[(&str, &str)] = &[
    ("0", "done; for run: the command exited with 0"),
    ("1-255", "run: the exit status of the command; 128 + n when signal n killed it"),
    ("1", "replay: an expectation does not hold; demo: not exactly one probe at each recovery"),
    ("2", "replay: a file is not well-formed (of several files, the highest code counts)"),
    ("64", "usage: an unknown flag, a name or value that is not allowed, a policy out of range"),
    ("65", "bad data: a policy file, a component or a store that is not what it should be"),
    ("66", "a file that was named does not exist or cannot be read"),
    ("69", "the store cannot be reached, or is locked or busy for too long"),
    ("70", "the component misbehaved, or halfopen has a bug"),
    ("74", "reading or writing failed, or the disk is full"),
    ("75", "run: deferred; the command was not started; try again later"),
    ("77", "permission denied: a store or file that is read-only or belongs to somebody else"),
    ("78", "configuration: no HOME, or a store that was written by a later release"),
    ("124", "run: the time limit of --timeout ended the command"),
    ("126", "run: the command was found but cannot be executed"),
    ("127", "run: the command was not found"),
];

/// The table as a section of the help.
pub fn help() -> String {
    let mut text = "Exit codes:\n".to_owned();
    for (code, meaning) in TABLE {
        let _ = writeln!(text, "  {code:<6} {meaning}");
    }
    text
}

/// An error of the program's own, with its exit code.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    message: String,
}

impl Failure {
    /// A failure with a message that says what was wrong, where, and what to do.
    pub fn new(code: Code, message: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Failure { code, message: message.into() })
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
