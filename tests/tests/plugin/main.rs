//! The component in a platform's own wasmtime: its engine, its linker, its stores.

use std::process::ExitCode;

use halfopen_tests::tests;
use libtest_mimic::{Arguments, Trial};

mod at_once;
mod faults;
mod herd;
mod limits;
mod platform;
mod races;
mod replays;
mod versions;
#[path = "../component/hostile/wat.rs"]
#[allow(dead_code)]
mod wat;
mod wrapped;

fn main() -> ExitCode {
    let tests = tests![
        at_once::a_commit_is_in_the_store_before_the_call_answers,
        at_once::without_that_mode_calls_that_no_handle_makes_are_refused,
        at_once::a_lost_race_is_decided_again_by_the_component,
        at_once::a_record_that_others_always_write_first_is_contended,
        at_once::a_failing_store_is_a_typed_error_that_does_not_tell_where_it_is,
        at_once::a_commit_stays_where_the_call_then_traps,
        at_once::the_stores_clock_goes_before_the_contexts,
        at_once::versions_at_the_end_of_all_numbers_are_refused_and_never_panic,
        at_once::a_store_whose_clocks_may_be_apart_is_refused,
        at_once::operations_of_a_handle_are_held_all_the_same,
        at_once::async_calls_do_not_block_the_executor,
        faults::what_a_call_committed_before_it_trapped_is_dropped,
        faults::what_a_call_committed_before_it_answered_an_error_is_dropped,
        faults::after_a_trap_the_handle_is_spent_and_says_what_to_do,
        faults::a_pool_throws_the_store_of_a_trap_away_and_the_next_call_works,
        faults::a_call_reaches_the_record_of_its_own_dependency_only,
        faults::a_failing_store_is_a_typed_error_and_the_instance_serves_on,
        faults::a_failing_store_is_a_typed_error_in_async_code,
        faults::a_damaged_record_is_told_and_can_be_reset,
        faults::bad_input_is_refused_and_changes_nothing,
        faults::an_invalid_default_policy_is_refused_with_all_its_faults,
        faults::a_lease_that_is_too_short_for_the_stores_clocks_is_refused,
        faults::a_future_that_is_dropped_while_the_component_runs_leaves_the_handle_spent,
        herd::of_many_threads_with_a_store_each_exactly_one_probes,
        herd::of_many_async_tasks_exactly_one_probes,
        herd::failures_reported_at_once_are_all_counted,
        limits::fuel_that_is_used_up_is_a_typed_error,
        limits::an_epoch_that_has_passed_is_a_typed_error,
        limits::a_pool_sets_the_limits_of_each_call,
        limits::the_pooling_allocator_takes_no_more_than_the_documentation_says,
        limits::the_pooling_allocator_takes_no_less_than_the_documentation_says,
        limits::an_allocator_that_is_full_is_a_typed_error,
        limits::a_linker_without_the_imports_is_told_what_to_call,
        limits::an_engine_that_cannot_run_components_is_told_what_it_needs,
        limits::async_imports_in_a_call_that_is_not_async_are_a_typed_error,
        races::a_lost_race_is_decided_again_on_the_record_that_is_there_now,
        races::a_lost_race_is_decided_again_in_async_code,
        races::the_stores_clock_goes_before_the_contexts,
        races::a_probe_that_arrives_after_its_lease_is_asked_for_anew,
        races::async_operations_do_not_block_the_executor,
        races::a_platform_and_a_host_share_records_and_leases,
        races::namespaces_are_kept_apart,
        versions::another_release_of_the_contract_is_linked_by_the_same_names,
        versions::another_version_of_the_contract_is_refused,
        versions::a_component_that_imports_more_is_refused_also_where_the_linker_has_it,
    ];
    let test = |(name, test): (&str, fn())| {
        Trial::test(name.replace(char::is_whitespace, ""), move || {
            test();
            Ok(())
        })
    };
    let trials = tests.into_iter().map(test).chain(replays::trials()).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
