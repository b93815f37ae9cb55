//! Parameters and rows. Unsigned numbers are kept bit for bit in signed ones.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::{SystemTime, UNIX_EPOCH};

use halfopen_contract::store::{CommitOutcome, Observed, Snapshot, Write};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql};

/// A part of a row, or what is wrong with the row.
type Read<T> = Result<T, String>;

/// A number of rows; the highest of PostgreSQL where it is higher.
pub(crate) fn bigint(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn column<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Read<T> {
    row.try_get(index).map_err(|error| error.to_string())
}

fn text_at(row: &Row, index: usize) -> Read<String> {
    String::from_utf8(column(row, index)?).map_err(|error| error.to_string())
}

/// From the columns version, data and clock; a clock before 1970 reads 0.
pub(crate) fn snapshot(row: &Row) -> Read<Snapshot> {
    let clock: SystemTime = column(row, 2)?;
    let at = clock.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    Ok(Snapshot { version: column::<i64>(row, 0)? as u64, data: column(row, 1)?, at: Some(at) })
}

/// From the first column.
pub(crate) fn text(row: &Row) -> Read<String> {
    text_at(row, 0)
}

pub(crate) fn position(row: &Row) -> Read<u64> {
    Ok(column::<i64>(row, 0)? as u64)
}

/// A transition and its position.
pub(crate) fn observed(row: &Row) -> Read<(u64, Observed)> {
    let observed = Observed { transition: text_at(row, 0)?, dependency: text_at(row, 1)? };
    Ok((column::<i64>(row, 2)? as u64, observed))
}

/// The outcome of a write; none where the database cannot know it any more.
pub(crate) fn outcome(row: &Row) -> Read<Option<CommitOutcome>> {
    match column::<i16>(row, 3)? {
        0 => Ok(Some(CommitOutcome::Committed)),
        1 => Ok(Some(CommitOutcome::Stale(snapshot(row)?))),
        _ => Ok(None),
    }
}

/// The writes of a commit as columns, sorted by their keys; those of one key in their order.
pub(crate) struct CommitColumns<'a> {
    /// The index of the write in each row.
    pub order: Vec<usize>,
    tokens: Vec<i64>,
    namespaces: Vec<&'a [u8]>,
    dependencies: Vec<&'a [u8]>,
    bases: Vec<i64>,
    versions: Vec<i64>,
    contents: Vec<Option<&'a [u8]>>,
    histories: Vec<i64>,
    added: Vec<i64>,
    transitions: Vec<&'a [u8]>,
}

impl<'a> CommitColumns<'a> {
    pub fn new(writes: &'a [Write<'a>]) -> Self {
        let mut order: Vec<usize> = (0..writes.len()).collect();
        order.sort_by_key(|index| (writes[*index].key.namespace, writes[*index].key.dependency));
        let sorted = || order.iter().map(|index| &writes[*index]);
        let first = random_token();
        CommitColumns {
            tokens: (0..writes.len() as u64).map(|number| first.wrapping_add(number) as i64).collect(),
            namespaces: sorted().map(|write| write.key.namespace.as_bytes()).collect(),
            dependencies: sorted().map(|write| write.key.dependency.as_bytes()).collect(),
            bases: sorted().map(|write| write.based_on as i64).collect(),
            versions: sorted().map(|write| write.version as i64).collect(),
            contents: sorted().map(|write| write.data).collect(),
            histories: sorted().map(|write| bigint(write.history)).collect(),
            added: sorted().map(|write| bigint(write.transitions.len())).collect(),
            transitions: sorted().flat_map(|write| write.transitions).map(String::as_bytes).collect(),
            order,
        }
    }

    /// The parameters of [`Statement::Write`](super::Statement::Write).
    pub fn parameters<'p>(&'p self, retried: &'p bool) -> [&'p (dyn ToSql + Sync); 10] {
        [
            &self.tokens,
            &self.namespaces,
            &self.dependencies,
            &self.bases,
            &self.versions,
            &self.contents,
            &self.histories,
            &self.added,
            &self.transitions,
            retried,
        ]
    }
}

/// A number that no other write has. The operating system gave this process the keys at random; a seeded generator
/// could repeat itself on two copies of a machine.
fn random_token() -> u64 {
    RandomState::new().hash_one((SystemTime::now(), std::process::id()))
}
