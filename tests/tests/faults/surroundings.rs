//! Other programs at the file, rights that are missing, and folders that go away.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use halfopen::store::sqlite::{SqliteOptions, SqliteStore};
use halfopen::{BreakerError, Decision, Host, Inspection, OpenError, Outcome, Recorded, State, StoreError};
use halfopen_tests::breakers::{address, host, policy, trip, until};
use halfopen_tests::privileges;
use halfopen_tests::process::{self, Process, say};
use rusqlite::Connection;

fn waiting(file: &Path, busy_timeout: Duration) -> Result<Host, StoreError> {
    let store = SqliteStore::open_with(file, SqliteOptions { busy_timeout, ..SqliteOptions::default() })?;
    Ok(Host::builder().store(store).default_policy(policy()).build().unwrap())
}

const SHORT: Duration = Duration::from_millis(100);

/// Another program in the middle of a transaction.
fn another_program(file: &Path) -> Connection {
    let connection = Connection::open(file).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; DELETE FROM record WHERE dependency = 'none'").unwrap();
    connection
}

fn at_no_time(mut inspection: Inspection) -> Inspection {
    inspection.at = 0;
    inspection
}

pub fn while_another_program_writes_reads_go_on_and_writes_fail_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let host = waiting(&file, SHORT).unwrap();
    let (closed, open) = (host.breaker("closed"), host.breaker("open"));
    trip(&open);
    // The instant of the inspection aside.
    let seen = || (at_no_time(closed.inspect().unwrap()), open.history(10).unwrap());
    let before = seen();

    let other = another_program(&file);
    let Ok(Decision::Proceed(guard)) = closed.acquire() else { panic!("asking is not reading") };
    assert!(
        matches!(open.acquire().unwrap_err(), BreakerError::Store(StoreError::Unavailable { .. })),
        "a probe is due"
    );
    let reported = closed.report(guard.into_permit(), Outcome::Failure);
    let failed = [reported.unwrap_err(), open.reset("").unwrap_err(), closed.forget("").unwrap_err()];
    for error in failed {
        let BreakerError::Store(StoreError::Unavailable { why, .. }) = &error else { panic!("{error:?}") };
        assert!(why.contains("locked for longer than 100 ms"), "{why}");
    }
    assert_eq!(seen(), before);
    other.execute_batch("ROLLBACK").unwrap();

    assert_eq!(seen(), before);
    trip(&closed);
}

pub fn a_failure_of_a_call_while_another_program_writes_is_counted_when_it_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let breaker = waiting(&file, SHORT).unwrap().breaker("pay");
    let Ok(Decision::Proceed(guard)) = breaker.acquire() else { panic!("it is closed") };
    let other = another_program(&file);
    assert_eq!(guard.failure(), Ok(Recorded::Later));
    assert!(matches!(breaker.acquire(), Ok(Decision::Proceed(_))), "who only reads goes on");
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
    other.execute_batch("ROLLBACK").unwrap();
    until("it is counted", || (breaker.inspect().unwrap().state == State::Open).then_some(()));
}

pub fn a_write_waits_for_another_program_that_is_soon_done() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let breaker = waiting(&file, Duration::from_secs(60)).unwrap().breaker("pay");
    let other = another_program(&file);
    thread::scope(|scope| {
        let tripping = scope.spawn(|| trip(&breaker));
        thread::sleep(Duration::from_millis(50));
        other.execute_batch("COMMIT").unwrap();
        tripping.join().unwrap();
    });
}

pub fn a_file_that_another_program_keeps_to_itself_is_unavailable_until_it_lets_go() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    trip(&host(&file, &policy()).breaker("pay"));
    let other = Connection::open(&file).unwrap();
    other
        .execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; DELETE FROM record WHERE dependency = 'none'; COMMIT",
        )
        .unwrap();
    let error = waiting(&file, SHORT).map(drop).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    drop(other);
    assert_eq!(waiting(&file, SHORT).unwrap().breaker("pay").inspect().unwrap().state, State::Open);
}

/// A process that opens a file and reports a failure, with no more rights than its user has by the modes of files.
pub fn visitor(words: &[String]) {
    let visit = || -> Result<(), Box<dyn std::error::Error>> {
        let breaker = Host::builder().address(&address(Path::new(&words[0]))).default_policy(policy()).build();
        let breaker = breaker.map_err(|error| match error {
            OpenError::Store(error) => error,
            other => panic!("{other:?}"),
        })?;
        let Decision::Proceed(guard) = breaker.breaker("pay").acquire()? else { panic!("it is not closed") };
        guard.report(Outcome::Failure)?;
        Ok(())
    };
    match visit() {
        Ok(()) => say("done"),
        Err(error) => say(error),
    }
}

fn visit(file: &Path) -> String {
    let mut visitor = process::command("visitor", &[file.to_str().unwrap()]);
    Process::spawn(privileges::without(&mut visitor)).answer()
}

pub fn a_file_or_folder_without_the_right_to_write_is_refused() {
    for (folder_mode, file_mode, words) in [
        (0o700, 0o400, "it is read-only; give this user the right to write the file and its folder"),
        (0o700, 0o000, "this user has no right to read and write it"),
        (0o500, 0o600, "give this user the right to write the file and its folder"),
        (0o500, 0o400, "give this user the right to write the file and its folder"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shared.db");
        drop(host(&file, &policy()));
        let before = fs::read(&file).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(file_mode)).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(folder_mode)).unwrap();

        let place = format!("folder {folder_mode:o}, file {file_mode:o}");
        let answer = visit(&file);
        let refused = format!("cannot use the store {}: ", file.display());
        assert!(answer.starts_with(&refused) && answer.contains(words), "{place}: {answer}");

        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(fs::read(&file).unwrap(), before, "{place}");
        assert_eq!(visit(&file), "done", "{place}");
    }
}

pub fn a_path_that_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    fs::write(&file, "").unwrap();
    for (path, words) in [
        (folder.path().to_owned(), ": it is a directory; give the path of a file"),
        (folder.path().join("none/shared.db"), "is not available: there is no folder "),
        (file.join("shared.db"), " is not a folder"),
        ("/dev/null".into(), "cannot use the store "),
    ] {
        let error = Host::open(&address(&path)).unwrap_err();
        assert!(matches!(error, OpenError::Store(_)), "{error:?}");
        assert!(error.to_string().contains(words), "{}: {error}", path.display());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something was made");
}

pub fn a_folder_that_is_removed_and_made_again_is_used_again() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("state");
    let file = folder.join("shared.db");
    fs::create_dir(&folder).unwrap();
    let host = waiting(&file, SHORT).unwrap();
    trip(&host.breaker("pay"));

    fs::remove_dir_all(&folder).unwrap();
    let error = Host::open(&address(&file)).map(drop).unwrap_err();
    assert!(error.to_string().contains("there is no folder"), "{error}");
    for _ in 0..10 {
        // Whatever it can, and whatever it cannot: what it says is done must be there for others.
        let done = host.breaker("pay").reset("");
        let BreakerError::Store(error) = done.expect_err("it wrote where nobody will read") else { panic!() };
        assert!(matches!(error, StoreError::Unavailable { .. } | StoreError::Denied { .. }), "{error:?}");
    }

    fs::create_dir(&folder).unwrap();
    let other = waiting(&file, SHORT).unwrap();
    trip(&other.breaker("pay"));
    // Both speak of the same file again.
    assert_eq!(host.breaker("pay").inspect().unwrap().state, State::Open);
    host.breaker("pay").reset("").unwrap();
    assert_eq!(other.breaker("pay").inspect().unwrap().state, State::Closed);
}
