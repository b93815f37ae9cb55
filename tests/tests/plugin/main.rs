//! The component in a platform's own wasmtime: its engine, its linker, its stores.

use std::process::ExitCode;

use halfopen_tests::tests;
use libtest_mimic::{Arguments, Trial};

mod faults;
mod herd;
mod limits;
mod platform;
mod races;
mod replays;
mod versions;
#[path = "../component/hostile/wat/mod.rs"]
#[allow(dead_code)]
mod wat;
mod wrapped;
mod write_through;

fn main() -> ExitCode {
    let tests = tests![
        write_through::a_commit_is_in_the_store_before_the_call_answers,
        write_through::held_commits_refuse_calls_outside_an_operation,
        write_through::the_component_evaluates_again_after_a_lost_race,
        write_through::a_race_that_is_always_lost_is_contended,
        write_through::a_failing_store_is_a_typed_error_without_its_address,
        write_through::a_commit_stays_where_the_call_then_traps,
        write_through::the_stores_clock_goes_before_the_contexts,
        write_through::versions_at_the_end_of_all_numbers_are_refused,
        write_through::a_store_whose_clocks_may_be_apart_is_refused,
        write_through::operations_of_a_handle_are_held_all_the_same,
        write_through::async_calls_do_not_block_the_executor,
        faults::a_commit_before_a_trap_is_dropped,
        faults::a_commit_before_an_error_is_dropped,
        faults::after_a_trap_the_handle_is_spent_and_says_what_to_do,
        faults::a_pool_discards_the_store_of_a_trap_and_serves_on,
        faults::documents_that_are_none_break_the_contract,
        faults::a_call_reaches_the_record_of_its_own_dependency_only,
        faults::a_failing_store_is_a_typed_error_and_the_instance_serves_on,
        faults::a_failing_store_is_a_typed_error_in_async_code,
        faults::a_damaged_record_is_an_error_and_can_be_reset,
        faults::bad_input_is_refused_and_changes_nothing,
        faults::an_invalid_default_policy_is_refused_with_all_its_faults,
        faults::a_lease_that_is_too_short_for_the_stores_clocks_is_refused,
        faults::a_future_dropped_while_the_component_runs_spends_the_handle,
        herd::of_many_threads_with_a_store_each_exactly_one_probes,
        herd::of_many_async_tasks_exactly_one_probes,
        herd::failures_reported_at_once_are_all_counted,
        limits::fuel_that_is_used_up_is_a_typed_error,
        limits::an_epoch_that_has_passed_is_a_typed_error,
        limits::a_pool_sets_the_limits_of_each_call,
        limits::the_pooling_allocator_needs_no_more_than_is_documented,
        limits::the_pooling_allocator_needs_no_less_than_is_documented,
        limits::an_allocator_that_is_full_is_a_typed_error,
        limits::an_error_without_imports_names_the_function_to_call,
        limits::an_error_of_an_engine_names_its_needs,
        limits::async_imports_in_a_call_that_is_not_async_are_a_typed_error,
        races::a_lost_race_is_evaluated_again_on_the_new_record,
        races::a_lost_race_is_evaluated_again_in_async_code,
        races::the_stores_clock_goes_before_the_contexts,
        races::a_probe_that_arrives_after_its_lease_is_acquired_again,
        races::async_operations_do_not_block_the_executor,
        races::a_platform_and_a_host_share_records_and_leases,
        races::namespaces_are_kept_apart,
        versions::another_release_of_the_contract_is_linked_by_the_same_names,
        versions::another_version_of_the_contract_is_refused,
        versions::foreign_imports_are_refused_even_where_the_linker_has_them,
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
