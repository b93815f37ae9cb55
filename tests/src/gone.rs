//! Dependencies that are used once and are gone.

use std::thread;

use halfopen::{Decision, Host, Outcome, Permit};

/// How many report at once: they share the store's commits.
const AT_ONCE: usize = 64;

/// Uses so many dependencies once. The permit that all of them were used with: none of them had a record.
pub fn use_once(host: &Host, many: usize) -> Permit {
    let decision = host.breaker(name(0)).acquire().expect("an answer");
    let Decision::Proceed(guard) = decision else { panic!("not admitted: {decision:?}") };
    let permit = guard.into_permit();
    thread::scope(|scope| {
        for first in 0..AT_ONCE {
            scope.spawn(move || {
                for number in (first..many).step_by(AT_ONCE) {
                    let receipt = host.breaker(name(number)).report(permit, Outcome::Success);
                    assert!(receipt.expect("a receipt").is_applied());
                }
            });
        }
    });
    permit
}

/// Their names.
pub fn name(number: usize) -> String {
    format!("gone {number}")
}
