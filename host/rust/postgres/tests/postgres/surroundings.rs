//! Concurrent openers, the schema, runtimes, clocks.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use halfopen_contract::store::{CommitOutcome, Key, Store, Write};
use halfopen_postgres::PostgresStore;

use crate::server::Server;

fn key(dependency: &str) -> Key<'_> {
    Key { namespace: "surroundings", dependency }
}

pub fn many_openers_of_an_empty_database_make_one_schema() {
    let server = Server::new("");
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                PostgresStore::open(&server.address("")).unwrap();
            });
        }
    });
    assert_eq!(server.sql("SELECT count(*) FROM halfopen.migration"), "1");
}

pub fn a_dropped_schema_is_made_anew() {
    let server = Server::new("");
    let store = PostgresStore::open(&server.address("schema=my%20own")).unwrap();
    let write = Write { key: key("a"), based_on: 0, version: 1, data: Some(b"x"), transitions: &[], history: 1 };
    for _ in 0..3 {
        assert_eq!(store.load(key("a")).unwrap().version, 0);
        assert_eq!(store.commit(&[write]).unwrap(), [CommitOutcome::Committed]);
        assert_eq!(store.load(key("a")).unwrap().version, 1);
        server.sql("DROP SCHEMA \"my own\" CASCADE");
    }
}

pub fn the_store_works_inside_a_runtime() {
    let server = Server::new("");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = PostgresStore::open(&server.address("")).unwrap();
        let write = Write { key: key("a"), based_on: 0, version: 1, data: Some(b"x"), transitions: &[], history: 1 };
        assert_eq!(store.commit(&[write]).unwrap(), [CommitOutcome::Committed]);
        assert_eq!(store.load(key("a")).unwrap().version, 1);
        // The store and its connections are dropped inside the runtime, too.
    });
}

pub fn the_time_is_that_of_the_database() {
    let server = Server::new("");
    let store = PostgresStore::open(&server.address("")).unwrap();
    let here = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    // The server is on this machine, so that its clock is known.
    for name in ["a", "b", "a"] {
        let before = here();
        let at = store.load(key(name)).unwrap().at.expect("a load carries the time");
        assert!((before..=here()).contains(&at), "{before} {at}");
        let write = Write { key: key("b"), based_on: 9, version: 10, data: None, transitions: &[], history: 1 };
        let outcomes = store.commit(&[write]).unwrap();
        let [CommitOutcome::Stale(present)] = outcomes.as_slice() else { panic!("{outcomes:?}") };
        assert!(present.at.is_some_and(|then| then >= at));
        thread::sleep(Duration::from_millis(2));
    }
}
