//! The ramp that follows a closing by probes.

use super::evaluation::Evaluation;
use crate::policy::Ramp;
use crate::record::{ClosedMode, State};

/// The ramp of the policy in force and the ms since the closing, while the ramp lasts.
pub fn ramp_in_force(eval: &Evaluation) -> Option<(Ramp, u64)> {
    let State::Closed { since: Some(since), mode: ClosedMode::Ramp, .. } = eval.record.state else { return None };
    let ramp = eval.policy.ramp?;
    let elapsed = eval.now.saturating_sub(since);
    (elapsed < ramp.over_ms).then_some((ramp, elapsed))
}

/// The percentage of calls that a ramp admits.
pub fn admitted_percent(ramp: &Ramp, elapsed: u64) -> u32 {
    let rest = u64::from(100u32.saturating_sub(ramp.from_percent));
    ramp.from_percent + (rest.saturating_mul(elapsed) / ramp.over_ms) as u32
}
