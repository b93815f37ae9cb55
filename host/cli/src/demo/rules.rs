//! The policy of the breakers in the demo: of the shared one, and of the one in each process.

use halfopen::Policy;

/// The name of the dependency.
pub const DEPENDENCY: &str = "the-dependency";

pub const CONSECUTIVE_FAILURES: u32 = 5;

/// The policy. The lease is long: on a busy machine a short one would expire.
pub fn policy() -> Policy {
    Policy::new()
        .consecutive_failures(CONSECUTIVE_FAILURES)
        .failure_rate_off()
        .open_ms(1_500)
        .open_max_ms(2_500)
        .open_multiplier(1.5)
        // Each outage begins with the first window.
        .stable_after_ms(0)
        .lease_ms(15_000)
        .fresh_ms(50)
}
