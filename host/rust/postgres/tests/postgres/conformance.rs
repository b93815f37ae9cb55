use std::sync::Arc;

use halfopen_contract::conformance::check;
use halfopen_postgres::PostgresStore;

use crate::server::Server;

fn open(address: &str) -> Arc<PostgresStore> {
    Arc::new(PostgresStore::open(address).unwrap())
}

pub fn the_store_meets_every_obligation() {
    let server = Server::new("max_connections = 400");
    assert_eq!(check(&|| open(&server.address(""))), []);
}

pub fn one_instance_meets_every_obligation() {
    let server = Server::new("");
    let store = open(&server.address(""));
    assert_eq!(check(&|| store.clone()), []);
}

pub fn a_database_in_another_encoding_meets_every_obligation() {
    let server = Server::new("");
    server.sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    let store = open(&server.address("").replace("/postgres?", "/latin?"));
    assert_eq!(check(&|| store.clone()), []);
}
