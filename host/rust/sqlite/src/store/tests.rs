use std::fs;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::options::Synchronous;

fn put(store: &SqliteStore, dependency: &str, based_on: u64, data: &[u8]) -> Result<Vec<CommitOutcome>, StoreError> {
    let key = Key { namespace: "n", dependency };
    store.commit(&[Write { key, based_on, version: based_on + 1, data: Some(data), transitions: &[], history: 10 }])
}

fn open(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
    SqliteStore::open_with(path, SqliteOptions::default())
}

fn impatient() -> SqliteOptions {
    SqliteOptions { busy_timeout: Duration::from_millis(50), ..SqliteOptions::default() }
}

#[test]
fn a_folder_and_a_missing_folder_are_named() {
    let temp = TempDir::new().unwrap();
    let error = open(temp.path()).unwrap_err();
    assert!(matches!(&error, StoreError::Denied { why, .. } if why.contains("is a directory")), "{error}");
    let error = open(temp.path().join("missing/a.db")).unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable { why, .. } if why.contains("create it")), "{error}");
    let file = temp.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = open(file.join("a.db")).unwrap_err();
    assert!(matches!(&error, StoreError::Denied { why, .. } if why.contains("is not a folder")), "{error}");
}

#[test]
fn a_file_that_is_no_database_is_named_and_left_alone() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("text");
    let text = "this is a text and no database\n".repeat(100);
    fs::write(&path, &text).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Corrupt { why, .. } if why.contains("not a SQLite database")), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 9").unwrap();
    let before = fs::read(&path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Denied { why, .. } if why.contains("another program")), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_schema_is_left_alone() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("a.db");
    drop(open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 77).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 77, known: 1, .. }), "{error}");
}

#[test]
fn the_file_is_in_wal_mode_and_commits_wait_for_the_disk() {
    let temp = TempDir::new().unwrap();
    for (synchronous, level) in [(Synchronous::Full, 2), (Synchronous::Normal, 1)] {
        let options = SqliteOptions { synchronous, ..SqliteOptions::default() };
        let store = SqliteStore::open_with(temp.path().join("a.db"), options).unwrap();
        let writer = store.writer.lock().unwrap();
        let writer = writer.as_ref().unwrap();
        let pragma = |name: &str| writer.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
        assert_eq!(pragma("journal_mode"), Ok("wal".to_owned().into()));
        assert_eq!(pragma("synchronous"), Ok(i64::from(level).into()));
    }
}

#[test]
fn a_locked_file_is_unavailable_after_the_busy_timeout() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("a.db");
    let store = SqliteStore::open_with(&path, impatient()).unwrap();
    put(&store, "a", 0, b"x").unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = put(&store, "a", 1, b"y").unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable { why, .. } if why.contains("locked")), "{error}");
    assert!(store.lock().is_err());
    let read = store.load(Key { namespace: "n", dependency: "a" }).unwrap();
    assert_eq!(read.version, 1, "a read waits for no writer");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(put(&store, "a", 1, b"y"), Ok(vec![CommitOutcome::Committed]));
}

#[test]
fn a_waiting_writer_gets_the_lock_when_it_is_free() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("a.db");
    let store = open(&path).unwrap();
    let other = open(&path).unwrap();
    let mut locked = other.lock().unwrap().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| put(&store, "a", 0, b"late"));
        std::thread::sleep(Duration::from_millis(30));
        let key = Key { namespace: "n", dependency: "a" };
        let write = Write { key, based_on: 0, version: 1, data: Some(b"first"), transitions: &[], history: 1 };
        locked.commit(&[write]).unwrap();
        locked.finish().unwrap();
        let outcomes = waiting.join().unwrap().unwrap();
        assert!(matches!(outcomes.as_slice(), [CommitOutcome::Stale(now)] if now.data.as_deref() == Some(b"first")));
    });
}

#[test]
fn threads_may_create_the_file_at_the_same_moment() {
    for _ in 0..5 {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("a.db");
        let start = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    start.wait();
                    let store = open(path).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(put(&store, &number.to_string(), 0, b"x"), Ok(vec![CommitOutcome::Committed]));
                });
            }
        });
        assert_eq!(open(&path).unwrap().list("n").unwrap().len(), 8);
    }
}

#[test]
fn a_commit_on_a_full_disk_is_an_error_and_not_done() {
    let temp = TempDir::new().unwrap();
    let store = open(temp.path().join("a.db")).unwrap();
    put(&store, "a", 0, b"small").unwrap();
    {
        let writer = store.writer.lock().unwrap();
        let writer = writer.as_ref().unwrap();
        let pages: i64 = writer.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        writer.pragma_update(None, "max_page_count", pages).unwrap();
    }
    let error = put(&store, "a", 1, &vec![1; 1 << 20]).unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable { why, .. } if why.contains("full")), "{error}");
    let now = store.load(Key { namespace: "n", dependency: "a" }).unwrap();
    assert_eq!((now.version, now.data.as_deref()), (1, Some(&b"small"[..])));
    assert_eq!(put(&store, "a", 1, b"also small"), Ok(vec![CommitOutcome::Committed]), "the store serves on");
}

#[test]
fn a_read_only_database_refuses_writes_and_can_be_read() {
    let temp = TempDir::new().unwrap();
    let store = open(temp.path().join("a.db")).unwrap();
    put(&store, "a", 0, b"x").unwrap();
    store.writer.lock().unwrap().as_ref().unwrap().pragma_update(None, "query_only", true).unwrap();
    let error = put(&store, "a", 1, b"y").unwrap_err();
    assert!(matches!(&error, StoreError::Denied { why, .. } if why.contains("read-only")), "{error}");
    assert_eq!(store.load(Key { namespace: "n", dependency: "a" }).unwrap().version, 1);
}

#[test]
fn a_damaged_file_is_a_typed_error_wherever_it_is_damaged() {
    let temp = TempDir::new().unwrap();
    let whole = temp.path().join("whole.db");
    let store = open(&whole).unwrap();
    for number in 0..200 {
        put(&store, &format!("dependency {number}"), 0, &[7; 100]).unwrap();
    }
    drop(store);
    let bytes = fs::read(&whole).unwrap();
    let mut failed = 0;
    for place in (0..bytes.len()).step_by(509) {
        let path = temp.path().join(format!("{place}.db"));
        let mut damaged = bytes.clone();
        for byte in damaged.iter_mut().skip(place).take(64) {
            *byte ^= 0x5a;
        }
        fs::write(&path, &damaged).unwrap();
        let used = SqliteStore::open_with(&path, impatient()).and_then(|store| {
            for dependency in store.list("n")? {
                store.load(Key { namespace: "n", dependency: &dependency })?;
                store.history(Key { namespace: "n", dependency: &dependency }, 10)?;
            }
            store.transitions("n", Cursor::Start, 10)?;
            put(&store, "new", 0, &[1; 5_000])?;
            store.remove_namespace("n")
        });
        failed += usize::from(used.is_err());
    }
    assert!(failed > 3, "no damage was noticed");
}

#[test]
fn a_row_that_this_program_never_writes_is_damage() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("a.db");
    let store = open(&path).unwrap();
    put(&store, "a", 0, b"x").unwrap();
    let insert = "INSERT INTO transition VALUES (1, 'n', 'a', 0, CAST(x'ff' AS TEXT))";
    Connection::open(&path).unwrap().execute_batch(insert).unwrap();
    let error = store.history(Key { namespace: "n", dependency: "a" }, 10).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn a_file_that_lacks_a_table_or_a_column_is_damaged() {
    for change in ["DROP TABLE record", "ALTER TABLE record RENAME COLUMN data TO gone"] {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("a.db");
        drop(open(&path).unwrap());
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let store = open(&path).unwrap();
        let key = Key { namespace: "n", dependency: "a" };
        for error in [store.load(key).unwrap_err(), put(&store, "a", 0, b"x").unwrap_err()] {
            assert!(matches!(error, StoreError::Corrupt { .. }), "{change}: {error}");
            assert!(error.to_string().contains("restore the file"), "{error}");
        }
    }
}

#[test]
fn a_bare_path_and_a_scheme_open_the_same_file() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("with:colon.db");
    let path = path.to_str().unwrap();
    put(&SqliteStore::open(path).unwrap(), "a", 0, b"x").unwrap();
    assert_eq!(SqliteStore::open(&format!("sqlite:{path}")).unwrap().list("n"), Ok(vec!["a".to_owned()]));
    assert!(matches!(SqliteStore::open("sqlite:"), Err(OpenError::Address(_))));
}

#[test]
fn a_removed_file_is_created_again() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("a.db");
    let store = open(&path).unwrap();
    put(&store, "a", 0, b"x").unwrap();
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(temp.path().join(format!("a.db{suffix}"))).unwrap();
    }
    assert_eq!(store.list("n"), Ok(Vec::new()));
    assert_eq!(put(&store, "a", 0, b"y"), Ok(vec![CommitOutcome::Committed]));
    assert_eq!(open(&path).unwrap().list("n").unwrap(), ["a"]);
}

#[test]
fn the_queries_of_history_use_their_index() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("a.db");
    drop(open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    for (condition, index) in [
        ("dependency = 'a' AND number IS NOT NULL ORDER BY number DESC", "history"),
        ("dependency = 'a' AND number <= 0", "history"),
        ("number IS NULL ORDER BY id DESC", "forgotten"),
    ] {
        let query =
            format!("EXPLAIN QUERY PLAN SELECT id FROM transition WHERE namespace = 'n' AND {condition} LIMIT 1");
        let plan: Vec<String> = connection
            .prepare(&query)
            .unwrap()
            .query_map([], |row| row.get("detail"))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        assert!(plan.len() == 1 && plan[0].contains(&format!("INDEX {index} ")), "{plan:?}");
    }
}

#[test]
fn a_store_that_only_reads_creates_and_changes_nothing() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("a.db");
    let reading = || SqliteStore::open_with(&path, SqliteOptions { read_only: true, ..SqliteOptions::default() });
    let reader = reading().unwrap();
    assert_eq!(reader.list("n").unwrap(), Vec::<String>::new());
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    let error = put(&reader, "a", 0, b"x").unwrap_err();
    assert!(matches!(&error, StoreError::Denied { why, .. } if why.contains("only to read")), "{error}");
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    // It reads what is written afterwards, also while the writer has it open.
    let writer = open(&path).unwrap();
    put(&writer, "a", 0, b"x").unwrap();
    assert_eq!((reader.list("n").unwrap(), reader.namespaces().unwrap()), (vec!["a".to_owned()], vec!["n".to_owned()]));
    drop(writer);
    assert_eq!(reading().unwrap().list("n").unwrap(), ["a"]);
}
