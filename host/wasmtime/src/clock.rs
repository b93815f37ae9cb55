//! The time, as a host reads it.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Both times of a [`Clock`], read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance {
    /// As [`Clock::now`].
    pub now: u64,
    /// As [`Clock::monotonic`].
    pub monotonic: Duration,
}

/// What a host tells the time with.
///
/// All hosts of one record must read one clock. Where the store has a clock of its own
/// ([`Snapshot::at`](crate::store::Snapshot::at)), that one is used for the record instead of this.
pub trait Clock: Send + Sync + 'static {
    /// The instant, in milliseconds since the Unix epoch. It may step back.
    fn now(&self) -> u64;

    /// A time that never steps back, from an arbitrary start. It measures how long ago something was in this process.
    fn monotonic(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }

    /// Both times, as cheaply as they can be had: each call that is admitted from memory takes one. Either may lag behind
    /// by [`lag`](Clock::lag).
    fn glance(&self) -> Glance {
        Glance { now: self.now(), monotonic: self.monotonic() }
    }

    /// A number that says where a [`glance`](Clock::glance) stands: while it is the same, so are both times. Cheaper than
    /// a glance; none where the clock knows of no such number, and then a glance is taken each time.
    fn tick(&self) -> Option<u64> {
        None
    }

    /// How far a [`glance`](Clock::glance) may lag behind. Within so much of a deadline the exact times are read.
    fn lag(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether time passes in it by itself. Where it does, what is due at an instant is done by a thread; where it does
    /// not, by whoever comes next.
    fn runs(&self) -> bool {
        true
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        // A machine that believes to be before 1970 has its clock at 0 rather than a panic.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn monotonic(&self) -> Duration {
        coarse::read(rustix::time::ClockId::Monotonic)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[inline]
    fn glance(&self) -> Glance {
        coarse::glance()
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[inline]
    fn tick(&self) -> Option<u64> {
        Some(coarse::tick())
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn lag(&self) -> Duration {
        coarse::lag()
    }
}

/// The clocks of the kernel that show the time of its last tick: 5 ns a read, against 25 for the exact ones.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod coarse {
    use std::sync::OnceLock;
    use std::time::Duration;

    use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

    use super::Glance;

    pub fn read(clock: ClockId) -> Duration {
        duration(clock_gettime(clock))
    }

    #[inline]
    pub fn glance() -> Glance {
        let wall = clock_gettime(ClockId::RealtimeCoarse);
        let now = u64::try_from(wall.tv_sec).unwrap_or(0) * 1_000 + wall.tv_nsec as u64 / 1_000_000;
        Glance { now, monotonic: read(ClockId::MonotonicCoarse) }
    }

    /// The wall clock, in ns: the kernel moves both clocks on at once, and never to a time that it has shown before, but
    /// for one that is set back to the very nanosecond.
    #[inline]
    pub fn tick() -> u64 {
        let wall = clock_gettime(ClockId::RealtimeCoarse);
        (wall.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(wall.tv_nsec as u64)
    }

    /// Two ticks: one may be late.
    pub fn lag() -> Duration {
        static LAG: OnceLock<Duration> = OnceLock::new();
        let resolution = |clock| duration(clock_getres(clock));
        *LAG.get_or_init(|| 2 * resolution(ClockId::RealtimeCoarse).max(resolution(ClockId::MonotonicCoarse)))
    }

    fn duration(time: Timespec) -> Duration {
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), time.tv_nsec as u32)
    }
}

/// A clock that stands still until it is told otherwise. For tests and replays.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicU64,
    monotonic: AtomicU64,
}

impl ManualClock {
    /// A clock that shows so many milliseconds since the Unix epoch.
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

    fn glance(&self) -> Glance {
        (**self).glance()
    }

    fn tick(&self) -> Option<u64> {
        (**self).tick()
    }

    fn lag(&self) -> Duration {
        (**self).lag()
    }

    fn runs(&self) -> bool {
        (**self).runs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_stands_still_and_goes_where_it_is_told() {
        let clock = ManualClock::new(1_000);
        assert_eq!(clock.now(), 1_000);
        clock.advance(Duration::from_millis(5));
        assert_eq!(clock.now(), 1_005);
        clock.set(10);
        assert_eq!(clock.now(), 10);
    }

    #[test]
    fn a_glance_lies_never_ahead() {
        for _ in 0..1_000 {
            let glance = SystemClock.glance();
            assert!(glance.monotonic <= SystemClock.monotonic(), "{glance:?}");
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
