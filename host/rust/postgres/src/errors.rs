//! The meaning of PostgreSQL's errors: for the user, and for a retry.

use std::error::Error as _;
use std::io;

use halfopen_contract::store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

use crate::options::PostgresOptions;

/// The failure of an attempt.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub error: StoreError,
    pub kind: FailureKind,
}

/// The consequence of a failure for its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// Not done; a retry would fail too.
    Refused,
    /// Not done, because of a concurrent transaction.
    Conflict,
    /// Not done: the server no longer knows a statement or a table.
    Outdated,
    /// Not done: there was no connection.
    Unreachable,
    /// Not done: the connection ended before the operation began.
    Dropped,
    /// Done or not: the connection was lost, or the time ran out, before the answer.
    Lost,
}

impl Failure {
    pub fn unreachable(error: StoreError) -> Failure {
        Failure { error, kind: FailureKind::Unreachable }
    }
}

const READ_ONLY: &str =
    "it allows no writes: it is a standby, or default_transaction_read_only is on; give the address of the primary";

impl PostgresOptions {
    /// A row that this program never wrote.
    pub(crate) fn corrupt(&self, why: impl std::fmt::Display) -> StoreError {
        self.place.corrupt(format!("a row holds data that this program never wrote ({why}); restore the database"))
    }

    /// No answer came in time.
    pub(crate) fn timed_out(&self) -> StoreError {
        let waited = self.timeout.as_millis();
        self.place
            .unavailable(format!("the server did not answer within {waited} ms; check the server and the network"))
    }

    /// The error of a connection that the server or the network refused.
    fn not_connected(&self, error: &Error) -> StoreError {
        if let Some(error) = error.as_db_error() {
            return self.db_error(error);
        }
        let why = reasons(error);
        match error.source().map(|source| source.downcast_ref::<io::Error>()) {
            // The driver's error where `target_session_attrs` does not hold.
            Some(Some(cause)) if cause.kind() == io::ErrorKind::PermissionDenied => self.place.denied(READ_ONLY),
            Some(Some(cause)) if cause.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => self
                .place
                .denied(format!("TLS fails ({why}); check the server's certificate, `sslmode` and `sslrootcert`")),
            // The server speaks no TLS, or needs a password that the address does not give.
            Some(None) => self.place.denied(format!("it cannot be used as the address says ({why})")),
            _ => self
                .place
                .unavailable(format!("it cannot be reached ({why}); is the server up, and the address right?")),
        }
    }

    /// The failure of an attempt that got no connection.
    pub(crate) fn connect_failure(&self, error: &Error) -> Failure {
        let dropped = error.code() == Some(&SqlState::ADMIN_SHUTDOWN);
        let kind = if dropped { FailureKind::Dropped } else { FailureKind::Unreachable };
        Failure { error: self.not_connected(error), kind }
    }

    /// The failure of an attempt that had a connection.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        if let Some(error) = error.as_db_error() {
            return Failure { error: self.db_error(error), kind: kind(error) };
        }
        if error.source().is_some_and(|source| !source.is::<io::Error>()) {
            return Failure { error: self.corrupt(reasons(error)), kind: FailureKind::Refused };
        }
        let why = format!("the connection was lost ({}); try again", reasons(error));
        Failure { error: self.place.unavailable(why), kind: FailureKind::Lost }
    }

    fn db_error(&self, error: &DbError) -> StoreError {
        let (place, message) = (&self.place, error.message());
        match *error.code() {
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                place.denied(format!("the server refuses this user ({message}); check the user and the password"))
            }
            SqlState::INVALID_CATALOG_NAME => {
                place.denied(format!("there is no such database ({message}); create it, or give another"))
            }
            SqlState::INSUFFICIENT_PRIVILEGE => place.denied(format!(
                "this user lacks a right ({message}); grant the rights that the documentation lists, or open the store \
                 once as a user with the right to create"
            )),
            SqlState::READ_ONLY_SQL_TRANSACTION => place.denied(READ_ONLY),
            SqlState::DISK_FULL => place.unavailable(format!("the server's disk is full ({message}); free some space")),
            SqlState::TOO_MANY_CONNECTIONS => place.unavailable(format!(
                "the server takes no more connections ({message}); raise its max_connections, or lower `connections`"
            )),
            SqlState::QUERY_CANCELED | SqlState::LOCK_NOT_AVAILABLE => place.unavailable(format!(
                "a statement took too long and was cancelled ({message}); another transaction may lock the record"
            )),
            SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => {
                let waited = self.timeout.as_millis();
                place.unavailable(format!("concurrent transactions conflicted for {waited} ms ({message})"))
            }
            SqlState::OUT_OF_MEMORY | SqlState::CONFIGURATION_LIMIT_EXCEEDED | SqlState::IO_ERROR => {
                place.unavailable(format!("the server's machine fails or is at a limit ({message}); look at its log"))
            }
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
                place.corrupt(format!("the server finds its data damaged ({message}); restore the database"))
            }
            ref state if is_missing(state) => place.other(format!(
                "its schema is incomplete ({message}); drop the schema, so that it is made anew, or restore it"
            )),
            // A shutdown, a crash, a start, or an administrator.
            _ if ends_connection(error) => self
                .place
                .unavailable(format!("the server is going down or ended the connection ({message}); try again")),
            ref state => place.other(format!("the server answers: {message} (SQLSTATE {})", state.code())),
        }
    }
}

fn kind(error: &DbError) -> FailureKind {
    match *error.code() {
        // The server may have ended the connection after the commit.
        _ if ends_connection(error) => FailureKind::Lost,
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => FailureKind::Conflict,
        // A pooler may have switched to a server connection that has prepared nothing.
        SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::FEATURE_NOT_SUPPORTED => FailureKind::Outdated,
        ref state if is_missing(state) => FailureKind::Outdated,
        _ => FailureKind::Refused,
    }
}

fn ends_connection(error: &DbError) -> bool {
    !matches!(error.parsed_severity(), Some(Severity::Error))
}

fn is_missing(state: &SqlState) -> bool {
    use SqlState as S;
    matches!(*state, S::UNDEFINED_TABLE | S::UNDEFINED_FUNCTION | S::UNDEFINED_COLUMN | S::INVALID_SCHEMA_NAME)
}

/// The error with its causes.
fn reasons(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
