//! The number of calls that a tenant may make a second.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter, clock};
use halfopen::Clock;
use halfopen_contract::types::Error;

/// The limiter counts nanoseconds in 64 bits: later times of a clock count as this.
const LATEST: Duration = Duration::from_secs(100 * 365 * 86_400);

pub(crate) struct Rate {
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
    pub fn new(clock: Arc<dyn Clock>, per_second: u32, burst: u32) -> Self {
        let at_least_one = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(at_least_one(per_second)).allow_burst(at_least_one(burst));
        Rate { limiter: RateLimiter::direct_with_clock(quota, Monotonic(clock)) }
    }

    /// Counts a call; an error has the time until the next one may come.
    pub fn take(&self) -> Result<(), Error> {
        self.limiter.check().map_err(|until| {
            let wait = until.wait_time_from(clock::Clock::now(self.limiter.clock()));
            let ms = u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
            Error::TooManyCalls(ms.max(1))
        })
    }
}

#[cfg(test)]
mod tests;
