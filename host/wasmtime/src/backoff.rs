//! When something that fails is tried again.

use std::time::{Duration, Instant};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Pauses that grow with each failure, up to a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    pause: Duration,
    due: Instant,
}

impl Backoff {
    /// After the first failure.
    pub fn begin() -> Self {
        Backoff { pause: FIRST_PAUSE, due: jittered(FIRST_PAUSE) }
    }

    /// After one more. Where it was not due yet, somebody has failed who began before the last failure was known: that
    /// says nothing new.
    pub fn again(&mut self) {
        if self.wait().is_zero() {
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            self.due = jittered(self.pause);
        }
    }

    /// How long it is until the next try.
    pub fn wait(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// The next try is due now.
    pub fn hurry(&mut self) {
        self.due = Instant::now();
    }
}

/// From many processes they do not all come back together.
fn jittered(pause: Duration) -> Instant {
    Instant::now() + pause.mul_f64(0.5 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pauses_grow_up_to_a_second_and_no_two_are_alike() {
        let mut backoff = Backoff::begin();
        let mut pauses = Vec::new();
        for _ in 0..10 {
            pauses.push(backoff.pause);
            assert!(backoff.wait() <= backoff.pause);
            let before = backoff.pause;
            backoff.again();
            assert_eq!(backoff.pause, before, "it was not due");
            backoff.hurry();
            backoff.again();
        }
        assert!(pauses.is_sorted() && pauses[0] < pauses[1], "{pauses:?}");
        assert_eq!(pauses.last(), Some(&LONGEST_PAUSE));
        let now = Instant::now();
        assert_ne!(jittered(LONGEST_PAUSE) - now, jittered(LONGEST_PAUSE) - now);
    }
}
