//! etcd on real servers: the conformance suite, and what the store promises when something fails. The servers are
//! started from the program that `HALFOPEN_TEST_ETCD_BIN` names; without it the tests are ignored.

mod account;
mod cluster;
mod conformance;
mod lossy;
mod lost;
mod options;
mod partition;
mod patience;
mod secure;
mod server;
mod skew;

use std::process::ExitCode;
use std::sync::Arc;

use halfopen_etcd::{EtcdOptions, EtcdStore};
use libtest_mimic::{Arguments, Trial};

macro_rules! tests {
    ($($part:ident::$name:ident),+ $(,)?) => {
        [$((concat!(stringify!($part), "::", stringify!($name)), $part::$name as fn())),+]
    };
}

fn main() -> ExitCode {
    let without_server = tests![
        options::an_address_gives_members_user_and_prefix,
        options::the_scheme_gives_tls_and_parameters_its_files,
        options::a_mistake_in_an_address_is_named_without_password,
        options::the_password_is_not_shown,
        options::a_server_that_is_no_etcd_is_named_in_time,
    ];
    let with_server = tests![
        conformance::the_store_meets_every_obligation,
        conformance::one_instance_meets_every_obligation,
        conformance::a_long_history_is_cut_and_leaves_few_keys,
        conformance::compaction_leaves_a_thousand_removed_records,
        conformance::a_commit_takes_max_records_and_no_more,
        conformance::a_later_format_and_a_foreign_value_are_left_alone,
        cluster::a_killed_leader_loses_no_commit,
        cluster::a_leader_that_is_cut_off_loses_no_commit,
        cluster::a_frozen_leader_loses_no_commit,
        cluster::a_member_that_is_cut_off_serves_no_old_record,
        cluster::without_a_quorum_operations_fail_in_time,
        lost::a_commit_whose_answer_is_lost_is_done_once_and_known,
        lost::a_lost_request_is_sent_again_and_compares_again,
        lost::a_commit_that_cannot_be_looked_up_is_in_doubt,
        skew::a_wrong_clock_is_refused_with_its_offset,
        skew::a_clock_within_the_bound_serves_and_turns_no_time_back,
        skew::a_clock_that_steps_is_refused_until_it_is_right_again,
        skew::a_record_from_the_future_leaves_a_right_clock_alone,
        secure::a_user_has_its_rights_and_its_password_is_in_no_message,
        secure::an_expired_token_is_replaced,
        secure::tls_accepts_the_certificates_of_both_sides_alone,
    ];
    let has_server = std::env::var_os(server::BINARY).is_some_and(|binary| !binary.is_empty());
    let trial = |(name, test): (&'static str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let with_server = with_server.into_iter().map(|test| trial(test).with_ignored_flag(!has_server));
    let trials = without_server.into_iter().map(trial).chain(with_server).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn options(address: &str) -> EtcdOptions {
    EtcdOptions::from_address(address).unwrap_or_else(|error| panic!("{address}: {error}"))
}

fn store(address: &str) -> Arc<EtcdStore> {
    Arc::new(EtcdStore::open(address).unwrap_or_else(|error| panic!("{address}: {error}")))
}
