//! Servers and networks that fail during work, and recover.

use std::time::Duration;

use crate::proxy::Proxy;
use halfopen_contract::store::{CommitOutcome, Key, Store, StoreError, Write};
use halfopen_postgres::PostgresStore;

use crate::account;
use crate::patience::until;
use crate::server::{Server, address_at};

const KEY: Key<'static> = Key { namespace: "outages", dependency: "pay" };

fn restarted(mode: &str) {
    let server = Server::new("");
    account::keep(&server.address(""), 4, |account| {
        for _ in 0..3 {
            server.stop(mode);
            server.start();
            account.go_on("the server is back, and everybody with it");
        }
    });
}

pub fn a_server_that_restarts_during_work_loses_nothing() {
    restarted("fast");
}

pub fn a_server_that_crashes_during_work_loses_nothing() {
    restarted("immediate");
}

fn terminate_connections(server: &Server) {
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'halfopen'");
}

pub fn terminated_connections_are_replaced() {
    let server = Server::new("");
    let store = PostgresStore::open(&server.address("")).unwrap();
    for version in 0..20 {
        terminate_connections(&server);
        let write =
            Write { key: KEY, based_on: version, version: version + 1, data: Some(b"x"), transitions: &[], history: 1 };
        assert_eq!(store.commit(&[write]).unwrap(), [CommitOutcome::Committed]);
        terminate_connections(&server);
        assert_eq!(store.load(KEY).unwrap().version, version + 1);
    }
}

pub fn connections_terminated_during_work_lose_nothing() {
    let server = Server::new("");
    // A commit may be in doubt: on a slow machine, more than 64 writes may come between its loss and its retry.
    account::keep(&server.address(""), 4, |account| {
        for _ in 0..20 {
            terminate_connections(&server);
            account.go_on("work goes on with other connections");
        }
    });
}

pub fn a_network_that_breaks_during_work_loses_nothing() {
    let server = Server::new("");
    let proxy = Proxy::before(server.port);
    account::keep(&address_at(proxy.port(), ""), 4, |account| {
        for _ in 0..20 {
            proxy.cut_once();
            account.go_on("everybody has another connection");
        }
        proxy.cut();
        std::thread::sleep(Duration::from_millis(300));
        proxy.mend();
        account.go_on("the network is back, and everybody with it");
    });
}

pub fn a_slow_network_slows_the_store_and_no_more() {
    let server = Server::new("");
    let proxy = Proxy::before(server.port);
    let address = address_at(proxy.port(), "");
    let (one, other) = (PostgresStore::open(&address).unwrap(), PostgresStore::open(&address).unwrap());
    proxy.delay(Duration::from_millis(200));
    let write = Write { key: KEY, based_on: 0, version: 1, data: Some(b"x"), transitions: &[], history: 1 };
    assert_eq!(one.commit(&[write]).unwrap(), [CommitOutcome::Committed]);
    assert_eq!(other.load(KEY).unwrap().version, 1);
    assert!(matches!(other.commit(&[write]).unwrap()[..], [CommitOutcome::Stale(_)]));
    account::keep(&address, 3, |_| {}).is_flawless();
}

pub fn a_store_opened_during_an_outage_recovers() {
    let server = Server::new("");
    server.stop("fast");
    let store = PostgresStore::open(&server.address("")).unwrap();
    let error = store.load(KEY).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    server.start();
    until("it comes back", || store.load(KEY).ok());
}

pub fn a_silent_server_is_an_error_in_bounded_time() {
    let server = Server::new("");
    let proxy = Proxy::before(server.port);
    let store = PostgresStore::open(&address_at(proxy.port(), "timeout=2s&connect_timeout=2s")).unwrap();
    until("the store has a connection", || store.load(KEY).ok());
    proxy.delay(Duration::from_secs(20));
    for _ in 0..3 {
        let error = store.load(KEY).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    }
    proxy.delay(Duration::ZERO);
    until("it comes back", || store.load(KEY).ok());
}
