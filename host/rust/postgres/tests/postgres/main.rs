//! PostgreSQL on real servers: the conformance suite, and what the store promises when something fails. The servers are
//! started from the programs in `HALFOPEN_TEST_POSTGRES_BIN`; without it the tests are ignored.

mod account;
mod answers;
mod conformance;
mod options;
mod outages;
mod patience;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../../../../tests/src/proxy.rs"]
mod proxy;
mod refusals;
mod room;
mod server;
mod surroundings;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

macro_rules! tests {
    ($($part:ident::$name:ident),+ $(,)?) => {
        [$((concat!(stringify!($part), "::", stringify!($name)), $part::$name as fn())),+]
    };
}

fn main() -> ExitCode {
    let without_server = tests![
        options::an_address_gives_the_options_and_the_rest_are_defaults,
        options::a_password_is_shown_nowhere,
        options::a_place_names_every_host,
        options::a_mistake_in_an_address_is_named,
    ];
    let with_server = tests![
        conformance::the_store_meets_every_obligation,
        conformance::one_instance_meets_every_obligation,
        conformance::a_database_in_another_encoding_meets_every_obligation,
        answers::a_commit_whose_answer_was_lost_is_recognised,
        answers::a_commit_that_never_arrived_is_made,
        answers::a_commit_that_arrives_late_is_not_made_twice,
        answers::a_lost_answer_is_recognised_after_later_writes,
        answers::a_commit_that_never_arrived_and_was_overtaken_is_stale,
        answers::a_commit_with_too_many_writes_after_it_is_in_doubt,
        answers::a_commit_without_any_answer_is_in_doubt_in_time,
        answers::each_of_several_writes_is_recognised_for_itself,
        outages::a_server_that_restarts_during_work_loses_nothing,
        outages::a_server_that_crashes_during_work_loses_nothing,
        outages::terminated_connections_are_replaced,
        outages::connections_terminated_during_work_lose_nothing,
        outages::a_network_that_breaks_during_work_loses_nothing,
        outages::a_slow_network_slows_the_store_and_no_more,
        outages::a_store_opened_during_an_outage_recovers,
        outages::a_silent_server_is_an_error_in_bounded_time,
        refusals::a_locked_record_is_an_error_and_readable,
        refusals::serializable_transactions_count_everything_once,
        refusals::a_read_only_database_refuses_writes_until_it_is_not,
        refusals::a_standby_is_refused_and_passed_over,
        refusals::a_refused_user_learns_why_and_no_password,
        refusals::a_user_without_the_right_to_create_needs_none,
        refusals::a_schema_of_a_later_release_is_left_alone,
        refusals::certificates_are_checked_as_sslmode_says,
        surroundings::many_openers_of_an_empty_database_make_one_schema,
        surroundings::a_dropped_schema_is_made_anew,
        surroundings::the_store_works_inside_a_runtime,
        surroundings::the_time_is_that_of_the_database,
    ];
    let has_server = std::env::var_os(server::PROGRAMS).is_some_and(|programs| !programs.is_empty());
    let trial = |(name, test): (&'static str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let with_server = with_server.into_iter().map(|test| trial(test).with_ignored_flag(!has_server));
    let [full_disk] = tests![room::a_full_disk_is_an_error_and_loses_nothing];
    let with_mount = trial(full_disk).with_ignored_flag(!has_server || !room::can_mount());
    let trials = without_server.into_iter().map(trial).chain(with_server).chain([with_mount]).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
