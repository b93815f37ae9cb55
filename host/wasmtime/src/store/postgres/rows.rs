//! What goes to the server and what comes back. Unsigned numbers are kept bit for bit in signed ones.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::super::{CommitOutcome, Observed, Snapshot, Write};
use crate::wire::{Transition, TransitionReason};

/// What came of reading a row: the driver's error, or what is wrong with what it holds.
pub(super) type Read<T> = Result<T, String>;

pub(super) fn bytes(text: &str) -> &[u8] {
    text.as_bytes()
}

/// As many as a number of PostgreSQL can say.
pub(super) fn many(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn column<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, index: usize) -> Read<T> {
    row.try_get(index).map_err(|error: Error| error.to_string())
}

fn text(bytes: &[u8]) -> Read<String> {
    String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
}

/// In ms since the Unix epoch; a server that believes to be before has its clock at 0.
fn instant(row: &Row, index: usize) -> Read<Option<u64>> {
    let instant: SystemTime = column(row, index)?;
    Ok(Some(instant.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)))
}

pub(super) fn snapshot(row: &Row) -> Read<Snapshot> {
    Ok(Snapshot { version: column::<i64>(row, 0)? as u64, data: column(row, 1)?, at: instant(row, 2)? })
}

pub(super) fn dependency(row: &Row, index: usize) -> Read<String> {
    text(column(row, index)?)
}

/// From the first five columns.
pub(super) fn transition(row: &Row) -> Read<Transition> {
    let state = |index| column::<&str>(row, index)?.parse().map_err(|error| format!("{error}"));
    Ok(Transition {
        from: state(0)?,
        to: state(1)?,
        at: column::<i64>(row, 2)? as u64,
        epoch: column::<i64>(row, 3)? as u64,
        reason: TransitionReason::from(text(column(row, 4)?)?),
    })
}

/// A transition, and its position.
pub(super) fn observed(row: &Row) -> Read<(u64, Observed)> {
    let observed = Observed { dependency: dependency(row, 6)?, transition: transition(row)? };
    Ok((column::<i64>(row, 5)? as u64, observed))
}

/// What became of a write. That it cannot be told any more is none.
pub(super) fn outcome(row: &Row) -> Read<Option<CommitOutcome>> {
    match column::<i16>(row, 0)? {
        0 => Ok(Some(CommitOutcome::Committed)),
        1 => Ok(Some(CommitOutcome::Stale(Snapshot {
            version: column::<i64>(row, 1)? as u64,
            data: column(row, 2)?,
            at: instant(row, 3)?,
        }))),
        _ => Ok(None),
    }
}

/// The writes of a commit as columns, sorted by their keys; those of one key in their order.
pub(super) struct Columns<'a> {
    /// Which write is in which row.
    pub order: Vec<usize>,
    tokens: Vec<i64>,
    namespaces: Vec<&'a [u8]>,
    dependencies: Vec<&'a [u8]>,
    bases: Vec<i64>,
    versions: Vec<i64>,
    contents: Vec<Option<&'a [u8]>>,
    histories: Vec<i64>,
    added: Vec<i64>,
    from_states: Vec<&'a str>,
    to_states: Vec<&'a str>,
    instants: Vec<i64>,
    epochs: Vec<i64>,
    reasons: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    pub fn new(writes: &'a [Write<'a>]) -> Self {
        let mut order: Vec<usize> = (0..writes.len()).collect();
        order.sort_by_key(|index| (bytes(writes[*index].key.namespace), bytes(writes[*index].key.dependency)));
        let sorted = || order.iter().map(|index| &writes[*index]);
        let first = token();
        let tokens = (0..writes.len() as u64).map(|number| first.wrapping_add(number) as i64).collect();
        // A removal takes the history with it.
        let added = |write: &'a Write<'a>| if write.data.is_some() { write.transitions } else { &[] };
        let transitions: Vec<&Transition> = sorted().flat_map(added).collect();
        let of = |column: fn(&Transition) -> i64| transitions.iter().map(|transition| column(transition)).collect();
        Columns {
            tokens,
            namespaces: sorted().map(|write| bytes(write.key.namespace)).collect(),
            dependencies: sorted().map(|write| bytes(write.key.dependency)).collect(),
            bases: sorted().map(|write| write.based_on as i64).collect(),
            versions: sorted().map(|write| write.version as i64).collect(),
            contents: sorted().map(|write| write.data).collect(),
            histories: sorted().map(|write| many(write.history)).collect(),
            added: sorted().map(|write| many(added(write).len())).collect(),
            from_states: transitions.iter().map(|transition| transition.from.as_str()).collect(),
            to_states: transitions.iter().map(|transition| transition.to.as_str()).collect(),
            instants: of(|transition| transition.at as i64),
            epochs: of(|transition| transition.epoch as i64),
            reasons: transitions.iter().map(|transition| bytes(transition.reason.as_str())).collect(),
            order,
        }
    }

    /// Those of [`Statement::Replace`](super::statements::Statement::Replace), if that is all there is to do.
    pub fn replacement(&self) -> Option<[&(dyn ToSql + Sync); 6]> {
        let ([content @ Some(_)], []) = (self.contents.as_slice(), self.reasons.as_slice()) else { return None };
        let key = (&self.namespaces[0], &self.dependencies[0]);
        Some([key.0, key.1, &self.bases[0], &self.versions[0], content, &self.tokens[0]])
    }

    pub fn parameters<'p>(&'p self, again: &'p bool) -> [&'p (dyn ToSql + Sync); 14] {
        [
            &self.tokens,
            &self.namespaces,
            &self.dependencies,
            &self.bases,
            &self.versions,
            &self.contents,
            &self.histories,
            &self.added,
            &self.from_states,
            &self.to_states,
            &self.instants,
            &self.epochs,
            &self.reasons,
            again,
        ]
    }
}

/// A number that no other write has: under keys that the operating system gave this process at random, as a seeded
/// generator might give two machines that were copied the same.
fn token() -> u64 {
    RandomState::new().hash_one((SystemTime::now(), std::process::id()))
}
