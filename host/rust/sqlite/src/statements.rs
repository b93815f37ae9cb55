//! The SQL. Unsigned numbers are kept bit for bit in SQLite's signed ones.

use halfopen_contract::store::{CommitOutcome, Cursor, FORGOTTEN, Key, Observed, Page, REMOVED, Snapshot, Write};
use rusqlite::{Connection, OptionalExtension as _, Result, params};

pub(crate) fn load(connection: &Connection, key: Key<'_>) -> Result<Snapshot> {
    connection
        .prepare_cached(
            "SELECT coalesce(version, (SELECT version FROM removed WHERE namespace = ?1), 0), data
             FROM (SELECT 1) LEFT JOIN record ON namespace = ?1 AND dependency = ?2",
        )?
        .query_row([key.namespace, key.dependency], |row| {
            Ok(Snapshot { version: row.get::<_, i64>(0)? as u64, data: row.get(1)?, at: None })
        })
}

/// Commits a write, inside a write transaction.
pub(crate) fn write(connection: &Connection, write: &Write<'_>) -> Result<CommitOutcome> {
    let Key { namespace, dependency } = write.key;
    let added = if write.data.is_some() { write.transitions.len() as i64 } else { 0 };
    let counted: Option<i64> = connection
        .prepare_cached(
            "UPDATE record SET version = ?4, data = ?5, counted = counted + ?6
             WHERE namespace = ?1 AND dependency = ?2 AND version = ?3 RETURNING counted",
        )?
        .query_row(
            params![namespace, dependency, write.based_on as i64, write.version as i64, write.data, added],
            |row| row.get(0),
        )
        .optional()?;
    if counted.is_none() {
        let present = load(connection, write.key)?;
        if present.version != write.based_on {
            return Ok(CommitOutcome::Stale(present));
        }
        // A row with this version would have been updated: there is none.
        connection.prepare_cached("INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
            namespace,
            dependency,
            write.version as i64,
            write.data,
            added
        ])?;
    }
    match write.data {
        Some(_) => append(connection, write, counted.unwrap_or(added))?,
        None => forget(connection, write)?,
    }
    Ok(CommitOutcome::Committed)
}

/// Adds the transitions of a write to the history of its record, which has got `counted` with them.
fn append(connection: &Connection, write: &Write<'_>, counted: i64) -> Result<()> {
    if write.transitions.is_empty() {
        return Ok(());
    }
    let first = counted - write.transitions.len() as i64 + 1;
    for (number, transition) in (first..).zip(write.transitions) {
        insert(connection, write.key, Some(number), transition)?;
    }
    // By number: a query for the newest would walk through all of them at each write.
    connection
        .prepare_cached("DELETE FROM transition WHERE namespace = ?1 AND dependency = ?2 AND number <= ?3")?
        .execute(params![write.key.namespace, write.key.dependency, counted.saturating_sub(bound(write.history))])?;
    Ok(())
}

/// Removes the history of a record, and adds the transitions of the removal to the stream.
fn forget(connection: &Connection, write: &Write<'_>) -> Result<()> {
    let Key { namespace, dependency } = write.key;
    connection
        .prepare_cached("DELETE FROM transition WHERE namespace = ?1 AND dependency = ?2 AND number IS NOT NULL")?
        .execute([namespace, dependency])?;
    for transition in write.transitions {
        insert(connection, write.key, None, transition)?;
    }
    connection
        .prepare_cached(
            "DELETE FROM transition WHERE namespace = ?1 AND number IS NULL AND id <=
             (SELECT id FROM transition WHERE namespace = ?1 AND number IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        )?
        .execute(params![namespace, bound(FORGOTTEN)])?;
    Ok(())
}

fn insert(connection: &Connection, key: Key<'_>, number: Option<i64>, transition: &str) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO transition (namespace, dependency, number, json) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![key.namespace, key.dependency, number, transition])?;
    Ok(())
}

fn bound(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(crate) fn list(connection: &Connection, namespace: &str) -> Result<Vec<String>> {
    connection
        .prepare_cached("SELECT dependency FROM record WHERE namespace = ?1 AND data IS NOT NULL ORDER BY dependency")?
        .query_map([namespace], |row| row.get(0))?
        .collect()
}

pub(crate) fn namespaces(connection: &Connection) -> Result<Vec<String>> {
    connection
        .prepare_cached("SELECT DISTINCT namespace FROM record WHERE data IS NOT NULL ORDER BY namespace")?
        .query_map([], |row| row.get(0))?
        .collect()
}

pub(crate) fn history(connection: &Connection, key: Key<'_>, limit: usize) -> Result<Vec<String>> {
    connection
        .prepare_cached(
            "SELECT json FROM (
                 SELECT number, json FROM transition WHERE namespace = ?1 AND dependency = ?2 AND number IS NOT NULL
                 ORDER BY number DESC LIMIT ?3
             ) ORDER BY number",
        )?
        .query_map(params![key.namespace, key.dependency, bound(limit)], |row| row.get(0))?
        .collect()
}

pub(crate) fn transitions(connection: &Connection, namespace: &str, after: Cursor, limit: usize) -> Result<Page> {
    // Read first: a transition that is committed in between is for the next page.
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
    // `+` keeps SQLite from an index that would need a sort.
    let mut statement = connection.prepare_cached(
        "SELECT id, dependency, json FROM transition
         WHERE id > ?1 AND id <= ?2 AND +namespace = ?3 ORDER BY id LIMIT ?4",
    )?;
    let mut rows = statement.query(params![after, newest, namespace, bound(limit)])?;
    let mut last = after;
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        page.transitions.push(Observed { dependency: row.get(1)?, transition: row.get(2)? });
    }
    if page.transitions.len() >= limit {
        page.next = Cursor::After(last as u64);
    }
    Ok(page)
}

/// Drops the versions of removed records but the highest, inside a write transaction.
pub(crate) fn compact(connection: &Connection, namespace: &str) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO removed (namespace, version)
             SELECT ?1, version FROM record WHERE namespace = ?1 AND data IS NULL
             ORDER BY version DESC LIMIT 1 OFFSET ?2
             ON CONFLICT (namespace) DO UPDATE SET version = max(version, excluded.version)",
        )?
        .execute(params![namespace, bound(REMOVED)])?;
    connection
        .prepare_cached(
            "DELETE FROM record WHERE namespace = ?1 AND data IS NULL
             AND version <= (SELECT version FROM removed WHERE namespace = ?1)",
        )?
        .execute([namespace])?;
    Ok(())
}

/// Removes a namespace, inside a write transaction.
pub(crate) fn remove_namespace(connection: &Connection, namespace: &str) -> Result<()> {
    // One above the highest, so that a write based on a removed record is stale.
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
