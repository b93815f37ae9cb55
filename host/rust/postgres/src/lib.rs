#![doc = include_str!("../README.md")]

mod connection;
mod errors;
mod options;
mod sql;

use halfopen_contract::store::{CommitOutcome, Cursor, Key, OpenError, Page, Snapshot, Store, StoreError, Write};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use connection::{Effect, Executor};
pub use options::PostgresOptions;
use sql::{CommitColumns, Statement, bigint};

/// A store in a PostgreSQL database.
pub struct PostgresStore {
    executor: Executor,
}

impl PostgresStore {
    /// Opens the store at an address: see [`PostgresOptions::from_address`].
    ///
    /// # Errors
    /// [`OpenError`]: the address, or as [`open_with`](PostgresStore::open_with).
    pub fn open(address: &str) -> Result<Self, OpenError> {
        Ok(Self::open_with(PostgresOptions::from_address(address)?)?)
    }

    /// Opens the store, and makes its schema where it is missing. A server that cannot be reached at this moment is no
    /// error: the operations fail until it can.
    ///
    /// # Errors
    /// [`StoreError`]: a failure that waiting does not mend. The server refuses the user, the database does not exist
    /// or allows no writes, a right is missing, the schema is of a later release, or certificates cannot be used.
    pub fn open_with(options: PostgresOptions) -> Result<Self, StoreError> {
        if let Some(why) = options.schema_fault() {
            return Err(options.place.other(why));
        }
        let store = PostgresStore { executor: Executor::new(options)? };
        // The executor makes the schema first.
        match store.executor.run(Effect::Repeatable, async |_, _| Ok(())) {
            Err(StoreError::Unavailable { place, why }) => {
                tracing::warn!(store = place, why, "the store is open, and cannot be reached at the moment");
                Ok(store)
            }
            result => result.map(|()| store),
        }
    }

    fn query<T>(
        &self,
        statement: Statement,
        parameters: &[&(dyn ToSql + Sync)],
        read: impl Fn(&Row) -> Result<T, String>,
    ) -> Result<Vec<T>, StoreError> {
        let options = &self.executor.options;
        let rows = self
            .executor
            .run(Effect::Repeatable, async |session, _| session.query(statement, &options.schema, parameters).await)?;
        rows.iter().map(read).collect::<Result<_, _>>().map_err(|why| options.corrupt(why))
    }
}

impl Store for PostgresStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        let (namespace, dependency) = (key.namespace.as_bytes(), key.dependency.as_bytes());
        let found = self.query(Statement::Load, &[&namespace, &dependency], sql::snapshot)?.pop();
        found.ok_or_else(|| self.executor.options.place.other("it returned no row for a load"))
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let options = &self.executor.options;
        let columns = CommitColumns::new(writes);
        let rows = self.executor.run(Effect::Commit, async |session, retried| {
            session.query(Statement::Write, &options.schema, &columns.parameters(&retried)).await
        })?;
        let mut outcomes = vec![None; writes.len()];
        for (row, index) in rows.iter().zip(&columns.order) {
            outcomes[*index] = sql::outcome(row).map_err(|why| options.corrupt(why))?;
        }
        // One unknown outcome leaves the whole commit in doubt.
        let known: Option<Vec<CommitOutcome>> = outcomes.into_iter().collect();
        known.ok_or_else(|| {
            options.place.in_doubt("the answer was lost, and too many writes came since to recognise the commit")
        })
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.query(Statement::List, &[&namespace.as_bytes()], sql::text)
    }

    fn namespaces(&self) -> Result<Vec<String>, StoreError> {
        self.query(Statement::Namespaces, &[], sql::text)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        let (namespace, dependency) = (key.namespace.as_bytes(), key.dependency.as_bytes());
        let mut newest_first = self.query(Statement::History, &[&namespace, &dependency, &bigint(limit)], sql::text)?;
        newest_first.reverse();
        Ok(newest_first)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        let namespace = namespace.as_bytes();
        let after = match after {
            Cursor::Start => 0,
            Cursor::After(position) => position,
            Cursor::End => {
                let position = self.query(Statement::Position, &[&namespace], sql::position)?.pop().unwrap_or(0);
                return Ok(Page { transitions: Vec::new(), next: Cursor::After(position) });
            }
        };
        let position = i64::try_from(after).unwrap_or(i64::MAX);
        let found = self.query(Statement::Transitions, &[&namespace, &position, &bigint(limit)], sql::observed)?;
        let next = Cursor::After(found.last().map_or(after, |(position, _)| *position));
        Ok(Page { transitions: found.into_iter().map(|(_, observed)| observed).collect(), next })
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.query(Statement::RemoveNamespace, &[&namespace.as_bytes()], |_| Ok(())).map(drop)
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        self.query(Statement::Compact, &[&namespace.as_bytes()], |_| Ok(())).map(drop)
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").field("options", &self.executor.options).finish_non_exhaustive()
    }
}
