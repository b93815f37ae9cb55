//! Refusals of the server, and their messages.

use std::process::{Child, Command, Stdio};

use crate::patience::until;
use halfopen_contract::store::{CommitOutcome, Key, OpenError, Store, StoreError, Write};
use halfopen_postgres::PostgresStore;

use crate::account;
use crate::server::{PATIENT, PROGRAMS, Server};

const KEY: Key<'static> = Key { namespace: "refusals", dependency: "pay" };

fn write(based_on: u64) -> Write<'static> {
    Write { key: KEY, based_on, version: based_on + 1, data: Some(b"x"), transitions: &[], history: 1 }
}

/// The error of a store that does not open.
fn refused(address: &str) -> StoreError {
    match PostgresStore::open(address) {
        Err(OpenError::Store(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// A transaction of another client, which stays open until this is dropped.
struct Other(Child);

impl Other {
    fn begin(server: &Server, sql: &str) -> Other {
        let programs = std::env::var(PROGRAMS).unwrap();
        let script = format!("BEGIN; {sql}; SELECT pg_sleep(600);");
        let address = server.address("");
        let base = address.split('?').next().unwrap();
        let child = Command::new(format!("{programs}/psql"))
            .args([base, "-Xqc", &script])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("it sleeps", || {
            (server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1").then_some(())
        });
        Other(child)
    }

    fn end(mut self, server: &Server) {
        server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
        let _ = self.0.wait();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn a_locked_record_is_an_error_and_readable() {
    let server = Server::new("");
    let store = PostgresStore::open(&server.address("options=-c%20lock_timeout=300ms")).unwrap();
    assert_eq!(store.commit(&[write(0)]).unwrap(), [CommitOutcome::Committed]);

    let other = Other::begin(&server, "SELECT FROM halfopen.record FOR UPDATE");
    for _ in 0..2 {
        let error = store.commit(&[write(1)]).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        assert!(error.to_string().contains("took too long"), "{error}");
    }
    assert_eq!(store.load(KEY).unwrap().version, 1, "a reader goes on");
    other.end(&server);
    assert_eq!(store.commit(&[write(1)]).unwrap(), [CommitOutcome::Committed]);
    assert_eq!(store.load(KEY).unwrap().version, 2);
}

pub fn serializable_transactions_count_everything_once() {
    let server = Server::new("");
    for level in ["serializable", "repeatable%5C%20read"] {
        let address = server.address(&format!("options=-c%20default_transaction_isolation={level}"));
        account::keep(&address, 6, |account| (0..10).for_each(|_| account.go_on("work goes on"))).is_flawless();
    }
    let conflicts = server.sql("SELECT xact_rollback > 0 FROM pg_stat_database WHERE datname = 'postgres'");
    assert_eq!(conflicts, "t", "there was no conflict, so nothing was tested");
}

pub fn a_read_only_database_refuses_writes_until_it_is_not() {
    let server = Server::new("");
    let store = PostgresStore::open(&server.address("")).unwrap();
    assert_eq!(store.commit(&[write(0)]).unwrap(), [CommitOutcome::Committed]);
    let set = |on: &str| {
        server.sql(&format!("ALTER SYSTEM SET default_transaction_read_only = {on}"));
        server.sql("SELECT pg_reload_conf()");
    };
    set("on");
    let error = until("the server has heard of it", || store.commit(&[write(9)]).err());
    assert!(matches!(error, StoreError::Denied { .. }), "{error}");
    assert!(error.to_string().contains("allows no writes"), "{error}");
    let error = refused(&server.address(""));
    assert!(matches!(error, StoreError::Denied { .. }) && error.to_string().contains("allows no writes"), "{error}");
    assert_eq!(store.load(KEY).unwrap().version, 1);
    set("off");
    until("the server has heard of it", || store.commit(&[write(9)]).ok());
    assert_eq!(store.commit(&[write(1)]).unwrap(), [CommitOutcome::Committed]);
}

pub fn a_standby_is_refused_and_passed_over() {
    let primary = Server::new("");
    let store = PostgresStore::open(&primary.address("")).unwrap();
    assert_eq!(store.commit(&[write(0)]).unwrap(), [CommitOutcome::Committed]);
    let standby = Server::standby_of(&primary);
    let error = refused(&standby.address(""));
    assert!(matches!(error, StoreError::Denied { .. }) && error.to_string().contains("standby"), "{error}");

    let both = format!("postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres?{PATIENT}", standby.port, primary.port);
    let store = PostgresStore::open(&both).unwrap();
    assert_eq!(store.commit(&[write(1)]).unwrap(), [CommitOutcome::Committed]);
    until("the standby has it all", || (standby.sql("SELECT max(version) FROM halfopen.record") == "2").then_some(()));
    primary.stop("fast");
    standby.sql("SELECT pg_promote()");
    // The same store goes on with the new primary.
    until("it has found the new primary", || store.load(KEY).ok().map(|found| assert_eq!(found.version, 2)));
    assert_eq!(store.commit(&[write(2)]).unwrap(), [CommitOutcome::Committed]);
}

pub fn a_refused_user_learns_why_and_no_password() {
    let server = Server::new("");
    server.sql("CREATE ROLE me LOGIN PASSWORD 'right'");
    let rules = std::path::Path::new(&server.data()).join("pg_hba.conf");
    let before = std::fs::read_to_string(&rules).unwrap();
    std::fs::write(&rules, format!("host all me 127.0.0.1/32 scram-sha-256\n{before}")).unwrap();
    server.sql("SELECT pg_reload_conf()");
    let at = |login: &str, database: &str| format!("postgres://{login}@127.0.0.1:{}/{database}?{PATIENT}", server.port);

    let wrong = refused(&at("me:hush", "postgres"));
    let missing = refused(&at("me:right", "none"));
    let rightless = refused(&at("me:right", "postgres"));
    let silent = refused(&at("me", "postgres"));
    for (error, says) in [
        (&wrong, "refuses this user"),
        (&missing, "no such database"),
        (&rightless, "lacks a right"),
        (&silent, "password missing"),
    ] {
        assert!(matches!(error, StoreError::Denied { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("hush") && !shown.contains("right@"), "{shown}");
    }
}

pub fn a_user_without_the_right_to_create_needs_none() {
    let server = Server::new("");
    server.sql("CREATE ROLE app LOGIN");
    drop(PostgresStore::open(&server.address("")).unwrap());
    let address = format!("postgres://app@127.0.0.1:{}/postgres?{PATIENT}", server.port);
    assert!(matches!(refused(&address), StoreError::Denied { .. }));
    // The rights that the README lists.
    server.sql(
        "GRANT USAGE ON SCHEMA halfopen TO app;
         GRANT SELECT ON halfopen.migration TO app;
         GRANT SELECT, INSERT, UPDATE, DELETE ON halfopen.record, halfopen.namespace, halfopen.transition TO app;",
    );
    account::keep(&address, 2, |_| {}).is_flawless();
    let store = PostgresStore::open(&address).unwrap();
    let text = [r#"{"reason":"forced"}"#.to_owned()];
    assert_eq!(store.commit(&[Write { transitions: &text, ..write(0) }]).unwrap(), [CommitOutcome::Committed]);
    let removal = Write { data: None, transitions: &text, ..write(1) };
    assert_eq!(store.commit(&[removal]).unwrap(), [CommitOutcome::Committed]);
    store.compact(KEY.namespace).unwrap();
    store.remove_namespace(KEY.namespace).unwrap();
}

pub fn a_schema_of_a_later_release_is_left_alone() {
    let server = Server::new("");
    drop(PostgresStore::open(&server.address("")).unwrap());
    server.sql("INSERT INTO halfopen.migration (version) VALUES (99)");
    let error = refused(&server.address(""));
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    drop(PostgresStore::open(&server.address("schema=another")).unwrap());
}

/// An authority, and a certificate that it signed for `localhost`.
fn certificates(folder: &std::path::Path) {
    let openssl = |words: &str| {
        let done = Command::new("openssl").args(words.split(' ')).current_dir(folder).output();
        let done = done.expect("openssl is there, as PostgreSQL's package needs it");
        assert!(done.status.success(), "openssl {words}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let keys = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {keys} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"));
    openssl(&format!("req -x509 {keys} -keyout other.key -out other.pem -days 2 -subj /CN=other"));
    openssl(&format!("req {keys} -keyout server.key -out server.csr -subj /CN=localhost"));
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n").unwrap();
    openssl("x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem");
}

pub fn certificates_are_checked_as_sslmode_says() {
    let server = Server::new("");
    let folder = tempfile::tempdir().unwrap();
    let at = |host: &str, parameters: &str| {
        format!("postgres://postgres@{host}:{}/postgres?{PATIENT}&{parameters}", server.port)
    };
    let plain = refused(&at("127.0.0.1", "sslmode=require"));
    assert!(matches!(plain, StoreError::Denied { .. }) && plain.to_string().contains("TLS"), "{plain}");

    certificates(folder.path());
    for file in ["server.pem", "server.key"] {
        let there = std::path::Path::new(&server.data()).join(file);
        std::fs::copy(folder.path().join(file), &there).unwrap();
        let owner = std::fs::metadata(server.data()).unwrap();
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        std::os::unix::fs::chown(&there, Some(owner.uid()), Some(owner.gid())).unwrap();
        std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    server.sql("ALTER SYSTEM SET ssl_cert_file = 'server.pem'");
    server.sql("ALTER SYSTEM SET ssl_key_file = 'server.key'");
    server.sql("ALTER SYSTEM SET ssl = on");
    server.sql("SELECT pg_reload_conf()");
    let root = |file: &str| format!("sslrootcert={}", folder.path().join(file).display());
    let (ours, theirs) = (root("ca.pem"), root("other.pem"));

    let encrypted = |address: &str| {
        let _store = until("the server has heard of TLS", || PostgresStore::open(address).ok());
        server.sql("SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'halfopen'")
    };
    assert_eq!(encrypted(&at("127.0.0.1", "sslmode=require")), "t");
    assert_eq!(encrypted(&at("127.0.0.1", "")), "t");
    assert_eq!(encrypted(&at("127.0.0.1", "sslmode=disable")), "f");
    assert_eq!(encrypted(&at("127.0.0.1", &format!("sslmode=verify-ca&{ours}"))), "t");
    assert_eq!(encrypted(&at("127.0.0.1", &format!("sslmode=require&{ours}"))), "t");
    assert_eq!(encrypted(&at("localhost", &format!("sslmode=verify-full&{ours}"))), "t");
    for wrong in [
        at("127.0.0.1", &format!("sslmode=verify-full&{ours}")),
        at("localhost", &format!("sslmode=verify-full&{theirs}")),
        at("localhost", &format!("sslmode=verify-ca&{theirs}")),
        at("localhost", "sslmode=verify-full"),
    ] {
        let error = refused(&wrong);
        assert!(matches!(error, StoreError::Denied { .. }) && error.to_string().contains("certificate"), "{error}");
    }
    let error = refused(&at("localhost", "sslmode=verify-full&sslrootcert=none.pem"));
    assert!(error.to_string().contains("`sslrootcert` none.pem"), "{error}");
}
