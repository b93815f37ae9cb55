//! What is around it: others who open it, the schema, runtimes, clocks.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use halfopen::Decision;
use halfopen::store::postgres::PostgresStore;
use halfopen::store::{CommitOutcome, Key, Store, Write};
use halfopen_tests::herd::Place;

use crate::account::counting;
use crate::server::Server;

fn key(dependency: &str) -> Key<'_> {
    Key { namespace: "surroundings", dependency }
}

pub fn many_who_open_an_empty_database_at_once_make_one_schema() {
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

pub fn a_schema_that_was_dropped_is_made_anew() {
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

pub fn it_may_be_called_from_inside_a_runtime() {
    let server = Server::new("");
    let place = Place::at(&server.address(""));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let breaker = place.host(&counting()).breaker("pay");
        let Ok(Decision::Proceed(guard)) = breaker.acquire() else { panic!("it is closed") };
        assert!(guard.failure().unwrap().is_applied());
        assert_eq!(breaker.call_async(async || Ok::<_, ()>(7)).await.unwrap(), 7);
        // And what it made is dropped in here as well.
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
