//! What `inspect` and `policy` show.

use alloc::vec::Vec;

use crate::contract::{Forced, Inspection, Lease, List, Maybe, Mode, PolicyInForce, PolicyOrigin, State as Kind, Text};
use crate::record::State;
use crate::turn::Turn;

/// Shows a dependency.
pub fn inspect(turn: &Turn) -> Inspection {
    let record = &turn.record;
    let mut shown = Inspection {
        state: record.state.kind(),
        override_: forced(turn).into(),
        probe_due: turn.probe_due(),
        leases: List::EMPTY,
        successes: 0,
        level: record.level,
        calls: 0,
        failures: 0,
        slow: 0,
        failures_in_row: 0,
        epoch: record.epoch,
        since: Maybe::None,
        next_due: turn.next_due().into(),
    };
    match &record.state {
        State::Closed { since, failures_in_row, window, .. } => {
            let counts = window.counts(turn.now);
            shown.since = (*since).into();
            shown.failures_in_row = *failures_in_row;
            shown.calls = counts.calls;
            shown.failures = counts.failures;
            shown.slow = counts.slow;
        }
        State::Open { since, .. } => shown.since = Maybe::Some(*since),
        State::HalfOpen { since, leases, successes } => {
            let mut live = Vec::new();
            for lease in turn.live(leases) {
                live.push(Lease {
                    token: lease.token,
                    caller: Text::from(&*lease.caller),
                    expires_in: lease.left(turn.now).unwrap_or(0),
                });
            }
            shown.since = Maybe::Some(*since);
            shown.leases = live.into();
            shown.successes = *successes;
        }
    }
    shown
}

/// The policy that the dependency goes by.
pub fn policy(turn: &Turn) -> PolicyInForce {
    let origin = match turn.record.policy {
        Some(_) => PolicyOrigin::Dependency,
        None => PolicyOrigin::Host,
    };
    PolicyInForce { policy: turn.policy, origin }
}

fn forced(turn: &Turn) -> Option<Forced> {
    let hold = turn.record.state.hold()?;
    let mode = match turn.record.state.kind() {
        Kind::Closed => Mode::Closed,
        Kind::Open | Kind::HalfOpen => Mode::Open,
    };
    Some(Forced {
        mode,
        since: hold.since,
        ends_in: hold.end().map(|end| end.saturating_sub(turn.now)).into(),
        note: Text::from(&*hold.note),
    })
}
