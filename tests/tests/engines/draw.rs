//! Traces, drawn at random: mostly what makes sense, sometimes what makes none.

use std::sync::Arc;

use halfopen_contract::engine::Operation;
use halfopen_contract::types::{Mode, Operator, Outcome, Permit, Report, Tally};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::policies;

/// A step of a trace.
#[derive(Clone, Debug)]
pub enum Deed {
    /// The clock is set.
    Clock(u64),
    /// This time passes, in ms.
    Later(u64),
    /// The record of a dependency becomes these bytes.
    Damage(String, Vec<u8>),
    /// An operation. Its permit is replaced by one of those that were given, where `given` says so.
    Operation { dependency: String, operation: Operation, given: Option<usize> },
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
pub fn instant() -> impl Strategy<Value = u64> {
    prop_oneof![12 => 1_000_u64..1_200, 4 => 1_000_u64..20_000, 1 => number()]
}

pub fn dependency() -> impl Strategy<Value = String> {
    prop_oneof![
        60 => Just("a".to_owned()),
        10 => Just("b".to_owned()),
        3 => Just("платежи:eu / 1".to_owned()),
        1 => (250_usize..260).prop_map(|length| "x".repeat(length)),
        1 => (120_usize..130).prop_map(|length| "é".repeat(length)),
        1 => Just(String::new()),
        1 => select(vec!["a\nb", "\0", "a\u{7f}", "\u{9f}"]).prop_map(str::to_owned),
    ]
}

/// A caller, a cause, an operator or a note.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z]{0,8}",
        2 => (125_usize..132).prop_map(|length| "n".repeat(length)),
        1 => (63_usize..66).prop_map(|length| "é".repeat(length)),
        1 => any::<String>(),
    ]
}

fn operator() -> impl Strategy<Value = Operator> {
    (text(), text()).prop_map(|(by, note)| Operator { by, note })
}

fn permit() -> impl Strategy<Value = Permit> {
    (number(), option::of(number())).prop_map(|(epoch, lease)| Permit { epoch, lease })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => Just(Outcome::Success),
        4 => Just(Outcome::Failure),
        1 => Just(Outcome::Timeout),
        1 => Just(Outcome::Ignored),
    ]
}

fn report() -> impl Strategy<Value = Report> {
    (outcome(), option::of(number()), text(), text(), option::of(number()))
        .prop_map(|(outcome, took, caller, cause, retry_after)| Report { outcome, took, caller, cause, retry_after })
}

fn tally() -> impl Strategy<Value = Tally> {
    let counts = (number(), number(), number(), number());
    (counts, text(), text(), option::of(number())).prop_map(|(counts, caller, cause, retry_after)| {
        let (successes, slow_successes, failures, slow_failures) = counts;
        Tally { successes, slow_successes, failures, slow_failures, caller, cause, retry_after }
    })
}

/// An operation, with a permit that is made up.
pub fn operation() -> impl Strategy<Value = Operation> {
    let policy = option::weighted(0.8, policies::text());
    prop_oneof![
        300 => text().prop_map(|caller| Operation::Acquire { caller: caller.into() }),
        300 => (permit(), report()).prop_map(|(permit, report)| Operation::Report { permit, report }),
        40 => (permit(), tally()).prop_map(|(permit, tally)| Operation::ReportTally { permit, tally }),
        50 => permit().prop_map(|permit| Operation::Renew { permit }),
        40 => permit().prop_map(|permit| Operation::Release { permit }),
        50 => Just(Operation::Inspect),
        10 => Just(Operation::Policy),
        30 => (policy, operator()).prop_map(|(policy, operator)| {
            Operation::Configure { policy: policy.map(Arc::from), operator }
        }),
        30 => (select(vec![Mode::Open, Mode::Closed, Mode::None]), option::of(number()), operator())
            .prop_map(|(mode, lasting, operator)| Operation::Force { mode, lasting, operator }),
        10 => operator().prop_map(|operator| Operation::Reset { operator }),
        5 => operator().prop_map(|operator| Operation::Forget { operator }),
        10 => (number(), operator()).prop_map(|(idle, operator)| Operation::Prune { idle, operator }),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    let given = prop_oneof![6 => Just(Some(0)), 3 => (1_usize..6).prop_map(Some), 1 => Just(None)];
    let operation = (dependency(), operation(), given).prop_map(|(dependency, operation, given)| Deed::Operation {
        dependency,
        operation,
        given,
    });
    prop_oneof![
        50 => instant().prop_map(Deed::Clock),
        200 => (0_u64..60).prop_map(Deed::Later),
        875 => operation,
        3 => (dependency(), vec(any::<u8>(), 0..40)).prop_map(|(dependency, bytes)| Deed::Damage(dependency, bytes)),
    ]
}

/// A trace of at most this number of steps.
pub fn trace(most: usize) -> impl Strategy<Value = Vec<Deed>> {
    vec(deed(), 0..most)
}
