//! Servers and networks that go away amid work, and come back.

use std::time::Duration;

use halfopen::store::postgres::PostgresStore;
use halfopen::store::{Key, Store, StoreError};
use halfopen::{Decision, State};
use halfopen_tests::breakers::{make_due, policy, until};
use halfopen_tests::herd::Place;
use halfopen_tests::proxy::Proxy;

use crate::account;
use crate::server::{Server, address_at};

const KEY: Key<'static> = Key { namespace: "outages", dependency: "pay" };

fn restarted(mode: &str) {
    let server = Server::new("");
    account::keep(&Place::at(&server.address("")), 4, |account| {
        for _ in 0..3 {
            server.stop(mode);
            server.start();
            account.go_on("the server is back, and everybody with it");
        }
    });
}

pub fn a_server_that_is_restarted_amid_work_loses_nothing() {
    restarted("fast");
}

pub fn a_server_that_crashes_amid_work_loses_nothing() {
    restarted("immediate");
}

pub fn terminated_connections_are_replaced_and_everything_counts_once() {
    let server = Server::new("");
    let account = account::keep(&Place::at(&server.address("")), 4, |account| {
        for _ in 0..20 {
            server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'halfopen'");
            account.go_on("everybody has another connection");
        }
    });
    account.is_flawless();
}

pub fn a_network_that_breaks_amid_work_loses_nothing() {
    let server = Server::new("");
    let proxy = Proxy::before(server.port);
    account::keep(&Place::at(&address_at(proxy.port(), "")), 4, |account| {
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

pub fn a_slow_network_makes_it_slow_and_no_more() {
    let server = Server::new("");
    let proxy = Proxy::before(server.port);
    let place = Place::at(&address_at(proxy.port(), ""));
    let breaker = place.host(&policy()).breaker("pay");
    proxy.delay(Duration::from_millis(200));
    make_due(&breaker);
    let Ok(Decision::Probe(guard)) = breaker.acquire() else { panic!("a probe is due") };
    let other = place.host(&policy()).breaker("pay");
    assert!(matches!(other.acquire(), Ok(Decision::Defer(_))));
    assert!(guard.success().unwrap().is_applied());
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
    account::keep(&place, 3, |_| {}).is_flawless();
}

pub fn a_store_that_is_opened_during_an_outage_comes_back_by_itself() {
    let server = Server::new("");
    server.stop("fast");
    let store = PostgresStore::open(&server.address("")).unwrap();
    let error = store.load(KEY).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    server.start();
    until("it comes back", || store.load(KEY).ok());
}

pub fn a_server_that_says_nothing_is_an_error_in_bounded_time() {
    let server = Server::new("");
    let proxy = Proxy::before(server.port);
    let store = PostgresStore::open(&address_at(proxy.port(), "timeout=300ms&connect_timeout=300ms")).unwrap();
    assert_eq!(store.load(KEY).unwrap().version, 0);
    proxy.delay(Duration::from_secs(5));
    for _ in 0..3 {
        let error = store.load(KEY).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    }
    proxy.delay(Duration::ZERO);
    until("it comes back", || store.load(KEY).ok());
}
