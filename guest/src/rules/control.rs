//! The rules of `configure`, `force`, `reset`, `forget` and `prune`.

use super::evaluation::{Effect, Evaluation};
use crate::contract::{Mode, Operator, Receipt, State as ContractState, Verdict};
use crate::policy::Policy;
use crate::record::{ClosedMode, Details, OpenEnd, Override, Reason, State};

/// Gives the dependency a policy of its own, or with none takes it back. The state is kept.
pub fn configure(eval: &mut Evaluation, own: Option<Policy>, operator: &Operator) -> (Receipt, Effect) {
    let policy = own.unwrap_or(eval.default);
    if eval.policy != policy {
        eval.policy = policy;
        eval.record.policy = own;
        eval.fit_window();
        if let State::Open { end: OpenEnd::Length(length), .. } = &mut eval.record.state {
            *length = (*length).min(policy.open_max_ms);
        }
        eval.note(Reason::Configured, Details::operator(operator));
        return (eval.applied(), Effect::Store);
    }
    // An equal policy changes nothing, but one of its own that equals the default is taken back all the same.
    let taken_back = own.is_none() && eval.record.policy.take().is_some();
    (eval.applied(), if taken_back { Effect::Store } else { Effect::Keep })
}

/// Forces a state, or takes an override back.
pub fn force(eval: &mut Evaluation, mode: Mode, lasting: Option<u64>, operator: &Operator) -> (Receipt, Effect) {
    let details = Details::operator(operator);
    let new = Override { since: eval.now, lasting, by: details.by.clone(), note: details.note.clone() };
    match (mode, &mut eval.record.state) {
        (Mode::Open, State::Open { end: OpenEnd::Forced(forced), .. })
        | (Mode::Closed, State::Closed { mode: ClosedMode::Forced(forced), .. }) => {
            *forced = new;
            eval.note(Reason::Forced, details);
        }
        (Mode::Open, _) => {
            let state = State::Open { since: eval.now, end: OpenEnd::Forced(new) };
            eval.change(state, Reason::Forced, details);
        }
        (Mode::Closed, _) => eval.close(ClosedMode::Forced(new), Reason::Forced, details),
        (Mode::None, state) if state.forced().is_none() => return (eval.applied(), Effect::Keep),
        (Mode::None, _) => eval.lift_override(Reason::OverrideRemoved, details),
    }
    (eval.applied(), Effect::Store)
}

/// Closes the breaker and lets it forget its past. The policy stays.
pub fn reset(eval: &mut Evaluation, operator: &Operator) -> (Receipt, Effect) {
    eval.record.level = 0;
    eval.record.opened_before = false;
    eval.record.last_failure = None;
    eval.close(ClosedMode::Plain, Reason::Reset, Details::operator(operator));
    (eval.applied(), Effect::Store)
}

/// Removes the record. Its successor is closed and has no history.
pub fn forget(eval: &mut Evaluation, operator: &Operator) -> (Receipt, Effect) {
    if eval.is_stored {
        eval.note(Reason::Forgotten, Details::operator(operator));
    }
    let receipt = Receipt { verdict: Verdict::Applied, state: ContractState::Closed, next_due: None };
    (receipt, Effect::Remove)
}

/// Removes the record if it is no longer used: nothing was written to it for `idle` ms or longer.
pub fn prune(eval: &mut Evaluation, idle: u64, operator: &Operator) -> Effect {
    let record = &eval.record;
    let is_plain = matches!(record.state, State::Closed { .. }) && record.state.forced().is_none();
    let is_idle = record.written.is_some_and(|written| eval.now.saturating_sub(written) >= idle);
    if is_plain && is_idle && record.policy.is_none() {
        eval.note(Reason::Forgotten, Details::operator(operator));
        Effect::Remove
    } else {
        Effect::Keep
    }
}
