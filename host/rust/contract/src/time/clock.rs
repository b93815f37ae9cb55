use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The clock of a host.
///
/// All hosts of one record must read one clock. Where the store has a clock of its own
/// ([`Snapshot::at`](crate::store::Snapshot::at)), that one is used for the record instead of this.
pub trait Clock: Send + Sync + 'static {
    /// The instant, in milliseconds since the Unix epoch. It may step back.
    fn now(&self) -> u64;

    /// A time that never steps back, from an arbitrary start. It measures times within this process.
    fn monotonic(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }

    /// A cheap reading of both times, for calls that are admitted from memory. Either may lag by at most
    /// [`resolution`](Clock::resolution).
    fn coarse(&self) -> Reading {
        Reading { now: self.now(), monotonic: self.monotonic() }
    }

    /// A number that stays the same while both times of a [coarse reading](Clock::coarse) do, and is cheaper to read; none
    /// where the clock has no such number.
    fn tick(&self) -> Option<u64> {
        None
    }

    /// The most by which a [coarse reading](Clock::coarse) may lag. This close to a deadline a host reads the exact times.
    fn resolution(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether time passes by itself. Where it does, a thread does what is due; where it does not, the next caller does.
    fn runs(&self) -> bool {
        true
    }
}

/// Both times of a [`Clock`], read together. As the time of a request it tells later how long ago that was: the machine may
/// be stopped, or its clock set, in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The wall clock, in ms since the Unix epoch.
    pub now: u64,
    /// The monotonic clock.
    pub monotonic: Duration,
}

impl Reading {
    /// The present time of a clock.
    pub fn now(clock: &dyn Clock) -> Self {
        Reading { now: clock.now(), monotonic: clock.monotonic() }
    }

    /// The time since then: by the clock that shows more of it.
    pub fn elapsed(&self, clock: &dyn Clock) -> Duration {
        let wall = Duration::from_millis(clock.now().saturating_sub(self.now));
        clock.monotonic().saturating_sub(self.monotonic).max(wall)
    }

    /// Whether a lease of `expires_in` ms that was requested then has ended.
    pub fn has_expired(&self, expires_in: u64, clock: &dyn Clock) -> bool {
        self.elapsed(clock) >= Duration::from_millis(expires_in)
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> u64 {
        (**self).now()
    }

    fn monotonic(&self) -> Duration {
        (**self).monotonic()
    }

    fn coarse(&self) -> Reading {
        (**self).coarse()
    }

    fn tick(&self) -> Option<u64> {
        (**self).tick()
    }

    fn resolution(&self) -> Duration {
        (**self).resolution()
    }

    fn runs(&self) -> bool {
        (**self).runs()
    }
}
