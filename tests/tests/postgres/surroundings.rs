//! What is around it: others who open it, the schema, runtimes, clocks.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use halfopen::store::postgres::PostgresStore;
use halfopen::store::{CommitOutcome, Cursor, Key, Store, Write};
use halfopen::{Decision, State, Transition, TransitionReason};
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

/// A transition that no other writer makes.
fn transition(writer: u64, number: u64) -> Transition {
    let reason = TransitionReason::Other(format!("{writer}"));
    Transition { from: State::Closed, to: State::Open, at: 0, epoch: number, reason }
}

pub fn no_reader_of_the_stream_passes_a_transition_by() {
    const WRITERS: u64 = 6;
    const EACH: u64 = 100;
    let server = Server::new("");
    let open = || PostgresStore::open(&server.address("")).unwrap();
    let writing = AtomicUsize::new(WRITERS as usize);
    let seen: Vec<(u64, u64)> = thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (store, writing) = (open(), &writing);
            scope.spawn(move || {
                let name = format!("of {writer}");
                for number in 0..EACH {
                    let added = [transition(writer, number)];
                    let write = Write {
                        key: key(&name),
                        based_on: number,
                        version: number + 1,
                        data: Some(b"x"),
                        transitions: &added,
                        history: 1_000,
                    };
                    assert_eq!(store.commit(&[write]).unwrap(), [CommitOutcome::Committed]);
                }
                writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        let (store, mut cursor, mut seen) = (open(), Cursor::Start, Vec::new());
        loop {
            let last = writing.load(Ordering::SeqCst) == 0;
            let page = store.transitions("surroundings", cursor, 7).unwrap();
            cursor = page.next;
            if last && page.transitions.is_empty() {
                return seen;
            }
            seen.extend(page.transitions.iter().map(|observed| {
                let reason = observed.transition.reason.as_str();
                (reason.parse().unwrap_or(u64::MAX), observed.transition.epoch)
            }));
        }
    });
    assert_eq!(seen.len() as u64, WRITERS * EACH);
    for writer in 0..WRITERS {
        let of_writer = seen.iter().filter(|(of, _)| *of == writer).map(|(_, number)| *number);
        assert!(of_writer.eq(0..EACH), "those of one record are not in order, or not once each");
    }
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
