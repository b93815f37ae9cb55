//! The exit codes of the program: one table, which `--help` prints and errors are looked up in.

use std::fmt::Write as _;
use std::io;

use halfopen::replay::ReplayError;
use halfopen::{AllowListError, BreakerError, ComponentError, ComponentFault, OpenError, StoreError};

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
    /// The store cannot be reached, or others kept it busy for too long; or no more files can be opened.
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
    ("0", "done"),
    ("1", "replay: an expectation does not hold; demo: not exactly one probe at each recovery"),
    ("2", "replay: a file is not well-formed; of several files the highest code counts"),
    ("64", "usage: an unknown flag, or a name or value that is not allowed"),
    ("65", "bad data: a policy (file or values), a component or a store is not what it should be"),
    ("66", "a file that was named does not exist or cannot be read"),
    ("69", "the store cannot be reached, is full, locked or busy for too long; or no file can be opened"),
    ("70", "the component misbehaved, or halfopen has a bug"),
    ("74", "reading or writing failed"),
    ("75", "run: deferred; the command was not started; try again later"),
    ("77", "permission denied: a store or file that is read-only, or no file to write to"),
    ("78", "configuration: no HOME, or a store that a later release has written"),
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

/// An error of the program's own, with its exit code.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    message: String,
}

impl Failure {
    /// A failure with a message that says what was wrong, where, and what to do.
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

/// The exit code that an error calls for: that of the first in the chain which has one.
pub fn code_of(error: &anyhow::Error) -> Code {
    error.chain().find_map(code_of_one).unwrap_or(Code::Internal)
}

fn code_of_one(error: &(dyn std::error::Error + 'static)) -> Option<Code> {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        Some(failure.code)
    } else if let Some(error) = error.downcast_ref::<BreakerError>() {
        Some(of_breaker(error))
    } else if let Some(error) = error.downcast_ref::<OpenError>() {
        Some(of_open(error))
    } else if let Some(error) = error.downcast_ref::<ReplayError>() {
        of_replay(error)
    } else if let Some(error) = error.downcast_ref::<ComponentError>() {
        Some(of_component(error))
    } else if let Some(error) = error.downcast_ref::<AllowListError>() {
        Some(of_allow_list(error))
    } else if let Some(error) = error.downcast_ref::<StoreError>() {
        Some(of_store(error))
    } else {
        error.downcast_ref::<io::Error>().map(of_io)
    }
}

fn of_breaker(error: &BreakerError) -> Code {
    match error {
        BreakerError::InvalidDependency { .. } | BreakerError::InvalidArgument(_) => Code::Usage,
        BreakerError::InvalidPolicy(_) => Code::Data,
        BreakerError::Contended { .. } => Code::Unavailable,
        BreakerError::NewerVersion { .. } => Code::Config,
        BreakerError::Store(error) => of_store(error),
        BreakerError::Component(fault) => of_fault(fault),
        _ => Code::Internal,
    }
}

fn of_open(error: &OpenError) -> Code {
    match error {
        OpenError::Address { .. } => Code::Usage,
        OpenError::Store(error) => of_store(error),
        OpenError::Component(error) => of_component(error),
        OpenError::Setup(ComponentFault::Exhausted { .. }) => Code::Unavailable,
        OpenError::Setup(_) | OpenError::InvalidPolicy(_) => Code::Data,
        _ => Code::Internal,
    }
}

/// What a replay that could not be run calls for; none where the file is not well-formed, which has a code of its own.
pub fn of_replay(error: &ReplayError) -> Option<Code> {
    match error {
        ReplayError::Unreadable(_) => Some(Code::NoInput),
        ReplayError::Open(error) => Some(of_open(error)),
        ReplayError::Store(error) => Some(of_store(error)),
        _ => None,
    }
}

fn of_component(error: &ComponentError) -> Code {
    match error {
        ComponentError::Unreadable { .. } => Code::NoInput,
        ComponentError::NotAllowed { .. } => Code::Denied,
        ComponentError::Engine { .. } => Code::Internal,
        _ => Code::Data,
    }
}

fn of_allow_list(error: &AllowListError) -> Code {
    match error {
        AllowListError::Unreadable { .. } => Code::NoInput,
        _ => Code::Data,
    }
}

fn of_fault(fault: &ComponentFault) -> Code {
    match fault {
        ComponentFault::Exhausted { .. } => Code::Unavailable,
        _ => Code::Internal,
    }
}

/// What a store's failure calls for.
pub fn of_store(error: &StoreError) -> Code {
    match error {
        StoreError::Unavailable { .. } => Code::Unavailable,
        StoreError::Denied { .. } => Code::Denied,
        StoreError::Corrupt { .. } => Code::Data,
        StoreError::Newer { .. } => Code::Config,
        _ => Code::Io,
    }
}

fn of_io(error: &io::Error) -> Code {
    if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
        return Code::Unavailable;
    }
    match error.kind() {
        io::ErrorKind::NotFound => Code::NoInput,
        io::ErrorKind::PermissionDenied => Code::Denied,
        _ => Code::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_in_the_help() {
        let all = [
            Code::Usage,
            Code::Data,
            Code::NoInput,
            Code::Unavailable,
            Code::Internal,
            Code::Io,
            Code::Deferred,
            Code::Denied,
            Code::Config,
            Code::TimedOut,
            Code::CannotExecute,
            Code::NotFound,
        ];
        for code in all {
            let number = (code as u8).to_string();
            assert!(TABLE.iter().any(|(text, _)| *text == number), "{code:?}");
        }
    }

    #[test]
    fn the_code_comes_from_the_chain() {
        let deep = anyhow::Error::new(StoreError::Denied { place: "x".into(), why: "y".into() }).context("on the way");
        assert_eq!(code_of(&deep), Code::Denied);
        assert_eq!(code_of(&Failure::error(Code::Config, "no")), Code::Config);
        assert_eq!(code_of(&anyhow::anyhow!("something")), Code::Internal);
    }
}
