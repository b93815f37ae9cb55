//! PostgreSQL: for callers on many machines that share a database.
//!
//! A load is one round trip (two where there is no record), and so is a commit, of however many writes: a function in the
//! database judges them one after the other and adds the transitions, in one transaction. A single write without transitions
//! goes by a statement of its own, at the price of a bare `UPDATE`; where another was faster, it takes a second one. No lock
//! is held while the component runs. The time is the database's ([`Snapshot::at`]), so the clocks of the callers' machines do
//! not matter.
//!
//! # Rights
//!
//! The first to open the store makes the schema, for which its user needs the right `CREATE` on the database. Later on,
//! and for everybody else, these suffice; then nothing is created:
//!
//! ```sql
//! GRANT USAGE ON SCHEMA halfopen TO app;
//! GRANT SELECT ON halfopen.migration TO app;
//! GRANT SELECT, INSERT, UPDATE, DELETE ON halfopen.record, halfopen.namespace, halfopen.transition TO app;
//! ```
//!
//! # TLS
//!
//! As `sslmode` in the address says:
//!
//! | `sslmode` | encrypted | who answers |
//! | --- | --- | --- |
//! | `disable` | no | anybody |
//! | `prefer` (default) | if the server can; a handshake that fails is an error | anybody |
//! | `require` | yes | anybody; with `sslrootcert` as `verify-ca` |
//! | `verify-ca` | yes | whoever has a certificate of a trusted authority |
//! | `verify-full` | yes | the host that the address names |
//!
//! Trusted are the authorities in the PEM file `sslrootcert`; without it those of the operating system. A certificate of
//! one's own is given with `sslcert` and `sslkey`, PEM files.
//!
//! # When something fails
//!
//! Every operation ends in time ([`PostgresOptions::timeout`]), and a connection that was lost is replaced. While the server
//! cannot be reached each operation finds that out for itself; that few of them do so is up to the host
//! ([`OnStoreError`](crate::OnStoreError)).
//! Where the answer to a commit was lost, the same commit is asked for again on another connection: each write leaves a
//! token in its record, by which it is recognised if it was done, and which shows if it was not. Only where that cannot be
//! told in twice the time is it [`StoreError::InDoubt`].
//!
//! A commit is durable as the server's `synchronous_commit` says, and where that is `off` as if it were `on`. After a
//! failover to a standby that had not received all, what it had not received is lost: use synchronous replication.
//!
//! # The order of transitions
//!
//! Whoever adds transitions takes their positions from a counter in the row of the namespace, which stays locked until the
//! commit. So positions become visible in their order, and no reader passes one by. Commits that add none, as most do, do
//! not touch the counter.
//!
//! # Behind a pooler
//!
//! One that hands a connection to another client after each transaction must keep prepared statements (PgBouncer:
//! `max_prepared_statements`), and let the parameter `options` pass or ignore it (`ignore_startup_parameters`).

mod fault;
mod link;
mod options;
mod pool;
mod rows;
mod schema;
mod session;
mod statements;
mod tls;

use tokio_postgres::Error;
use tokio_postgres::types::ToSql;

pub use self::options::PostgresOptions;
use self::rows::{Columns, bytes, many};
use self::session::{Doubt, Effect, Session};
use self::statements::Statement;
use super::{CommitOutcome, Cursor, Key, Page, Snapshot, Store, StoreError, Write};
use crate::error::OpenError;
use crate::wire::Transition;

/// A store in a PostgreSQL database. See [the module](self).
pub struct PostgresStore {
    session: Session,
}

impl PostgresStore {
    /// Opens the store at an address: see [`PostgresOptions::from_address`].
    ///
    /// # Errors
    /// [`OpenError`]: the address, or as [`open_with`](PostgresStore::open_with).
    pub fn open(address: &str) -> Result<Self, OpenError> {
        Ok(Self::open_with(PostgresOptions::from_address(address)?)?)
    }

    /// Opens the store, and makes its schema where it is missing. That the server cannot be reached at this moment is no
    /// error: the operations tell, until it can.
    ///
    /// # Errors
    /// [`StoreError`]: what waiting does not mend. A user that is not let in, a database that is not there, a server that
    /// allows no writes, a right that is missing, a schema of a later release, certificates that cannot be used.
    pub fn open_with(options: PostgresOptions) -> Result<Self, StoreError> {
        options::schema(&options.schema).map_err(|why| options.other(why))?;
        let store = PostgresStore { session: Session::new(options)? };
        match store.session.check() {
            Err(StoreError::Unavailable { place, why }) => {
                tracing::warn!(store = place, why, "the store is opened, and cannot be reached at the moment");
                Ok(store)
            }
            other => other.map(|()| store),
        }
    }

    fn read<T>(
        &self,
        statement: Statement,
        parameters: &[&(dyn ToSql + Sync)],
        row: impl Fn(&tokio_postgres::Row) -> rows::Read<T>,
    ) -> Result<Vec<T>, StoreError> {
        let session = &self.session;
        let rows = session.run(Effect::Repeatable, async |conversation, _| {
            conversation.ask(&session.texts, statement, parameters).await
        })?;
        rows.iter().map(row).collect::<Result<_, _>>().map_err(|why| session.options.corrupt(why))
    }

    fn position(&self, namespace: &str) -> Result<u64, StoreError> {
        let found = self.read(Statement::Position, &[&bytes(namespace)], |row| {
            row.try_get::<_, i64>(0).map_err(|error: Error| error.to_string())
        })?;
        Ok(found.first().map_or(0, |position| *position as u64))
    }
}

impl Store for PostgresStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        let session = &self.session;
        let (namespace, dependency) = (bytes(key.namespace), bytes(key.dependency));
        let key: [&(dyn ToSql + Sync); 2] = [&namespace, &dependency];
        let rows = session.run(Effect::Repeatable, async |conversation, _| {
            let found = conversation.ask(&session.texts, Statement::Find, &key).await?;
            if !found.is_empty() {
                return Ok(found);
            }
            conversation.ask(&session.texts, Statement::Load, &key).await
        })?;
        let row = rows.first().ok_or_else(|| session.options.other("it answered a load with nothing"))?;
        rows::snapshot(row).map_err(|why| session.options.corrupt(why))
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let session = &self.session;
        let columns = Columns::new(writes);
        let rows = session.run(Effect::Commit, async |conversation, doubt| {
            let again = doubt == Doubt::AskedBefore;
            if let Some(replacement) = columns.replacement().filter(|_| !again) {
                let answer = conversation.ask(&session.texts, Statement::Replace, &replacement).await?;
                if !answer.is_empty() {
                    return Ok(answer);
                }
            }
            conversation.ask(&session.texts, Statement::Write, &columns.parameters(&again)).await
        })?;
        let mut outcomes = vec![None; writes.len()];
        for (row, place) in rows.iter().zip(&columns.order) {
            outcomes[*place] = rows::outcome(row).map_err(|why| session.options.corrupt(why))?;
        }
        // One that cannot be told leaves the whole in doubt.
        outcomes.into_iter().collect::<Option<_>>().ok_or_else(|| StoreError::InDoubt {
            place: session.options.place.clone(),
            why: "the answer was lost, and others have written too often since to tell".to_owned(),
        })
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.read(Statement::List, &[&bytes(namespace)], |row| rows::dependency(row, 0))
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
        let (namespace, dependency) = (bytes(key.namespace), bytes(key.dependency));
        let mut newest_first =
            self.read(Statement::History, &[&namespace, &dependency, &many(limit)], rows::transition)?;
        newest_first.reverse();
        Ok(newest_first)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        let after = match after {
            Cursor::Start => 0,
            Cursor::After(position) => position,
            Cursor::End => {
                let next = Cursor::After(self.position(namespace)?);
                return Ok(Page { transitions: Vec::new(), next });
            }
        };
        let position = i64::try_from(after).unwrap_or(i64::MAX);
        let found = self.read(Statement::Transitions, &[&bytes(namespace), &position, &many(limit)], rows::observed)?;
        let next = Cursor::After(found.last().map_or(after, |(position, _)| *position));
        Ok(Page { transitions: found.into_iter().map(|(_, observed)| observed).collect(), next })
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        let session = &self.session;
        session.run(Effect::Repeatable, async |conversation, _| {
            conversation.ask(&session.texts, Statement::RemoveNamespace, &[&bytes(namespace)]).await.map(drop)
        })
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        let session = &self.session;
        session.run(Effect::Repeatable, async |conversation, _| {
            conversation.ask(&session.texts, Statement::Compact, &[&bytes(namespace)]).await.map(drop)
        })
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").field("options", &self.session.options).finish_non_exhaustive()
    }
}
