//! What a store in etcd promises, on real servers that the tests start and break: see `server` for how they find one.

mod cluster;
mod cycle;
mod lossy;
mod lost;
mod partition;
mod secure;
mod server;
mod skew;

use std::process::ExitCode;
use std::sync::Arc;

use halfopen::Host;
use halfopen::store::etcd::{EtcdOptions, EtcdStore};
use halfopen_tests::process::play;
use halfopen_tests::{harness, tests};

use cluster::*;
use lost::*;
use secure::*;
use skew::*;

fn main() -> ExitCode {
    play(&[("cycle", cycle::cycle)]);
    harness::run(tests![
        the_leader_killed_amid_a_herd_loses_nothing_acknowledged_and_at_all_times_one_lease_is_live,
        the_leader_cut_off_from_the_others_amid_a_herd_loses_nothing_acknowledged_and_at_all_times_one_lease_is_live,
        the_leader_frozen_amid_a_herd_loses_nothing_acknowledged_and_at_all_times_one_lease_is_live,
        the_leader_killed_amid_a_probe_leaves_the_lease_with_its_holder,
        a_member_that_is_cut_off_serves_nothing_old_and_fails_in_time,
        without_a_quorum_there_is_an_error_in_time_and_with_one_all_is_as_it_was,
        more_dependencies_at_once_than_one_commit_takes_are_all_written,
        a_commit_whose_acknowledgement_is_lost_is_done_once_and_known_to_be,
        a_commit_that_did_not_arrive_is_sent_again_and_done_only_on_what_it_rests_on,
        a_commit_of_which_nothing_can_be_found_out_is_an_error_that_says_so,
        a_machine_whose_clock_is_off_is_refused_and_told_by_how_much,
        a_clock_within_the_bound_serves_and_does_not_turn_time_back,
        a_clock_that_steps_while_in_use_is_refused_at_once_and_served_when_it_is_right_again,
        a_record_dated_in_the_future_neither_stops_a_right_clock_nor_carries_it_along,
        a_lease_below_twice_the_bound_is_refused_wherever_it_comes_from,
        a_user_does_what_it_may_and_its_password_is_in_no_message,
        a_token_that_has_expired_is_had_anew,
        tls_with_certificates_of_both_sides_and_of_nobody_else,
    ])
}

fn options(address: &str) -> EtcdOptions {
    EtcdOptions::from_address(address).unwrap_or_else(|error| panic!("{address}: {error}"))
}

fn store(address: &str) -> Arc<EtcdStore> {
    Arc::new(EtcdStore::open(&options(address)).unwrap_or_else(|error| panic!("{address}: {error}")))
}

fn host(address: &str, policy: &halfopen::Policy) -> Host {
    let builder = Host::builder().address(address).default_policy(*policy).history(1_000_000);
    builder.build().unwrap_or_else(|error| panic!("a host on {address}: {error}"))
}
