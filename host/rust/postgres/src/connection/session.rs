//! One connection.

use std::collections::HashMap;
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::errors::Failure;
use crate::options::PostgresOptions;
use crate::sql::{Statement, ensure, quoted};

/// A connection. The thread that waits for an answer reads the socket itself: a hand-over between threads would take as
/// long as the server does.
pub(crate) struct Connection {
    runtime: BackgroundRuntime,
    session: Session,
}

/// Makes connections.
pub(super) struct Connector {
    server: Config,
    tls: MakeRustlsConnect,
}

impl Connector {
    /// A connector, or the TLS option that cannot be used.
    pub fn new(options: &PostgresOptions) -> Result<Connector, String> {
        let mut server = options.server.clone();
        // The server ends a statement that this side has given up. Options of the user come later, and so win.
        let limit = (options.timeout * 4 / 5).as_millis().max(1);
        let given = options.server.get_options().unwrap_or_default();
        server.options(format!(
            "-c statement_timeout={limit} -c idle_in_transaction_session_timeout={limit} \
             -c default_transaction_isolation=read\\ committed {given}"
        ));
        Ok(Connector { server, tls: options.tls.connector()? })
    }

    pub fn connect(&self, options: &PostgresOptions, until: Instant) -> Result<Connection, Failure> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(|error| {
            let why = format!("this machine has no resources left for a connection ({error})");
            Failure::unreachable(options.place.unavailable(why))
        })?;
        let runtime = BackgroundRuntime(Some(runtime));
        let until = until.min(Instant::now() + options.connect_timeout);
        let connected = runtime.block_on(until, self.server.connect(self.tls.clone())).ok_or_else(|| {
            let waited = options.connect_timeout.as_millis();
            let why = format!("no connection was made within {waited} ms; check the server and the network");
            Failure::unreachable(options.place.unavailable(why))
        })?;
        let (client, driver) = connected.map_err(|error| options.connect_failure(&error))?;
        if let Some(runtime) = &runtime.0 {
            // An operation that waits for an answer sees how the driver ends.
            runtime.spawn(async { drop(driver.await) });
        }
        Ok(Connection { runtime, session: Session { client, prepared: HashMap::new() } })
    }
}

impl Connection {
    /// The result of `work`; none where the time ran out. The connection is then unusable.
    pub fn run<T>(
        &mut self,
        until: Instant,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, Error>,
    ) -> Option<Result<T, Error>> {
        self.runtime.block_on(until, work(&mut self.session))
    }

    /// Whether the connection is known to be lost.
    pub fn is_closed(&self) -> bool {
        self.session.client.is_closed()
    }
}

/// A runtime that ends without waiting: a name lookup may hang in it, and it may be dropped inside another runtime.
/// None only while it is dropped.
struct BackgroundRuntime(Option<Runtime>);

impl BackgroundRuntime {
    fn block_on<T>(&self, until: Instant, work: impl Future<Output = T>) -> Option<T> {
        let work = async { tokio::time::timeout_at(until.into(), work).await };
        self.0.as_ref()?.block_on(work).ok()
    }
}

impl Drop for BackgroundRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The client of a connection, with the statements that it has prepared.
pub(crate) struct Session {
    client: Client,
    prepared: HashMap<Statement, tokio_postgres::Statement>,
}

impl Session {
    /// Runs a statement. Returns when the server is ready for the next one, so that the transaction is committed.
    pub async fn query(
        &mut self,
        statement: Statement,
        schema: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        if let Some(prepared) = self.prepared.get(&statement) {
            return self.client.query(prepared, parameters).await;
        }
        let (sql, types) = statement.definition();
        let prepared = self.client.prepare_typed(&sql.replace("{schema}", &quoted(schema)), types).await?;
        self.prepared.insert(statement, prepared.clone());
        self.client.query(&prepared, parameters).await
    }

    /// Makes the schema where it is missing, and returns its version.
    pub async fn ensure_schema(&self, schema: &str) -> Result<u64, Error> {
        ensure(&self.client, schema).await
    }
}
