//! PostgreSQL when things go wrong: nothing that was acknowledged is lost, nothing is called done that was not, and it
//! comes back by itself.

mod account;
mod answers;
mod outages;
mod refusals;
mod room;
mod server;
mod surroundings;

use std::process::ExitCode;

use halfopen_tests::{harness, tests};

fn main() -> ExitCode {
    if std::env::var_os(server::PROGRAMS).is_none_or(|programs| programs.is_empty()) {
        let hint = halfopen_tests::stores::POSTGRES.hint;
        eprintln!("NOT TESTED: PostgreSQL when things go wrong, as {} is not set; {hint}", server::PROGRAMS);
        return harness::run([]);
    }
    let answers = tests![
        answers::a_commit_whose_answer_was_lost_is_recognised,
        answers::a_commit_that_never_arrived_is_made,
        answers::a_commit_that_arrives_late_is_not_made_twice,
        answers::a_commit_whose_answer_was_lost_is_recognised_though_others_have_written_since,
        answers::a_commit_that_never_arrived_and_was_overtaken_is_stale,
        answers::a_commit_that_cannot_be_told_any_more_is_in_doubt,
        answers::a_commit_that_cannot_be_asked_about_is_in_doubt_in_bounded_time,
        answers::of_several_writes_each_is_recognised_for_itself,
    ];
    let outages = tests![
        outages::a_server_that_is_restarted_amid_work_loses_nothing,
        outages::a_server_that_crashes_amid_work_loses_nothing,
        outages::terminated_connections_are_replaced_and_everything_counts_once,
        outages::a_network_that_breaks_amid_work_loses_nothing,
        outages::a_slow_network_makes_it_slow_and_no_more,
        outages::a_store_that_is_opened_during_an_outage_comes_back_by_itself,
        outages::a_server_that_says_nothing_is_an_error_in_bounded_time,
    ];
    let refusals = tests![
        refusals::a_record_that_others_keep_locked_is_an_error_and_readable,
        refusals::where_transactions_are_serializable_everything_counts_once,
        refusals::a_database_that_is_made_read_only_refuses_writes_until_it_is_not,
        refusals::a_standby_is_refused_and_passed_over_for_the_primary,
        refusals::who_is_not_let_in_is_told_why_and_no_password,
        refusals::who_has_no_right_to_create_needs_none,
        refusals::a_schema_of_a_later_release_is_left_alone,
        refusals::certificates_are_checked_as_asked_for,
    ];
    let rest = tests![
        room::a_full_disk_is_an_error_and_loses_nothing,
        surroundings::many_who_open_an_empty_database_at_once_make_one_schema,
        surroundings::a_schema_that_was_dropped_is_made_anew,
        surroundings::it_may_be_called_from_inside_a_runtime,
        surroundings::the_time_is_that_of_the_database,
    ];
    harness::run(answers.into_iter().chain(outages).chain(refusals).chain(rest))
}
