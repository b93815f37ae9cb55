//! Breakers in a state to begin with.

use std::path::Path;
use std::time::{Duration, Instant};

use halfopen::{Breaker, Decision, Host, Outcome, Policy};
use serde_json::Value;

/// Longer than any test runs.
pub const LONG_MS: u64 = 3_600_000;

/// The longest that a test waits for anything: far beyond what the slowest machine takes.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A policy without chance: one failure trips, a probe is due a moment later, a lease outlasts the test.
pub fn policy() -> Policy {
    Policy::new()
        .consecutive_failures(1)
        .failure_rate_off()
        .open_ms(1)
        .open_max_ms(LONG_MS)
        .jitter_percent(0)
        .lease_ms(LONG_MS)
        .probe_max_ms(LONG_MS)
        .fresh_ms(0)
}

/// The address of a SQLite file.
pub fn address(path: &Path) -> String {
    format!("sqlite:{}", path.to_str().expect("tests use plain paths"))
}

/// A host on a SQLite file.
pub fn host(path: &Path, policy: &Policy) -> Host {
    let builder = Host::builder().address(&address(path)).default_policy(policy.clone());
    builder.build().unwrap_or_else(|error| panic!("a host on {}: {error}", path.display()))
}

/// A number of a policy with all its keys.
pub fn number(policy: &Policy, key: &str) -> u64 {
    policy.get(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("{key} is no number in {policy}"))
}

/// Trips the breaker.
pub fn trip(breaker: &Breaker) {
    let failures = number(&breaker.policy().expect("a policy").policy, "consecutive_failures");
    for _ in 0..failures {
        let Ok(Decision::Proceed(guard)) = breaker.acquire() else { panic!("it is not closed") };
        guard.report(Outcome::Failure).expect("a failure is reported");
    }
    assert_eq!(breaker.inspect().expect("an inspection").state, halfopen::State::Open);
}

/// Trips the breaker, and waits until a probe is due.
pub fn make_due(breaker: &Breaker) {
    trip(breaker);
    until("a probe is due", || breaker.inspect().expect("an inspection").probe_due.then_some(()));
}

/// Retries until there is a result.
pub fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(result) = attempt() {
            return result;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
