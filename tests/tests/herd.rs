//! Herds on one SQLite file.

use std::process::ExitCode;

use halfopen_tests::breakers::address;
use halfopen_tests::herd::{self, Place};
use halfopen_tests::process::play;
use halfopen_tests::{harness, tests};

/// Asking every time, and answering from memory.
const FRESH_MS: [u64; 2] = [0, 250];

fn main() -> ExitCode {
    play(&herd::ROLES);
    harness::run(tests![
        of_a_thousand_callers_in_eight_processes_exactly_one_probes,
        fifty_failures_reported_at_once_are_all_counted,
        of_fifty_failures_reported_at_once_the_last_trips_once,
        successes_counted_in_memory_are_in_the_file_when_their_processes_have_ended,
    ])
}

fn in_a_file(fresh_ms: &[u64], test: impl Fn(&Place)) {
    for fresh_ms in fresh_ms {
        let folder = tempfile::tempdir().unwrap();
        test(&Place { fresh_ms: *fresh_ms, ..Place::at(&address(&folder.path().join("shared.db"))) });
    }
}

fn of_a_thousand_callers_in_eight_processes_exactly_one_probes() {
    in_a_file(&FRESH_MS, |place| herd::exactly_one_probes(place, 8, 125));
}

fn fifty_failures_reported_at_once_are_all_counted() {
    in_a_file(&FRESH_MS, |place| herd::all_failures_are_counted(place, 5, 10));
}

fn of_fifty_failures_reported_at_once_the_last_trips_once() {
    in_a_file(&FRESH_MS, |place| herd::the_last_failure_trips_once(place, 5, 10));
}

fn successes_counted_in_memory_are_in_the_file_when_their_processes_have_ended() {
    in_a_file(&FRESH_MS[1..], |place| herd::all_successes_are_counted(place, 5, 10));
}
