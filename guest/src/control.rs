//! The rules of `configure`, `force`, `reset`, `forget` and `prune`.

use alloc::string::String;

use crate::contract::{List, Maybe, Mode, Policy, Receipt, State as Kind, TransitionReason, Verdict};
use crate::record::{Hold, Manner, State, Wait};
use crate::turn::{Effect, Turn};

/// Gives the dependency a policy of its own, which has been found valid. The state is kept.
pub fn configure(turn: &mut Turn, policy: Policy) -> (Receipt, Effect) {
    if turn.policy == policy {
        return turn.applied(Effect::Keep);
    }
    turn.policy = policy;
    turn.record.policy = Some(policy);
    turn.fit_window();
    if let State::Open { wait: Wait::Length(length), .. } = &mut turn.record.state {
        *length = (*length).min(policy.open_max_ms);
    }
    turn.applied(Effect::Store)
}

/// Forces a state, or takes that back.
pub fn force(turn: &mut Turn, mode: Mode, lasting: Option<u64>, note: &str) -> (Receipt, Effect) {
    let hold = Hold { since: turn.now, lasting, note: String::from(note) };
    match (mode, &mut turn.record.state) {
        (Mode::Open, State::Open { wait: Wait::Forced(held), .. })
        | (Mode::Closed, State::Closed { manner: Manner::Forced(held), .. }) => *held = hold,
        (Mode::Open, _) => {
            turn.change(State::Open { since: turn.now, wait: Wait::Forced(hold) }, TransitionReason::Forced);
        }
        (Mode::Closed, _) => turn.close(Manner::Forced(hold), TransitionReason::Forced),
        (Mode::None, state) if state.hold().is_none() => return turn.applied(Effect::Keep),
        (Mode::None, _) => turn.lift_override(TransitionReason::OverrideRemoved),
    }
    turn.applied(Effect::Store)
}

/// Closes the breaker and lets it forget what was. The policy stays.
pub fn reset(turn: &mut Turn) -> (Receipt, Effect) {
    turn.record.level = 0;
    turn.record.opened_before = false;
    turn.close(Manner::Plain, TransitionReason::Reset);
    turn.applied(Effect::Store)
}

/// Removes the record. What follows it is closed and has no history.
pub fn forget() -> (Receipt, Effect) {
    let gone =
        Receipt { verdict: Verdict::Applied, state: Kind::Closed, next_due: Maybe::None, transitions: List::EMPTY };
    (gone, Effect::Remove)
}

/// Removes the record if nobody needs it.
pub fn prune(turn: &Turn, idle: u64) -> Effect {
    let plain = matches!(turn.record.state, State::Closed { .. }) && turn.record.state.hold().is_none();
    let unused = turn.record.written.is_some_and(|written| turn.now.saturating_sub(written) >= idle);
    match plain && unused && turn.record.policy.is_none() {
        true => Effect::Remove,
        false => Effect::Keep,
    }
}
