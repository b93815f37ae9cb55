//! The reasons for which a report counts for nothing.

use super::evaluation::Evaluation;
use crate::contract::StaleReason;
use crate::record::State;

/// Why a report with a lease counts for nothing: the first reason that fits.
pub fn stale_lease(eval: &Evaluation, epoch: u64, token: u64) -> Option<StaleReason> {
    let record = &eval.record;
    if record.state.forced().is_some() {
        return Some(StaleReason::Forced);
    }
    if record.settled == Some(token) {
        return Some(StaleReason::AlreadyReported);
    }
    match record.leases().iter().find(|lease| lease.token == token) {
        Some(lease) if epoch == record.epoch => match lease.left(eval.now) {
            Some(_) => None,
            None => Some(StaleReason::LeaseExpired),
        },
        None if epoch == record.epoch && token <= record.last_token => Some(StaleReason::LeaseExpired),
        _ if epoch < record.epoch => Some(StaleReason::OldEpoch),
        _ => Some(StaleReason::UnknownPermit),
    }
}

/// Why a report without a lease counts for nothing: the first reason that fits.
pub fn stale_call(eval: &Evaluation, epoch: u64) -> Option<StaleReason> {
    let record = &eval.record;
    match &record.state {
        State::Closed { .. } if epoch == record.epoch => None,
        state if state.forced().is_some() => Some(StaleReason::Forced),
        _ if epoch < record.epoch => Some(StaleReason::OldEpoch),
        _ => Some(StaleReason::UnknownPermit),
    }
}
