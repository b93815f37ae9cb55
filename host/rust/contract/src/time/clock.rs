use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::Reading;

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

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        // A machine whose clock is before 1970 reads 0 rather than panics.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn monotonic(&self) -> Duration {
        coarse_clock::read_clock(rustix::time::ClockId::Monotonic)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[inline]
    fn coarse(&self) -> Reading {
        coarse_clock::read()
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[inline]
    fn tick(&self) -> Option<u64> {
        Some(coarse_clock::tick())
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn resolution(&self) -> Duration {
        coarse_clock::resolution()
    }
}

/// The clocks of the kernel that show the time of its last tick: 5 ns a read, against 25 for the exact ones.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod coarse_clock {
    use std::sync::OnceLock;
    use std::time::Duration;

    use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

    use super::Reading;

    pub fn read_clock(clock: ClockId) -> Duration {
        duration(clock_gettime(clock))
    }

    #[inline]
    pub fn read() -> Reading {
        let wall = clock_gettime(ClockId::RealtimeCoarse);
        let now = u64::try_from(wall.tv_sec).unwrap_or(0) * 1_000 + wall.tv_nsec as u64 / 1_000_000;
        Reading { now, monotonic: read_clock(ClockId::MonotonicCoarse) }
    }

    /// The wall clock, in ns: the kernel moves both clocks on at once, and never to a time that it has shown before, but
    /// for one that is set back to the very nanosecond.
    #[inline]
    pub fn tick() -> u64 {
        let wall = clock_gettime(ClockId::RealtimeCoarse);
        (wall.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(wall.tv_nsec as u64)
    }

    /// Two ticks: one may be late.
    pub fn resolution() -> Duration {
        static RESOLUTION: OnceLock<Duration> = OnceLock::new();
        let resolution = |clock| duration(clock_getres(clock));
        *RESOLUTION.get_or_init(|| 2 * resolution(ClockId::RealtimeCoarse).max(resolution(ClockId::MonotonicCoarse)))
    }

    fn duration(time: Timespec) -> Duration {
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), time.tv_nsec as u32)
    }
}

/// A clock that stands still until it is set. For tests and replays.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicU64,
    monotonic: AtomicU64,
}

impl ManualClock {
    /// A clock that shows `now`, in ms since the Unix epoch.
    pub fn new(now: u64) -> Self {
        ManualClock { now: AtomicU64::new(now), monotonic: AtomicU64::new(0) }
    }

    /// Sets the clock, forwards or backwards. Forwards, the monotonic time moves along.
    pub fn set(&self, now: u64) {
        let before = self.now.swap(now, Ordering::SeqCst);
        self.monotonic.fetch_add(now.saturating_sub(before), Ordering::SeqCst);
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        let by = by.as_millis() as u64;
        self.now.fetch_add(by, Ordering::SeqCst);
        self.monotonic.fetch_add(by, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.monotonic.load(Ordering::SeqCst))
    }

    fn runs(&self) -> bool {
        false
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_stands_still_until_it_is_set() {
        let clock = ManualClock::new(1_000);
        assert_eq!(clock.now(), 1_000);
        clock.advance(Duration::from_millis(5));
        assert_eq!(clock.now(), 1_005);
        clock.set(10);
        assert_eq!(clock.now(), 10);
    }

    #[test]
    fn a_coarse_reading_is_never_ahead() {
        for _ in 0..1_000 {
            let reading = SystemClock.coarse();
            assert!(reading.monotonic <= SystemClock.monotonic(), "{reading:?}");
        }
    }

    #[test]
    fn a_step_back_leaves_the_monotonic_time_alone() {
        let clock = ManualClock::new(1_000);
        clock.set(1_500);
        clock.set(200);
        assert_eq!(clock.monotonic(), Duration::from_millis(500));
        clock.set(300);
        assert_eq!(clock.monotonic(), Duration::from_millis(600));
    }
}
