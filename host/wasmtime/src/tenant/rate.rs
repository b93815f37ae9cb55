//! How often a tenant calls.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter, clock};

use crate::clock::Clock;
use crate::wire::Error;

/// The limiter reckons in nanoseconds of 64 bits, and no clock of ours stands beyond this.
const LATEST: Duration = Duration::from_secs(100 * 365 * 86_400);

pub(super) struct Rate {
    limiter: RateLimiter<NotKeyed, InMemoryState, Monotonic, NoOpMiddleware<Duration>>,
}

/// The host's clock, as the limiter reads it.
struct Monotonic(Arc<dyn Clock>);

impl clock::Clock for Monotonic {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.monotonic().min(LATEST)
    }
}

impl Rate {
    pub fn new(clock: Arc<dyn Clock>, per_second: u32, at_once: u32) -> Self {
        let at_least_one = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(at_least_one(per_second)).allow_burst(at_least_one(at_once));
        Rate { limiter: RateLimiter::direct_with_clock(quota, Monotonic(clock)) }
    }

    /// Counts a call, or says when the next one may come.
    pub fn take(&self) -> Result<(), Error> {
        self.limiter.check().map_err(|until| {
            let wait = until.wait_time_from(clock::Clock::now(self.limiter.clock()));
            let ms = u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
            Error::TooManyCalls(ms.max(1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn so_many_at_once_then_so_many_a_second_and_the_wait_is_what_is_left() {
        let clock = Arc::new(ManualClock::new(1_000));
        let rate = Rate::new(clock.clone(), 10, 3);
        for _ in 0..3 {
            assert_eq!(rate.take(), Ok(()));
        }
        assert_eq!(rate.take(), Err(Error::TooManyCalls(100)));
        clock.advance(Duration::from_millis(40));
        assert_eq!(rate.take(), Err(Error::TooManyCalls(60)));
        clock.advance(Duration::from_millis(60));
        assert_eq!(rate.take(), Ok(()));
        assert_eq!(rate.take(), Err(Error::TooManyCalls(100)));
        clock.set(0);
        assert_eq!(rate.take(), Err(Error::TooManyCalls(100)), "a clock that steps back changes nothing");
    }

    #[test]
    fn no_number_is_too_small_or_too_large_and_no_time_too_late() {
        let clock = Arc::new(ManualClock::new(0));
        assert_eq!(Rate::new(clock.clone(), 0, 0).take(), Ok(()));
        let rate = Rate::new(clock.clone(), u32::MAX, u32::MAX);
        assert_eq!(rate.take(), Ok(()));
        clock.set(u64::MAX);
        assert_eq!(rate.take(), Ok(()));
    }
}
