//! One connection.

use std::time::{Duration, Instant, SystemTime};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::statements::{Statement, Texts};

/// A connection that lay idle for longer is replaced: on the way there may be one who has forgotten it, and says nothing.
const IDLE: Duration = Duration::from_secs(300);

/// A connection, and what drives it: the thread that waits for an answer reads it from the socket itself, as handing it
/// from thread to thread would take as long as the server does.
pub(super) struct Link {
    /// None only while it is dropped.
    runtime: Option<Runtime>,
    client: Client,
    known: [Known; Statement::ALL.len()],
    used: (Instant, SystemTime),
}

/// What a connection knows of a statement. Preparing takes a round trip of its own, so only what is used again is.
#[derive(Clone)]
enum Known {
    New,
    Used,
    Prepared(tokio_postgres::Statement),
}

/// Why no connection was made.
pub(super) enum NotMade {
    /// It took too long.
    TimedOut,
    /// There is no thread, no socket or no memory for it.
    Local(std::io::Error),
    /// The server, or the way to it.
    Failed(Error),
}

impl Link {
    /// Makes a connection.
    pub fn make(server: &Config, tls: MakeRustlsConnect, until: Instant) -> Result<Link, NotMade> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(NotMade::Local)?;
        let connecting = async { tokio::time::timeout_at(until.into(), server.connect(tls)).await };
        let connected = runtime.block_on(connecting);
        let runtime = Background(Some(runtime));
        let (client, connection) = match connected {
            Ok(connected) => connected.map_err(NotMade::Failed)?,
            Err(_) => return Err(NotMade::TimedOut),
        };
        let runtime = runtime.keep();
        if let Some(runtime) = &runtime {
            // How it ends is seen by whoever waits for an answer.
            runtime.spawn(async { drop(connection.await) });
        }
        Ok(Link { runtime, client, known: [const { Known::New }; Statement::ALL.len()], used: now() })
    }

    /// Runs something on it until a moment; none where that came first, and then it must not be used again.
    pub fn run<T>(
        &mut self,
        until: Instant,
        work: impl AsyncFnOnce(&mut Conversation<'_>) -> Result<T, Error>,
    ) -> Option<Result<T, Error>> {
        let mut conversation = Conversation { client: &mut self.client, known: &mut self.known };
        let working = async { tokio::time::timeout_at(until.into(), work(&mut conversation)).await };
        let result = self.runtime.as_ref()?.block_on(working).ok();
        self.used = now();
        result
    }

    /// Whether it has been idle for so long that it is not to be trusted, by whichever clock says more: the machine may
    /// have been stopped.
    pub fn is_old(&self) -> bool {
        let (monotonic, wall) = self.used;
        monotonic.elapsed() > IDLE || wall.elapsed().is_ok_and(|elapsed| elapsed > IDLE)
    }

    /// Whether nothing more can be asked on it.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

fn now() -> (Instant, SystemTime) {
    (Instant::now(), SystemTime::now())
}

impl Drop for Link {
    fn drop(&mut self) {
        drop(Background(self.runtime.take()));
    }
}

/// Ends a runtime without waiting: a look-up of a name may hang in it, and the caller may be in a runtime of its own.
struct Background(Option<Runtime>);

impl Background {
    fn keep(mut self) -> Option<Runtime> {
        self.0.take()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// What can be said on a connection.
pub(super) struct Conversation<'a> {
    pub client: &'a mut Client,
    known: &'a mut [Known; Statement::ALL.len()],
}

impl Conversation<'_> {
    /// Asks. Returns when the server has said that it is ready for the next, so that what was asked for is committed.
    pub async fn ask(
        &mut self,
        texts: &Texts,
        statement: Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let (text, known) = (texts.of(statement), &mut self.known[statement as usize]);
        match known {
            Known::Prepared(prepared) => return self.client.query(prepared, parameters).await,
            Known::Used => {
                let prepared = self.client.prepare_typed(text, statement.types()).await?;
                let rows = self.client.query(&prepared, parameters).await;
                *known = Known::Prepared(prepared);
                rows
            }
            Known::New => {
                let typed: Vec<_> = parameters.iter().copied().zip(statement.types().iter().cloned()).collect();
                let rows = self.client.query_typed(text, &typed).await;
                *known = Known::Used;
                rows
            }
        }
    }

    /// Forgets what was prepared: the server has forgotten it, or prepared it for tables that have gone since.
    pub fn forget(&mut self) {
        *self.known = [const { Known::New }; Statement::ALL.len()];
    }
}
