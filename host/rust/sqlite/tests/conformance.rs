//! The SQLite store meets every obligation of a store.

use std::sync::Arc;

use halfopen_contract::conformance::check;
use halfopen_sqlite::{SqliteOptions, SqliteStore, Synchronous};

fn store(folder: &tempfile::TempDir) -> Arc<SqliteStore> {
    let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    Arc::new(SqliteStore::open_with(folder.path().join("a.db"), options).unwrap())
}

#[test]
fn one_instance_meets_every_obligation() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    assert_eq!(check(&|| store.clone()), []);
}

#[test]
fn separate_instances_meet_every_obligation() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(check(&|| store(&folder)), []);
}
