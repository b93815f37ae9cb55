//! The rules of both kinds of breaker in the demo: halfopen's, and the one in each process.

use std::time::Duration;

use halfopen::Policy;

/// The name of the dependency.
pub const DEPENDENCY: &str = "the-dependency";

pub const CONSECUTIVE_FAILURES: u32 = 5;
pub const OPEN: Duration = Duration::from_millis(1_500);
pub const OPEN_MAX: Duration = Duration::from_millis(2_500);
pub const MULTIPLIER: f64 = 1.5;
pub const JITTER_PERCENT: u32 = 20;

/// The rules as a policy. The lease is long: on a busy machine a short one would expire.
pub fn policy() -> Policy {
    let ms = |length: Duration| u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
    Policy::new()
        .consecutive_failures(CONSECUTIVE_FAILURES)
        .failure_rate_off()
        .open_ms(ms(OPEN))
        .open_max_ms(ms(OPEN_MAX))
        .open_multiplier(MULTIPLIER)
        .jitter_percent(JITTER_PERCENT)
        // Each outage begins with the first window, as with the breaker in each process.
        .stable_after_ms(0)
        .lease_ms(15_000)
        .fresh_ms(50)
}
