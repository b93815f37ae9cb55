//! The statements. Unsigned numbers are kept bit for bit in SQLite's signed ones; none of them is ever compared but for
//! equality.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::{CommitOutcome, Cursor, Key, Observed, Page, Snapshot, Write};
use crate::wire::{State, Transition, TransitionReason};

pub(super) fn load(connection: &Connection, key: Key<'_>) -> rusqlite::Result<Snapshot> {
    let found = connection
        .prepare_cached("SELECT version, data FROM record WHERE namespace = ?1 AND dependency = ?2")?
        .query_row(params![key.namespace, key.dependency], |row| {
            Ok(Snapshot { version: row.get::<_, i64>(0)? as u64, data: row.get(1)?, at: None })
        })
        .optional()?;
    match found {
        Some(snapshot) => Ok(snapshot),
        None => Ok(Snapshot { version: floor(connection, key.namespace)?, data: None, at: None }),
    }
}

/// The version of whatever has no row in a namespace.
fn floor(connection: &Connection, namespace: &str) -> rusqlite::Result<u64> {
    let version = connection
        .prepare_cached("SELECT version FROM removed WHERE namespace = ?1")?
        .query_row([namespace], |row| row.get::<_, i64>(0))
        .optional()?;
    Ok(version.map_or(0, |version| version as u64))
}

/// Inside a write transaction.
pub(super) fn write(connection: &Connection, write: &Write<'_>) -> rusqlite::Result<CommitOutcome> {
    let Key { namespace, dependency } = write.key;
    let added = if write.data.is_some() { write.transitions } else { &[] };
    let updated = connection
        .prepare_cached(
            "UPDATE record SET version = ?4, counted = counted + ?5, data = ?6
             WHERE namespace = ?1 AND dependency = ?2 AND version = ?3 RETURNING counted",
        )?
        .query_row(
            params![namespace, dependency, write.based_on as i64, write.version as i64, added.len() as i64, write.data],
            |row| row.get::<_, i64>(0),
        )
        .optional()?;
    let counted = match updated {
        Some(counted) => counted,
        None => {
            let present = load(connection, write.key)?;
            if present.version != write.based_on || !insert(connection, write, added.len())? {
                return Ok(CommitOutcome::Stale(present));
            }
            added.len() as i64
        }
    };
    if write.data.is_none() {
        connection
            .prepare_cached("DELETE FROM transition WHERE namespace = ?1 AND dependency = ?2")?
            .execute([namespace, dependency])?;
    } else if !added.is_empty() {
        let first = counted - added.len() as i64 + 1;
        let history = i64::try_from(write.history).unwrap_or(i64::MAX);
        append(connection, write.key, added, first)?;
        connection
            .prepare_cached("DELETE FROM transition WHERE namespace = ?1 AND dependency = ?2 AND number <= ?3")?
            .execute(params![namespace, dependency, counted.saturating_sub(history)])?;
    }
    Ok(CommitOutcome::Committed)
}

/// Whether there was no row yet.
fn insert(connection: &Connection, write: &Write<'_>, added: usize) -> rusqlite::Result<bool> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO record (namespace, dependency, version, counted, data) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![write.key.namespace, write.key.dependency, write.version as i64, added as i64, write.data])?;
    Ok(inserted > 0)
}

fn append(connection: &Connection, key: Key<'_>, added: &[Transition], first: i64) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO transition (namespace, dependency, number, from_state, to_state, at, epoch, reason)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for (number, transition) in (first..).zip(added) {
        statement.execute(params![
            key.namespace,
            key.dependency,
            number,
            transition.from.as_str(),
            transition.to.as_str(),
            transition.at as i64,
            transition.epoch as i64,
            transition.reason.as_str()
        ])?;
    }
    Ok(())
}

pub(super) fn list(connection: &Connection, namespace: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT dependency FROM record WHERE namespace = ?1 AND data IS NOT NULL ORDER BY dependency")?
        .query_map([namespace], |row| row.get(0))?
        .collect()
}

pub(super) fn history(connection: &Connection, key: Key<'_>, limit: usize) -> rusqlite::Result<Vec<Transition>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut newest_first = connection
        .prepare_cached(
            "SELECT from_state, to_state, at, epoch, reason FROM transition
             WHERE namespace = ?1 AND dependency = ?2 ORDER BY number DESC LIMIT ?3",
        )?
        .query_map(params![key.namespace, key.dependency, limit], |row| transition(row, 0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    newest_first.reverse();
    Ok(newest_first)
}

pub(super) fn transitions(
    connection: &Connection,
    namespace: &str,
    after: Cursor,
    limit: usize,
) -> rusqlite::Result<Page> {
    // Looked at first: what comes in between is for the next page.
    let newest: i64 =
        connection.prepare_cached("SELECT coalesce(max(id), 0) FROM transition")?.query_row([], |row| row.get(0))?;
    let after = match after {
        Cursor::Start => 0,
        Cursor::After(id) => id as i64,
        Cursor::End => newest,
    };
    let mut page = Page { transitions: Vec::new(), next: Cursor::After(after.max(newest) as u64) };
    if after >= newest {
        return Ok(page);
    }
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(
        "SELECT id, dependency, from_state, to_state, at, epoch, reason FROM transition
         WHERE id > ?1 AND id <= ?2 AND +namespace = ?3 ORDER BY id LIMIT ?4",
    )?;
    let mut rows = statement.query(params![after, newest, namespace, limit])?;
    let mut last = after;
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        page.transitions.push(Observed { dependency: row.get(1)?, transition: transition(row, 2)? });
    }
    if page.transitions.len() as i64 >= limit {
        page.next = Cursor::After(last as u64);
    }
    Ok(page)
}

fn transition(row: &Row<'_>, first: usize) -> rusqlite::Result<Transition> {
    let state = |column: usize| -> rusqlite::Result<State> {
        let word: String = row.get(column)?;
        word.parse().map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
        })
    };
    Ok(Transition {
        from: state(first)?,
        to: state(first + 1)?,
        at: row.get::<_, i64>(first + 2)? as u64,
        epoch: row.get::<_, i64>(first + 3)? as u64,
        reason: TransitionReason::from(row.get::<_, String>(first + 4)?),
    })
}

/// Inside a write transaction.
pub(super) fn compact(connection: &Connection, namespace: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO removed (namespace, version)
             SELECT ?1, max(version) FROM record WHERE namespace = ?1 AND data IS NULL HAVING count(*) > 0
             ON CONFLICT (namespace) DO UPDATE SET version = max(version, excluded.version)",
        )?
        .execute([namespace])?;
    connection.prepare_cached("DELETE FROM record WHERE namespace = ?1 AND data IS NULL")?.execute([namespace])?;
    Ok(())
}

/// Inside a write transaction.
pub(super) fn remove_namespace(connection: &Connection, namespace: &str) -> rusqlite::Result<()> {
    // One above the highest, so that a write based on what was there is stale.
    connection
        .prepare_cached(
            "INSERT INTO removed (namespace, version)
             SELECT ?1, max(version) + 1 FROM record WHERE namespace = ?1 HAVING count(*) > 0
             ON CONFLICT (namespace) DO UPDATE SET version = max(version, excluded.version)",
        )?
        .execute([namespace])?;
    connection.prepare_cached("DELETE FROM record WHERE namespace = ?1")?.execute([namespace])?;
    connection.prepare_cached("DELETE FROM transition WHERE namespace = ?1")?.execute([namespace])?;
    Ok(())
}
