//! The options of the store, and the address that gives them.

mod address;
mod tls;

use std::time::Duration;

use halfopen_contract::store::Place;
use tokio_postgres::Config;

use tls::Tls;

/// The options of a [`PostgresStore`](crate::PostgresStore).
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// The schema that holds the tables, at most 63 bytes; made where it is missing. Default `halfopen`.
    pub schema: String,
    /// The time for making a connection, TLS and login included. Default 3 s.
    pub connect_timeout: Duration,
    /// The time for an operation, connections and retries included. The server ends a statement after four fifths of
    /// it. Only a commit whose acknowledgement was lost may take up to twice as long. Default 5 s.
    pub timeout: Duration,
    /// The number of connections, at most; each is made when it is needed. Default 4.
    pub connections: usize,
    pub(crate) server: Config,
    pub(crate) tls: Tls,
    /// The name of the store in messages: the address without the password.
    pub(crate) place: Place,
}

impl PostgresOptions {
    /// The mistake in the name of the schema; none where it is a name that PostgreSQL takes.
    pub(crate) fn schema_fault(&self) -> Option<&'static str> {
        let name = &self.schema;
        let is_bad = name.is_empty() || name.len() > 63 || name.contains(['\0', '$']) || name.starts_with("pg_");
        is_bad.then_some("`schema` is a name of 1 to 63 bytes without `$` that does not begin with pg_")
    }
}
