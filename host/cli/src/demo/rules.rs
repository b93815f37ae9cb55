//! What the breakers of the demo go by, halfopen's and the one in each process alike.

use std::time::Duration;

use halfopen::Policy;

pub const CONSECUTIVE_FAILURES: u32 = 5;
pub const OPEN: Duration = Duration::from_millis(1_500);
pub const OPEN_MAX: Duration = Duration::from_millis(2_500);
pub const MULTIPLIER: f64 = 1.5;
pub const JITTER_PERCENT: u32 = 20;

/// The same as a policy. The lease is long: a machine that is short of breath must not lose a probe over it.
pub fn policy() -> Policy {
    let ms = |length: Duration| u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
    Policy {
        consecutive_failures: CONSECUTIVE_FAILURES,
        failure_rate: None,
        open_ms: ms(OPEN),
        open_max_ms: ms(OPEN_MAX),
        open_multiplier: MULTIPLIER,
        jitter_percent: JITTER_PERCENT,
        // Each outage starts with the first window, as the breaker in each process does.
        stable_after_ms: 0,
        lease_ms: 15_000,
        fresh_ms: 50,
        ..Policy::default()
    }
}
