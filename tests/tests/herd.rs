//! Herds on one SQLite file.

use std::process::ExitCode;

use halfopen_tests::breakers::address;
use halfopen_tests::herd::{self, Place};
use halfopen_tests::process::play;
use halfopen_tests::{harness, tests};

fn main() -> ExitCode {
    play(&herd::ROLES);
    harness::run(tests![
        of_a_thousand_callers_in_eight_processes_exactly_one_probes,
        fifty_failures_reported_at_once_are_all_counted,
        of_fifty_failures_reported_at_once_exactly_the_last_one_trips,
    ])
}

fn in_a_file(test: impl FnOnce(&Place)) {
    let folder = tempfile::tempdir().unwrap();
    test(&Place::at(&address(&folder.path().join("shared.db"))));
}

fn of_a_thousand_callers_in_eight_processes_exactly_one_probes() {
    in_a_file(|place| herd::exactly_one_probes(place, 8, 125));
}

fn fifty_failures_reported_at_once_are_all_counted() {
    in_a_file(|place| herd::all_failures_are_counted(place, 5, 10));
}

fn of_fifty_failures_reported_at_once_exactly_the_last_one_trips() {
    in_a_file(|place| herd::exactly_the_last_failure_trips(place, 5, 10));
}
