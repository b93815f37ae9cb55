//! The exit codes of the program, as `--help` prints them.

use std::fmt::Write as _;

/// Why the program ends neither with 0 nor with the status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// The command line, a name or a value is wrong.
    Usage = 64,
    /// The content of a file or of a record is wrong.
    Data = 65,
    /// A file that was named does not exist or cannot be read.
    NoInput = 66,
    /// The store cannot be reached or stayed busy; or the limit of open files is reached.
    Unavailable = 69,
    /// The engine failed, or the program has a bug.
    Internal = 70,
    /// Reading or writing failed, or the disk is full.
    Io = 74,
    /// The call is deferred.
    Deferred = 75,
    /// The system denies access.
    Denied = 77,
    /// The environment lacks what the program needs.
    Config = 78,
    /// The time limit ended the command.
    TimedOut = 124,
    /// The command cannot be executed.
    CannotExecute = 126,
    /// The command was not found.
    NotFound = 127,
}

/// The codes with their meanings in the help.
const TABLE: &[(&str, &str)] = &[
    ("0", "done"),
    ("1", "replay: an expectation does not hold; demo: not exactly one probe at each recovery"),
    ("1", "status --check: a dependency is open or forced; doctor: something is to be mended"),
    ("2", "replay: a file is not well-formed; with several files the highest code counts"),
    ("64", "usage: an unknown option, or a name or value that is not allowed"),
    ("65", "bad data: a policy (file or values), a component or a store is damaged or invalid"),
    ("66", "a file or a dependency that was named does not exist, or cannot be read"),
    ("69", "the store cannot be reached, is full, or stays locked or busy; or no file can be opened"),
    ("70", "the component failed, or halfopen has a bug"),
    ("74", "reading or writing failed"),
    ("75", "run: deferred; the command was not started; retry later"),
    ("77", "permission denied: a store or file that is read-only, or no file to write to"),
    ("78", "configuration: no HOME, a store of a later release, or too little or no executable memory for the engine"),
    ("124", "run: the time limit of --timeout ended the command"),
    ("126", "run: the command was found but cannot be executed"),
    ("127", "run: the command was not found"),
    ("other", "run: the exit status of the command; 128 + n when signal n ended it"),
];

/// The table as a section of the help.
pub fn help() -> String {
    let mut text = "Exit codes:\n".to_owned();
    for (code, meaning) in TABLE {
        let _ = writeln!(text, "  {code:<6} {meaning}");
    }
    text
}

#[cfg(test)]
mod tests;
