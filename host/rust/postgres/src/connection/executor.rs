//! Runs an operation on a connection of the pool, with retries, until its time is up.

use std::time::Instant;

use halfopen_contract::pool::{Pool, Slot};
use halfopen_contract::store::StoreError;
use halfopen_contract::time::Backoff;
use tokio_postgres::Error;

use super::session::{Connection, Connector, Session};
use crate::errors::{Failure, FailureKind};
use crate::options::PostgresOptions;
use crate::sql;

/// An outdated statement or schema is retried at most this many times.
const MAX_OUTDATED: u32 = 3;

pub(crate) struct Executor {
    pub options: PostgresOptions,
    connector: Connector,
    pool: Pool<Connection>,
}

/// The effect of an operation on the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// None, or one that a repetition does not change.
    Repeatable,
    /// A commit. Retried after a lost answer, it finds out whether the earlier attempt was done.
    Commit,
}

impl Executor {
    pub fn new(options: PostgresOptions) -> Result<Executor, StoreError> {
        let connector = Connector::new(&options).map_err(|why| options.place.other(why))?;
        let pool = Pool::new(options.connections).limited();
        Ok(Executor { options, connector, pool })
    }

    /// Runs `work`, on another connection where one was lost. `work` receives whether an earlier attempt of a commit
    /// was left without an answer.
    pub fn run<T: Send>(
        &self,
        effect: Effect,
        work: impl AsyncFnMut(&mut Session, bool) -> Result<T, Error> + Send,
    ) -> Result<T, StoreError> {
        outside_runtimes(|| self.run_here(effect, work))
    }

    fn run_here<T>(
        &self,
        effect: Effect,
        mut work: impl AsyncFnMut(&mut Session, bool) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let mut until = Instant::now() + self.options.timeout;
        let (mut in_doubt, mut outdated) = (false, 0);
        let mut backoff = Backoff::begin();
        loop {
            let Failure { error, kind } = match self.attempt(until, in_doubt, &mut work) {
                Ok(result) => return Ok(result),
                Err(failure) => failure,
            };
            if kind == FailureKind::Lost && effect == Effect::Commit && !in_doubt {
                in_doubt = true;
                until += self.options.timeout;
            }
            let retries = match kind {
                FailureKind::Lost | FailureKind::Conflict | FailureKind::Dropped => true,
                FailureKind::Outdated if outdated < MAX_OUTDATED => true,
                // That this attempt was not done says nothing about the earlier one.
                FailureKind::Outdated | FailureKind::Refused | FailureKind::Unreachable => in_doubt,
            };
            outdated += u32::from(kind == FailureKind::Outdated);
            let pause = backoff.wait();
            if !retries || Instant::now() + pause >= until {
                return Err(if in_doubt {
                    self.options.place.in_doubt(format!("the answer was lost, and the retries failed: {error}"))
                } else {
                    error
                });
            }
            std::thread::sleep(pause);
            backoff.again();
        }
    }

    fn attempt<T>(
        &self,
        until: Instant,
        in_doubt: bool,
        work: &mut impl AsyncFnMut(&mut Session, bool) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let (slot, mut connection) = self.connection(until)?;
        match connection.run(until, async |session| work(session, in_doubt).await) {
            Some(Ok(result)) => {
                slot.put_back(connection);
                Ok(result)
            }
            Some(Err(error)) => {
                let failure = self.options.failure(&error);
                if matches!(failure.kind, FailureKind::Lost | FailureKind::Outdated) {
                    // The other connections are most likely lost, or as outdated, too.
                    drop(self.pool.take_idle());
                } else {
                    slot.put_back(connection);
                }
                Err(failure)
            }
            None => Err(Failure { error: self.options.timed_out(), kind: FailureKind::Lost }),
        }
    }

    /// A connection, and its place in the pool: an idle one, or a new one, for which the schema is made where it is
    /// missing. Waits while all are in use.
    fn connection(&self, until: Instant) -> Result<(Slot<'_, Connection>, Connection), Failure> {
        let options = &self.options;
        let mut slot = self.pool.acquire_until(until).ok_or_else(|| {
            Failure::unreachable(options.place.unavailable(format!(
                "all {} connections were busy for longer than {} ms; allow more with `connections`",
                options.connections,
                options.timeout.as_millis()
            )))
        })?;
        match slot.take() {
            Some(connection) if !connection.is_closed() => return Ok((slot, connection)),
            // The other idle ones are most likely lost, too.
            Some(_) => drop(self.pool.take_idle()),
            None => {}
        }
        let mut connection = self.connector.connect(options, until)?;
        match connection.run(until, async |session| session.ensure_schema(&options.schema).await) {
            Some(Ok(found)) if found > sql::VERSION => {
                Err(Failure { error: options.place.newer(found, sql::VERSION), kind: FailureKind::Refused })
            }
            Some(Ok(_)) => Ok((slot, connection)),
            Some(Err(error)) => {
                let failure = options.failure(&error);
                // The operation itself has not begun, so nothing is in doubt.
                let lost = failure.kind == FailureKind::Lost;
                Err(if lost { Failure { kind: FailureKind::Dropped, ..failure } } else { failure })
            }
            None => Err(Failure::unreachable(options.timed_out())),
        }
    }
}

/// Runs `work` on another thread where this one is inside a runtime, which forbids to block.
fn outside_runtimes<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if tokio::runtime::Handle::try_current().is_err() {
        return work();
    }
    std::thread::scope(|scope| match scope.spawn(work).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
