//! Callers during an outage of the store and after it: on a SQLite file, and on the servers that the environment names.

mod acquires;
mod reports;
mod scene;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use acquires::*;
use reports::*;
use scene::Way;

macro_rules! named {
    ($($test:ident),+ $(,)?) => {
        [$((stringify!($test), $test as fn(&Way))),+]
    };
}

fn main() -> ExitCode {
    let tests = named![
        an_acquire_is_answered_in_time_and_the_host_comes_back,
        many_threads_at_once_are_all_answered_in_bounded_time,
        the_last_known_deferral_holds_for_the_rest_of_it,
        a_host_that_starts_in_an_outage_comes_up_by_itself,
        an_operators_act_fails_and_has_no_effect_later,
        a_failure_is_counted_after_the_outage_and_may_trip,
        outcomes_of_calls_from_memory_all_count_once,
        a_probes_success_closes_the_breaker_after_the_outage,
        a_dropped_probe_gives_its_lease_back_after_the_outage,
        a_probes_result_after_the_end_of_its_lease_changes_nothing,
        a_call_returns_its_own_result,
        a_host_that_closes_delivers_if_it_can_and_ends,
        a_plain_report_fails_and_is_left_to_its_caller,
    ];
    // Where a test can lose the answer to one commit.
    let of_lost_answers = named![an_outcome_in_doubt_is_not_counted_twice];
    let of_way = |way: Way| {
        let more = of_lost_answers.into_iter().filter(|_| way.is_postgres_cut());
        let tests = tests.into_iter().chain(more).collect::<Vec<_>>();
        tests.into_iter().map(move |(name, test)| {
            let (kind, is_given, way) = (way.name(), way.is_given(), way);
            Trial::test(name, move || {
                test(&way);
                Ok(())
            })
            .with_kind(kind)
            .with_ignored_flag(!is_given)
        })
    };
    libtest_mimic::run(&Arguments::from_args(), Way::all().into_iter().flat_map(of_way).collect()).exit_code()
}
