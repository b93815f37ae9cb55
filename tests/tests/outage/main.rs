//! What a caller may rely on while the store cannot be reached, and after it: on a SQLite file, and on the servers that the
//! environment names.

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
        an_acquire_is_answered_in_bounded_time_as_chosen_and_the_host_comes_back_by_itself,
        many_threads_that_ask_at_once_are_all_answered_in_bounded_time,
        what_was_last_known_of_an_open_breaker_holds_for_what_is_left_of_it,
        what_operators_do_is_an_error_and_takes_no_effect_later,
        a_failure_is_counted_after_it_and_may_trip,
        outcomes_of_calls_that_memory_admits_all_count_after_it_once,
        a_probes_success_closes_the_breaker_after_it,
        a_probe_that_is_given_up_in_it_gives_its_lease_back_after_it,
        a_probes_result_after_the_end_of_its_lease_changes_nothing,
        a_call_returns_its_own_result,
        a_host_that_closes_in_it_ends_and_after_it_has_told_everything,
        a_plain_report_is_an_error_and_is_left_to_who_made_it,
    ];
    // Where a test can lose the answer to one commit.
    let of_lost_answers = named![what_may_have_been_counted_is_not_counted_twice];
    let of_way = |way: Way| {
        let more = of_lost_answers.into_iter().filter(|_| way.is_postgres_cut());
        let tests = tests.into_iter().chain(more).collect::<Vec<_>>();
        tests.into_iter().map(move |(name, test)| {
            let (kind, way) = (way.name(), way.clone());
            Trial::test(name, move || {
                test(&way);
                Ok(())
            })
            .with_kind(kind)
        })
    };
    libtest_mimic::run(&Arguments::from_args(), Way::all().into_iter().flat_map(of_way).collect()).exit_code()
}
