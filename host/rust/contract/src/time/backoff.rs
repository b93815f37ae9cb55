use std::time::{Duration, Instant};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The pauses between retries: from 50 ms, doubled with each failure, at most a second, each with jitter.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    pause: Duration,
    due: Instant,
}

impl Backoff {
    /// A backoff after the first failure.
    pub fn begin() -> Self {
        Backoff { pause: FIRST_PAUSE, due: jittered(FIRST_PAUSE) }
    }

    /// Counts one more failure. A failure before the retry is due began before the last one was known, and lengthens nothing.
    pub fn again(&mut self) {
        if self.wait().is_zero() {
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            self.due = jittered(self.pause);
        }
    }

    /// The time until the next retry; zero when it is due.
    pub fn wait(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// Makes the next retry due now.
    pub fn make_due(&mut self) {
        self.due = Instant::now();
    }
}

/// Processes that failed together do not retry together.
fn jittered(pause: Duration) -> Instant {
    Instant::now() + pause.mul_f64(0.5 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests;
