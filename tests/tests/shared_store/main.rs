//! What must hold on every store that callers on many machines share. Tests of a store whose server the environment does
//! not name are ignored.

mod program;
mod slow;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use halfopen::conformance::obligations;
use halfopen::store;
use halfopen::{Mode, Outcome, StaleReason, Verdict};
use halfopen_replay::Replay;
use halfopen_tests::breakers::policy;
use halfopen_tests::gone;
use halfopen_tests::herd::{self, Place};
use halfopen_tests::process::play;
use halfopen_tests::scenarios;
use halfopen_tests::stores::{self, Kind};
use libtest_mimic::{Arguments, Trial};

/// A test that opens the store at an address by itself, and its name.
type Named = (&'static str, fn(&str));

fn main() -> ExitCode {
    play(&herd::ROLES);
    let of_kind = |kind: Kind| {
        let address = kind.address();
        let is_ignored = address.is_none();
        let trials = of_store(kind, &address.unwrap_or_default());
        trials.into_iter().map(move |trial| trial.with_ignored_flag(is_ignored))
    };
    let trials = stores::ALL.into_iter().flat_map(of_kind).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A herd, in a place of its own.
type Herd = fn(&Place);

fn of_store(kind: Kind, address: &str) -> Vec<Trial> {
    let mut trials = conformance(kind, address);
    let place = address.to_owned();
    let run: Arc<scenarios::Run> = Arc::new(move |scenario| {
        let place = place.clone();
        Ok(Replay::host(|host| host.native()).open_store(move || store::open(&place))?.run(scenario)?)
    });
    trials.extend(scenarios::trials(kind.name, run));
    let herds: [(&str, Herd); 5] = [
        ("of_a_thousand_callers_in_eight_processes_exactly_one_probes", |place| {
            herd::exactly_one_probes(place, 8, 125);
        }),
        ("fifty_failures_reported_at_once_by_five_processes_are_all_counted", |place| {
            herd::all_failures_are_counted(place, 5, 10);
        }),
        ("fifty_failures_reported_at_once_by_fifty_processes_are_all_counted", |place| {
            herd::all_failures_are_counted(place, 50, 1);
        }),
        ("of_fifty_failures_reported_at_once_the_last_trips_once", |place| {
            herd::the_last_failure_trips_once(place, 5, 10);
        }),
        ("ten_thousand_dependencies_used_once_can_be_pruned_and_what_was_out_stays_stale", prunes),
    ];
    trials.extend(herds.map(|(name, herd)| {
        let address = address.to_owned();
        let test = move || {
            let place = Place::at(&address);
            herd(&place);
            Ok(place.host(&halfopen::Policy::new()).remove_namespace()?)
        };
        Trial::test(name, test).with_kind(kind.name)
    }));
    let others: [Named; 5] = [
        ("the_program_runs_shows_and_replays_and_shows_no_password", program::runs_shows_and_replays),
        ("the_program_holds_no_connection_while_its_command_runs", program::holds_no_connection_while_the_command_runs),
        (
            "far_away_healthy_calls_wait_for_nothing_between_looks_and_all_are_counted",
            slow::healthy_calls_wait_for_nothing_between_looks_and_all_are_counted,
        ),
        (
            "far_away_healthy_calls_of_many_threads_go_on_while_it_says_nothing_and_all_are_counted",
            slow::healthy_calls_of_many_threads_go_on_while_it_says_nothing_and_all_are_counted,
        ),
        (
            "an_acquire_is_bounded_however_long_the_store_takes_and_it_comes_back_by_itself",
            slow::an_acquire_is_bounded_however_long_it_takes_and_it_comes_back_by_itself,
        ),
    ];
    trials.extend(others.map(|(name, other)| {
        let address = address.to_owned();
        let test = move || {
            other(&address);
            Ok(())
        };
        Trial::test(name, test).with_kind(kind.name)
    }));
    trials
}

fn prunes(place: &Place) {
    const GONE: usize = 10_000;
    let host = place.host(&policy());
    let permit = gone::use_once(&host, GONE);
    host.breaker("configured").configure(&policy().probes(2), "").unwrap();
    host.breaker("open").force(Mode::Open, None, "").unwrap();

    let pruned = host.prune(Duration::ZERO).unwrap();
    assert_eq!((pruned.removed, pruned.kept, pruned.failed), (GONE as u64, 2, Vec::new()));
    assert_eq!(host.list().unwrap(), ["configured", "open"]);
    for number in [0, GONE - 1] {
        let late = host.breaker(gone::name(number)).report(permit, Outcome::Failure).unwrap();
        assert_eq!(late.verdict, Verdict::Stale(StaleReason::OldEpoch));
    }
}

/// The suite, a test for each obligation.
fn conformance(kind: Kind, address: &str) -> Vec<Trial> {
    let of = |obligation: halfopen::conformance::Obligation| {
        let address = address.to_owned();
        let open = move || store::open(&address).unwrap_or_else(|error| panic!("the store does not open: {error}"));
        let check = move || obligation.check(&open).map_err(|broken| broken.to_string().into());
        Trial::test(obligation.name, check).with_kind(kind.name)
    };
    obligations().into_iter().map(of).collect()
}
