//! What a durable step costs without halfopen: its statements and bytes, written by hand with rusqlite.

use std::path::Path;

use halfopen::store::sqlite::Synchronous;
use halfopen_tests::tap::Written;
use rusqlite::{Connection, params};

use crate::setting::{self, Result};

const NAMESPACE: &str = "default";
/// As many transitions as halfopen keeps.
const HISTORY: i64 = 1_000;

/// Two connections, one that reads and one that writes, as halfopen has them.
pub struct ByHand {
    reader: Connection,
    writer: Connection,
    version: i64,
}

impl ByHand {
    /// On a file with the tables of halfopen.
    pub fn open(path: &Path, synchronous: Synchronous) -> Result<Self> {
        drop(setting::sqlite(path, synchronous)?);
        let connect = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(path)?;
            connection.set_prepared_statement_cache_capacity(32);
            Ok(connection)
        };
        let (reader, writer) = (connect()?, connect()?);
        let mode = if synchronous == Synchronous::Full { "full" } else { "normal" };
        writer.pragma_update(None, "synchronous", mode)?;
        reader.pragma_update(None, "query_only", true)?;
        writer
            .execute("INSERT INTO record VALUES (?1, ?2, 0, zeroblob(64), 0)", params![NAMESPACE, "payments"])
            .map(drop)?;
        Ok(ByHand { reader, writer, version: 0 })
    }

    /// Reads the record, and writes it in a transaction of its own, with its transitions.
    pub fn step(&mut self, write: &Written) -> rusqlite::Result<()> {
        const DEPENDENCY: &str = "payments";
        let (version, data): (i64, Option<Vec<u8>>) = self
            .reader
            .prepare_cached("SELECT version, data FROM record WHERE namespace = ?1 AND dependency = ?2")?
            .query_row(params![NAMESPACE, DEPENDENCY], |row| Ok((row.get(0)?, row.get(1)?)))?;
        assert_eq!(version, self.version, "the record is not what was written last");
        std::hint::black_box(data);
        self.run("BEGIN IMMEDIATE")?;
        let added = write.transitions.len() as i64;
        let counted: i64 = self
            .writer
            .prepare_cached(
                "UPDATE record SET version = ?4, data = ?5, counted = counted + ?6
                 WHERE namespace = ?1 AND dependency = ?2 AND version = ?3 RETURNING counted",
            )?
            .query_row(params![NAMESPACE, DEPENDENCY, version, version + 1, write.data, added], |row| row.get(0))?;
        if added > 0 {
            let mut insert = self.writer.prepare_cached(
                "INSERT INTO transition (namespace, dependency, number, json) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for (number, transition) in (counted - added + 1..).zip(&write.transitions) {
                insert.execute(params![NAMESPACE, DEPENDENCY, number, transition])?;
            }
            self.writer
                .prepare_cached("DELETE FROM transition WHERE namespace = ?1 AND dependency = ?2 AND number <= ?3")?
                .execute(params![NAMESPACE, DEPENDENCY, counted - HISTORY])?;
        }
        self.run("COMMIT")?;
        self.version = version + 1;
        Ok(())
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.writer.prepare_cached(sql)?.execute([]).map(drop)
    }
}
