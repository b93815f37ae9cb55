//! Files that are not what they were.

use std::fs;
use std::path::{Path, PathBuf};

use halfopen::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use halfopen::store::{Cursor, Store as _};
use halfopen::{BreakerError, Decision, Host, Outcome, StoreError};
use halfopen_tests::breakers::{policy, trip};
use tempfile::TempDir;

/// A host that does not wait for the disk.
fn host(file: &Path) -> Result<Host, StoreError> {
    let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    Ok(Host::builder().store(SqliteStore::open_with(file, options)?).default_policy(policy()).build().unwrap())
}

/// A file with some records and some history, with everything in it and nothing beside it.
fn file_with_records() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let host = host(&file).unwrap();
    for number in 0..200 {
        let breaker = host.breaker(format!("dependency {number}"));
        trip(&breaker);
        if number % 2 == 0 {
            breaker.reset("").unwrap();
        }
    }
    drop(host);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something is left beside the file");
    (folder, file)
}

/// Whether an error is one that a damaged file may give. The component and the host are not to blame.
fn is_the_stores(error: &BreakerError) -> bool {
    matches!(error, BreakerError::Store(_) | BreakerError::NewerVersion { .. })
}

/// Does all that can be done with a file; how many calls failed.
fn use_it(file: &Path) -> usize {
    let Ok(host) = host(file) else { return 1 };
    let mut failed = 0;
    let mut judge = |result: Result<(), BreakerError>| {
        if let Err(error) = result {
            assert!(is_the_stores(&error), "{error:?}");
            failed += 1;
        }
    };
    judge(host.list().map(drop).map_err(BreakerError::from));
    let stream = SqliteStore::open_with(file, SqliteOptions::default())
        .and_then(|store| store.transitions("default", Cursor::Start, 1_000).map(drop));
    judge(stream.map_err(BreakerError::from));
    for number in [0, 1, 2, 99, 100, 198, 199, 200] {
        let breaker = host.breaker(format!("dependency {number}"));
        judge(breaker.inspect().map(drop));
        judge(breaker.history(10).map(drop).map_err(BreakerError::from));
        judge(breaker.acquire().and_then(|decision| match decision {
            Decision::Proceed(guard) | Decision::Probe(guard) => guard.report(Outcome::Failure).map(drop),
            Decision::Defer(_) => Ok(()),
        }));
        judge(breaker.reset("").map(drop));
        judge(breaker.forget("").map(drop));
    }
    judge(host.remove_namespace().map_err(BreakerError::from));
    failed
}

pub fn random_damage_is_an_error_and_never_a_panic() {
    let (folder, whole) = file_with_records();
    let bytes = fs::read(&whole).unwrap();
    let damaged = folder.path().join("damaged.db");
    let mut harmful = 0;
    for seed in 0..150 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = bytes.clone();
        for _ in 0..random.usize(1..6) {
            let length = random.usize(1..600);
            let at = random.usize(..bytes.len() - length);
            random.fill(&mut bytes[at..at + length]);
        }
        fs::write(&damaged, bytes).unwrap();
        harmful += usize::from(use_it(&damaged) > 0);
        for beside in ["damaged.db-wal", "damaged.db-shm"] {
            let _ = fs::remove_file(folder.path().join(beside));
        }
    }
    println!("150 damaged files, of which {harmful} gave errors");
    assert!(harmful > 20, "hardly any damage was noticed");
}

pub fn a_file_cut_short_is_an_error_and_never_a_panic() {
    let (folder, whole) = file_with_records();
    let bytes = fs::read(&whole).unwrap();
    let cut = folder.path().join("cut.db");
    let mut noticed = 0;
    for percent in 1..100 {
        fs::write(&cut, &bytes[..bytes.len() * percent / 100]).unwrap();
        noticed += usize::from(use_it(&cut) > 0);
        for beside in ["cut.db-wal", "cut.db-shm"] {
            let _ = fs::remove_file(folder.path().join(beside));
        }
    }
    // What was cut off may be a page that holds nothing.
    assert!(noticed > 80, "only {noticed} of 99 cuts were noticed");
}

/// Refused when it is opened, and not touched.
fn check_left_alone(file: &Path, is_right: impl Fn(&StoreError) -> bool) {
    let before = fs::read(file).unwrap();
    let error = SqliteStore::open_with(file, SqliteOptions::default()).map(drop).unwrap_err();
    assert!(is_right(&error), "{error:?}");
    assert_eq!(fs::read(file).unwrap(), before, "it was changed");
    let folder = file.parent().unwrap();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "something is left beside the file");
}

pub fn a_file_that_is_no_database_is_left_as_it_is() {
    for content in ["hello\n".to_owned(), "hello ".repeat(10_000)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.txt");
        fs::write(&file, content).unwrap();
        check_left_alone(&file, |error| matches!(error, StoreError::Corrupt { .. }));
    }
}

pub fn a_database_of_another_program_is_left_as_it_is() {
    for sql in ["CREATE TABLE note (text)", "PRAGMA application_id = 7", "PRAGMA user_version = 3"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("other.db");
        rusqlite::Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        check_left_alone(&file, |error| matches!(error, StoreError::Denied { .. }));
    }
}

pub fn a_database_of_a_later_release_is_left_as_it_is() {
    let (_folder, file) = file_with_records();
    let database = rusqlite::Connection::open(&file).unwrap();
    let known: i64 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    database.pragma_update(None, "journal_mode", "delete").unwrap();
    drop(database);
    check_left_alone(
        &file,
        |error| matches!(error, StoreError::Newer { found: 99, known: k, .. } if *k == known as u64),
    );

    // Nothing else was wrong with it.
    let database = rusqlite::Connection::open(&file).unwrap();
    database.pragma_update(None, "user_version", known).unwrap();
    drop(database);
    assert!(SqliteStore::open_with(&file, SqliteOptions::default()).is_ok());
}
