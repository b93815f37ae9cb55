//! What is asked, drawn at random: mostly what makes sense, sometimes what makes none.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use halfopen::{
    Admission, Deferral, FailureRate, Inspection, LostProbe, Mode, Outcome, Permit, Policy, PolicyFault, PolicyInForce,
    Ramp, Receipt, SlowCalls, Tally, Window,
};

/// Something asked about a dependency.
#[derive(Clone, Debug)]
pub struct Deed {
    pub dependency: String,
    pub asked: Asked,
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum Asked {
    /// The clock steps to an instant.
    Clock(u64),
    /// So many ms pass.
    Later(u64),
    /// The record becomes these bytes.
    Damage(Vec<u8>),
    Acquire(String),
    Report(Which, Outcome, Option<u64>),
    ReportTally(Which, Tally),
    Renew(Which),
    Release(Which),
    Inspect,
    Policy,
    Configure(Policy),
    Force(Mode, Option<u64>, String),
    Reset,
    Forget,
    Prune(u64),
}

/// Which permit.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    /// The so many-th from the end of those that were given, to whatever dependency; where there is none, this one.
    Given(usize, Permit),
    /// One that is made up.
    MadeUp(Permit),
}

/// What is answered, or why it came to nothing.
pub type Outcomes = Result<Answered, Refused>;

#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    Proceed(Admission),
    Probe { permit: Permit, expires_in: u64, slower_than: Option<u64> },
    Defer(Deferral),
    Receipt(Receipt),
    Inspection(Inspection),
    Policy(PolicyInForce),
    Pruned(bool),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    Dependency(String),
    Policy(Vec<PolicyFault>),
    Argument(String),
    NewerVersion,
    Corrupt,
    Other(String),
}

impl Answered {
    /// The permit that was given.
    pub fn permit(&self) -> Option<Permit> {
        match self {
            Answered::Proceed(admission) => Some(admission.permit),
            Answered::Probe { permit, .. } => Some(*permit),
            Answered::Defer(deferral) => deferral.admission.map(|admission| admission.permit),
            _ => None,
        }
    }
}

impl Which {
    pub fn among(self, given: &[Permit]) -> Permit {
        match self {
            Which::Given(back, other) => given.iter().rev().nth(back).copied().unwrap_or(other),
            Which::MadeUp(permit) => permit,
        }
    }
}

/// A number that may be at any of the places where numbers go wrong.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0_u64..20,
        2 => 0_u64..10_000,
        1 => Just(u64::MAX),
        1 => Just(u64::MAX - 1),
        1 => Just(i64::MAX as u64),
        1 => any::<u64>(),
    ]
}

/// An instant: mostly near the others, so that deadlines are met.
fn instant() -> impl Strategy<Value = u64> {
    prop_oneof![
        12 => 1_000_u64..1_200,
        4 => 1_000_u64..20_000,
        1 => number(),
    ]
}

fn length(least: u64) -> impl Strategy<Value = u64> {
    prop_oneof![8 => least..50, 2 => least..10_000, 1 => Just(2_592_000_000_u64)]
}

fn wild_length() -> impl Strategy<Value = u64> {
    prop_oneof![length(0), Just(2_592_000_001_u64), number()]
}

fn wild_count() -> impl Strategy<Value = u32> {
    prop_oneof![0_u32..5, Just(100_u32), Just(101_u32), Just(1_000_000_u32), Just(1_000_001_u32), any::<u32>()]
}

fn lost_probe() -> impl Strategy<Value = LostProbe> {
    prop_oneof![Just(LostProbe::Reprobe), Just(LostProbe::Reopen)]
}

/// A valid policy, small enough that something happens under it.
pub fn policy() -> impl Strategy<Value = Policy> {
    let trips =
        (
            0_u32..5,
            option::of(
                (1_u32..=100, 1_u32..5).prop_map(|(percent, minimum_calls)| FailureRate { percent, minimum_calls }),
            ),
            option::of((1_u64..100, 1_u32..=100, 1_u32..5).prop_map(|(slower_than_ms, percent, minimum_calls)| {
                SlowCalls { slower_than_ms, percent, minimum_calls }
            })),
            prop_oneof![
                (1_u64..200).prop_map(|tens| Window::Ms(tens * 10)),
                Just(Window::Ms(86_400_000)),
                (1_u32..20).prop_map(Window::Calls),
                Just(Window::Calls(1_000)),
            ],
        );
    let opens =
        (length(1), length(0), prop_oneof![Just(1.0), Just(2.0), Just(100.0), 1.0..100.0], 0_u32..=100, length(0));
    let probes = (length(1), length(0), 1_u32..4, 1_u32..4, lost_probe());
    let after = (option::of((length(1), 0_u32..=100)), length(0));
    (trips, opens, probes, after).prop_map(|(trips, opens, probes, after)| Policy {
        consecutive_failures: trips.0,
        failure_rate: trips.1,
        slow_calls: trips.2,
        window: trips.3,
        open_ms: opens.0,
        open_multiplier: opens.2,
        open_max_ms: (opens.0 + opens.1).min(2_592_000_000),
        jitter_percent: opens.3,
        stable_after_ms: opens.4,
        lease_ms: probes.0,
        probe_max_ms: (probes.0 + probes.1).min(2_592_000_000),
        probes: probes.2,
        successes_to_close: probes.3,
        lost_probe: probes.4,
        ramp: after.0.map(|(over_ms, from_percent)| Ramp { over_ms, from_percent }),
        fresh_ms: after.1,
    })
}

/// A policy of any numbers at all.
pub fn wild_policy() -> impl Strategy<Value = Policy> {
    let multiplier = prop_oneof![
        3 => 1.0..100.0,
        1 => any::<f64>(),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(-0.0),
        1 => Just(0.999_999_999_999_999_9),
        1 => Just(100.000_000_000_000_02),
    ];
    let trips = (
        wild_count(),
        option::of((wild_count(), wild_count())),
        option::of((wild_length(), wild_count(), wild_count())),
        prop_oneof![wild_length().prop_map(Window::Ms), wild_count().prop_map(Window::Calls)],
    );
    let opens = (wild_length(), wild_length(), multiplier, wild_count(), wild_length());
    let probes = (wild_length(), wild_length(), wild_count(), wild_count(), lost_probe());
    let after = (option::of((wild_length(), wild_count())), wild_length());
    (trips, opens, probes, after).prop_map(|(trips, opens, probes, after)| Policy {
        consecutive_failures: trips.0,
        failure_rate: trips.1.map(|(percent, minimum_calls)| FailureRate { percent, minimum_calls }),
        slow_calls: trips.2.map(|(slower_than_ms, percent, minimum_calls)| SlowCalls {
            slower_than_ms,
            percent,
            minimum_calls,
        }),
        window: trips.3,
        open_ms: opens.0,
        open_multiplier: opens.2,
        open_max_ms: opens.1,
        jitter_percent: opens.3,
        stable_after_ms: opens.4,
        lease_ms: probes.0,
        probe_max_ms: probes.1,
        probes: probes.2,
        successes_to_close: probes.3,
        lost_probe: probes.4,
        ramp: after.0.map(|(over_ms, from_percent)| Ramp { over_ms, from_percent }),
        fresh_ms: after.1,
    })
}

fn dependency() -> impl Strategy<Value = String> {
    prop_oneof![
        60 => Just("a".to_owned()),
        10 => Just("b".to_owned()),
        3 => Just("платежи:eu / 1".to_owned()),
        1 => (250_usize..260).prop_map(|length| "x".repeat(length)),
        1 => (120_usize..130).prop_map(|length| "é".repeat(length)),
        1 => Just(String::new()),
        1 => prop_oneof![Just("a\nb"), Just("\0"), Just("a\u{7f}"), Just("\u{9f}")].prop_map(str::to_owned),
    ]
}

fn text(most: usize) -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z]{0,8}",
        2 => (most - 3..most + 3).prop_map(|length| "n".repeat(length)),
        1 => (most / 2 - 1..most / 2 + 2).prop_map(|length| "é".repeat(length)),
        1 => any::<String>(),
    ]
}

fn permit() -> impl Strategy<Value = Permit> {
    (number(), option::of(number())).prop_map(|(epoch, lease)| Permit { epoch, lease })
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        6 => permit().prop_map(|other| Which::Given(0, other)),
        3 => (1_usize..6, permit()).prop_map(|(back, other)| Which::Given(back, other)),
        1 => permit().prop_map(Which::MadeUp),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => Just(Outcome::Success),
        4 => Just(Outcome::Failure),
        1 => Just(Outcome::Timeout),
        1 => Just(Outcome::Ignored),
    ]
}

fn tally() -> impl Strategy<Value = Tally> {
    (number(), number(), number(), number()).prop_map(|(successes, slow_successes, failures, slow_failures)| Tally {
        successes,
        slow_successes,
        failures,
        slow_failures,
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Open), Just(Mode::Closed), Just(Mode::None)]
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![
        50 => instant().prop_map(Asked::Clock),
        200 => (0_u64..60).prop_map(Asked::Later),
        300 => text(64).prop_map(Asked::Acquire),
        300 => (which(), outcome(), option::of(number())).prop_map(|(which, end, took)| Asked::Report(which, end, took)),
        40 => (which(), tally()).prop_map(|(which, tally)| Asked::ReportTally(which, tally)),
        50 => which().prop_map(Asked::Renew),
        40 => which().prop_map(Asked::Release),
        50 => Just(Asked::Inspect),
        10 => Just(Asked::Policy),
        30 => prop_oneof![3 => policy(), 1 => wild_policy()].prop_map(Asked::Configure),
        30 => (mode(), option::of(number()), text(100)).prop_map(|(mode, lasting, note)| Asked::Force(mode, lasting, note)),
        10 => Just(Asked::Reset),
        5 => Just(Asked::Forget),
        10 => number().prop_map(Asked::Prune),
        3 => vec(any::<u8>(), 0..40).prop_map(Asked::Damage),
    ]
}

/// So many deeds at most.
pub fn deeds(most: usize) -> impl Strategy<Value = Vec<Deed>> {
    vec((dependency(), asked()).prop_map(|(dependency, asked)| Deed { dependency, asked }), 0..most)
}
