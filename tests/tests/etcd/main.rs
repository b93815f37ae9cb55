//! Breakers in etcd, on real clusters that the tests start and break. Without the program that `HALFOPEN_TEST_ETCD_BIN` names
//! they are ignored. The tests of the store alone stand beside it.

mod cluster;
mod cycle;
#[allow(dead_code, reason = "the tests of the store use the rest")]
#[path = "../../../host/rust/etcd/tests/etcd/partition.rs"]
mod partition;
#[allow(dead_code, reason = "the tests of the store use the rest")]
#[path = "../../../host/rust/etcd/tests/etcd/server.rs"]
mod server;
mod skew;

/// What the shared files need.
mod patience {
    pub use halfopen_tests::breakers::until;
}

use std::process::ExitCode;
use std::sync::Arc;

use halfopen::store::Store;
use halfopen::{Host, Policy};
use halfopen_tests::process::play;
use halfopen_tests::{harness, tests};

fn main() -> ExitCode {
    play(&[("cycle", cycle::cycle)]);
    let has_server = std::env::var_os(server::BINARY).is_some_and(|binary| !binary.is_empty());
    harness::run_where(
        has_server,
        tests![
            cluster::a_killed_leader_leaves_one_lease_and_loses_nothing,
            cluster::a_leader_cut_off_leaves_one_lease_and_loses_nothing,
            cluster::a_frozen_leader_leaves_one_lease_and_loses_nothing,
            cluster::a_leader_killed_during_a_probe_leaves_the_lease,
            cluster::without_a_quorum_a_breaker_fails_and_keeps_its_state,
            cluster::more_dependencies_than_a_commit_takes_are_all_written,
            skew::a_lease_below_twice_the_skew_is_refused,
        ],
    )
}

fn store(address: &str) -> Arc<dyn Store> {
    halfopen::store::open(address).unwrap_or_else(|error| panic!("{address}: {error}"))
}

fn host(address: &str, policy: &Policy) -> Host {
    let builder = Host::builder().address(address).default_policy(policy.clone()).history(1_000_000);
    builder.build().unwrap_or_else(|error| panic!("a host on {address}: {error}"))
}
