//! The answers of `inspect` and `policy`.

use super::evaluation::Evaluation;
use crate::contract::{PolicyInForce, PolicyOrigin};
use crate::documents::{ForcedDocument, InspectionDocument, LastFailureDocument, LeaseDocument};
use crate::record::State;

/// The inspection of a dependency.
pub fn inspect<'e>(eval: &'e Evaluation, dependency: &'e str) -> InspectionDocument<'e> {
    let record = &eval.record;
    let successes = match &record.state {
        State::HalfOpen { successes, .. } => *successes,
        _ => 0,
    };
    let lease = |lease: &'e crate::record::Lease| LeaseDocument {
        token: lease.token,
        caller: &lease.caller,
        expires_in_ms: lease.left(eval.now).unwrap_or(0),
    };
    InspectionDocument {
        dependency,
        at: eval.now,
        state: record.state.kind(),
        forced: forced(eval),
        probe_due: eval.probe_due(),
        leases: eval.live_leases().map(lease).collect(),
        successes,
        level: record.level,
        counts: record.state.counts(eval.now).unwrap_or_default(),
        epoch: record.epoch,
        since: record.state.since(),
        next_due: eval.next_due(),
        last_failure: record.last_failure.as_ref().map(|failure| LastFailureDocument {
            at: failure.at,
            caller: &failure.caller,
            cause: &failure.cause,
        }),
        last_change: record.last_change.as_ref().map(Into::into),
    }
}

fn forced<'e>(eval: &'e Evaluation) -> Option<ForcedDocument<'e>> {
    let forced = eval.record.state.forced()?;
    Some(ForcedDocument {
        mode: eval.record.state.kind(),
        since: forced.since,
        ends_in_ms: forced.left(eval.now),
        by: &forced.by,
        note: &forced.note,
    })
}

/// The policy in force of a dependency.
pub fn policy(eval: &Evaluation) -> PolicyInForce {
    let origin = match eval.record.policy {
        Some(_) => PolicyOrigin::Dependency,
        None => PolicyOrigin::Host,
    };
    PolicyInForce { policy: eval.policy.to_json(), origin }
}
