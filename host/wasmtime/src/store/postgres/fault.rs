//! What PostgreSQL's errors mean: to the user, and for whether to try again.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

use super::link::NotMade;
use super::options::PostgresOptions;
use crate::error::StoreError;

/// A failure.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub error: StoreError,
    pub nature: Nature,
}

/// What a failure says about what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// It was not done, and will not be.
    Refused,
    /// It was not done, as others did something at the same time.
    Conflict,
    /// It was not done: the server no longer knows a statement or a table.
    Outdated,
    /// It was not done: there was no connection to be had.
    Unreachable,
    /// It may have been done or not: the connection was lost, or the time ran out, before the answer.
    Lost,
}

impl PostgresOptions {
    pub(super) fn unavailable(&self, why: impl Into<String>) -> StoreError {
        StoreError::Unavailable { place: self.place.clone(), why: why.into() }
    }

    fn denied(&self, why: impl Into<String>) -> StoreError {
        StoreError::Denied { place: self.place.clone(), why: why.into() }
    }

    pub(super) fn corrupt(&self, why: impl std::fmt::Display) -> StoreError {
        let why = format!("a row holds what this program never wrote there ({why}); restore the database");
        StoreError::Corrupt { place: self.place.clone(), why }
    }

    pub(super) fn other(&self, why: impl Into<String>) -> StoreError {
        StoreError::Other { place: self.place.clone(), why: why.into() }
    }

    /// No answer came in time.
    pub(super) fn silent(&self) -> StoreError {
        let waited = self.timeout.as_millis();
        self.unavailable(format!("the server has not answered within {waited} ms; look at the server and the network"))
    }

    /// Why no connection was made.
    pub(super) fn not_made(&self, error: &NotMade) -> StoreError {
        match error {
            NotMade::TimedOut => {
                let waited = self.connect_timeout.as_millis();
                self.unavailable(format!(
                    "no connection could be made within {waited} ms; look at the server and the network"
                ))
            }
            NotMade::Local(error) => self.unavailable(format!("this machine has no resources left for it ({error})")),
            NotMade::Failed(error) => self.not_connected(error),
        }
    }

    fn not_connected(&self, error: &Error) -> StoreError {
        if let Some(error) = error.as_db_error() {
            return self.said(error);
        }
        let why = reasons(error);
        let source = error.source();
        match source.and_then(|source| source.downcast_ref::<io::Error>()) {
            // What the driver says when the host is not the one asked for.
            Some(cause) if cause.kind() == io::ErrorKind::PermissionDenied => self.denied(READ_ONLY),
            Some(cause) if cause.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
                self.denied(format!("TLS fails ({why}); look at the server's certificate, `sslmode` and `sslrootcert`"))
            }
            // It speaks no TLS, or asks for what the address does not hold.
            None if source.is_some() => self.denied(format!("it cannot be used as the address says ({why})")),
            _ => self.unavailable(format!("it cannot be reached ({why}); is the server up, and the address right?")),
        }
    }

    /// Why an answer was none.
    pub(super) fn failed(&self, error: &Error) -> Failed {
        let Some(said) = error.as_db_error() else {
            if error.source().is_some_and(|source| !source.is::<io::Error>()) {
                return Failed { error: self.corrupt(reasons(error)), nature: Nature::Refused };
            }
            let why = format!("the connection was lost ({}); try again", reasons(error));
            return Failed { error: self.unavailable(why), nature: Nature::Lost };
        };
        Failed { error: self.said(said), nature: nature(said) }
    }

    fn said(&self, error: &DbError) -> StoreError {
        let message = error.message();
        let code = error.code();
        match *code {
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => self
                .denied(format!("the server does not let this user in ({message}); check the user and the password")),
            SqlState::INVALID_CATALOG_NAME => {
                self.denied(format!("there is no such database ({message}); create it, or give another"))
            }
            SqlState::INSUFFICIENT_PRIVILEGE => self.denied(format!(
                "this user lacks a right ({message}); grant what the documentation of the store lists, or let a user \
                 with the right to create open the store once"
            )),
            SqlState::READ_ONLY_SQL_TRANSACTION => self.denied(READ_ONLY),
            SqlState::DISK_FULL => self.unavailable(format!("the server's disk is full ({message}); free some space")),
            SqlState::OUT_OF_MEMORY => self.unavailable(format!("the server has no memory left ({message})")),
            SqlState::TOO_MANY_CONNECTIONS => self.unavailable(format!(
                "the server takes no more connections ({message}); raise its max_connections, or lower `connections`"
            )),
            SqlState::CONFIGURATION_LIMIT_EXCEEDED => self.unavailable(format!("the server is at a limit ({message})")),
            SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::DATABASE_DROPPED => {
                self.unavailable(format!("the server is going down or coming up ({message}); try again"))
            }
            SqlState::QUERY_CANCELED | SqlState::LOCK_NOT_AVAILABLE => self.unavailable(format!(
                "a statement took too long and was given up ({message}); others may hold the record locked"
            )),
            SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => {
                let waited = self.timeout.as_millis();
                self.unavailable(format!("others wrote at the same time again and again for {waited} ms ({message})"))
            }
            SqlState::IO_ERROR => self.unavailable(format!("the server cannot read or write its disk ({message})")),
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => StoreError::Corrupt {
                place: self.place.clone(),
                why: format!("the server finds its data damaged ({message}); restore the database"),
            },
            SqlState::PROGRAM_LIMIT_EXCEEDED => {
                self.other(format!("a name is longer than this store can index ({message})"))
            }
            ref state if is_missing(state) => self.other(format!(
                "its schema is not whole ({message}); remove the schema, so that it is made anew, or restore it"
            )),
            _ if ended(error) => self.unavailable(format!("the server ended the connection ({message}); try again")),
            _ => self.other(format!("the server says: {message} (SQLSTATE {})", code.code())),
        }
    }
}

const READ_ONLY: &str =
    "it allows no writes: it is a standby, or default_transaction_read_only is on; give the address of the primary";

fn nature(error: &DbError) -> Nature {
    match *error.code() {
        // Where the server ends the connection, that may have been after the commit.
        _ if ended(error) => Nature::Lost,
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => Nature::Conflict,
        // A pooler between may hand over to a connection that has prepared nothing.
        SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::FEATURE_NOT_SUPPORTED => Nature::Outdated,
        ref state if is_missing(state) => Nature::Outdated,
        _ => Nature::Refused,
    }
}

fn ended(error: &DbError) -> bool {
    !matches!(error.parsed_severity(), Some(Severity::Error))
}

fn is_missing(state: &SqlState) -> bool {
    matches!(
        *state,
        SqlState::UNDEFINED_TABLE
            | SqlState::UNDEFINED_FUNCTION
            | SqlState::UNDEFINED_COLUMN
            | SqlState::INVALID_SCHEMA_NAME
    )
}

/// What an error says, with what is behind it.
pub(super) fn reasons(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text = format!("{text}: {error}");
        next = error.source();
    }
    text
}
