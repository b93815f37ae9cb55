//! This machine's clock, and whether it may be used: it is compared with those of the members.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::StoreError;
use super::client::Client;
use super::options::EtcdOptions;
use super::skew::{Estimate, Now, Reading, Sample, Verdict, micros};
use crate::clock::Clock;

/// How long a comparison takes at most. A clock in whole seconds shows all in one.
const LONGEST: Duration = Duration::from_millis(2_500);

/// A member that does not answer while another is compared is not waited for.
const OTHERS: Duration = Duration::from_millis(300);

/// How often a record from the future has the members asked again.
const DOUBT: Duration = Duration::from_secs(10);

pub(super) struct Timepiece {
    clock: Arc<dyn Clock>,
    pub max_skew: Duration,
    members: Mutex<Vec<Option<Estimate>>>,
    /// When all members were last asked; held while they are.
    compared: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Timepiece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timepiece").field("max_skew", &self.max_skew).finish_non_exhaustive()
    }
}

impl Timepiece {
    pub fn new(options: &EtcdOptions, members: usize) -> Self {
        Timepiece {
            clock: options.clock.clone(),
            max_skew: options.max_skew,
            members: Mutex::new(vec![None; members]),
            compared: Mutex::new(None),
        }
    }

    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub fn now(&self) -> Now {
        Now { at: self.clock.now(), max_skew: self.max_skew.as_millis() as u64 }
    }

    pub fn observe(&self, member: usize, sample: Sample) {
        if let Some(known) = self.members().get_mut(member) {
            *known = Some(known.map_or_else(|| Estimate::of(sample), |known| known.and(sample)));
        }
    }

    fn members(&self) -> MutexGuard<'_, Vec<Option<Estimate>>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far a clock may be from a member's: two processes are then no further apart than the bound.
    fn bound(&self) -> Duration {
        self.max_skew / 2
    }

    fn verdict(&self, member: usize) -> Verdict {
        let known = self.members().get(member).copied().flatten();
        known.map_or(Verdict::Unproven, |known| known.judge(Reading::of(&*self.clock), micros(self.bound())))
    }

    fn has_answered(&self, member: usize) -> bool {
        self.members().get(member).is_some_and(Option::is_some)
    }

    /// Where the clock stands with all members that are known. Of any two processes that each agree with most of them, both
    /// agree with one and the same.
    fn standing(&self) -> Standing {
        let (reading, bound) = (Reading::of(&*self.clock), micros(self.bound()));
        let (mut within, mut beyond) = (0, 0);
        let mut first = None;
        for (member, known) in self.members().iter().enumerate() {
            match known.map_or(Verdict::Unproven, |known| known.judge(reading, bound)) {
                Verdict::Within => within += 1,
                Verdict::Unproven => {}
                verdict @ (Verdict::Ahead(_) | Verdict::Behind(_)) => {
                    beyond += 1;
                    first.get_or_insert((member, verdict));
                }
            }
        }
        match first {
            Some((member, verdict)) if beyond >= within => Standing::Refuted { member, verdict },
            _ if within > 0 => Standing::Proven,
            _ => Standing::Open,
        }
    }
}

/// Where this machine's clock stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It is within the bound of most members.
    Proven,
    /// It has yet to be compared.
    Open,
    /// It is not within the bound of most members; not of this one, among others.
    Refuted { member: usize, verdict: Verdict },
}

impl Client {
    /// Whether this machine's clock is proven; false where it has to be compared first.
    pub fn is_in_time(&self) -> Result<bool, StoreError> {
        let (member, verdict) = match self.time.standing() {
            Standing::Proven => return Ok(true),
            Standing::Open => return Ok(false),
            Standing::Refuted { member, verdict } => (member, verdict),
        };
        let (word, by) = match verdict {
            Verdict::Behind(by) => ("behind", by),
            Verdict::Ahead(by) => ("ahead of", by),
            Verdict::Within | Verdict::Unproven => return Ok(false),
        };
        let name = self.members.get(member).map_or("", |member| &member.name);
        Err(self.place.denied(format!(
            "the clock of this machine ({}) is at least {} ms {word} that of the member {name}, and max_skew={:?} allows \
             {:?} to most members; have both set by NTP",
            super::machine(),
            by / 1_000,
            self.time.max_skew,
            self.time.bound(),
        )))
    }

    /// Compares the clock with this member's until it is proven or refuted; and with the others', where they answer.
    pub fn compare(&self, member: usize) -> Result<(), StoreError> {
        let mut compared = self.time.compared.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have done so while this one waited.
        if self.is_in_time()? {
            return Ok(());
        }
        let longest = LONGEST.min(self.timeout);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for other in (0..self.members.len()).filter(|other| *other != member) {
                let done = &done;
                scope.spawn(move || self.compare_one(other, longest, OTHERS, done));
            }
            self.compare_one(member, longest, self.attempt_limit(), &AtomicBool::new(false));
            done.store(true, Ordering::Relaxed);
        });
        *compared = Some(Instant::now());
        drop(compared);
        if self.is_in_time()? {
            return Ok(());
        }
        let name = self.members.get(member).map_or("", |member| &member.name);
        Err(if self.time.has_answered(member) {
            self.place.unavailable(format!(
                "the clock of this machine cannot be compared with that of {name} to within {:?}: its answers take too \
                 long; try again, or give a larger max_skew",
                self.time.bound()
            ))
        } else {
            self.place.unavailable(format!(
                "{name} told no time to compare the clock of this machine with; if something between takes the header \
                 `Date` away, let it through"
            ))
        })
    }

    /// Compares again after a record from the future was seen, though not each time.
    pub fn doubt(&self, member: usize) -> Result<(), StoreError> {
        let compared = *self.time.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if compared.is_some_and(|at| at.elapsed() < DOUBT) {
            return self.is_in_time().map(drop);
        }
        self.time.members().fill(None);
        self.compare(member)
    }

    fn compare_one(&self, member: usize, longest: Duration, limit: Duration, done: &AtomicBool) {
        let until = Instant::now() + longest;
        let step = (self.time.bound() / 4).clamp(Duration::from_millis(1), Duration::from_millis(100));
        while self.time.verdict(member) == Verdict::Unproven && Instant::now() < until {
            let failed = self.probe(member, limit).is_err();
            if failed && done.load(Ordering::Relaxed) || !self.time.has_answered(member) {
                return;
            }
            if self.time.verdict(member) == Verdict::Unproven {
                std::thread::sleep(step);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;

    const NOW: u64 = 1_700_000_000;

    /// What a clock that shows `NOW` is worth, where members are so many seconds ahead.
    fn standing(members: &[i64]) -> Standing {
        let options = EtcdOptions {
            clock: Arc::new(ManualClock::new(NOW * 1_000)),
            max_skew: Duration::from_secs(4),
            ..EtcdOptions::default()
        };
        let time = Timepiece::new(&options, members.len());
        for (member, ahead) in members.iter().enumerate() {
            time.observe(member, Sample { sent: 0, received: 0, date: NOW as i64 + ahead });
        }
        time.standing()
    }

    #[test]
    fn a_clock_is_proven_by_most_members_and_one_that_is_wrong_by_itself_stops_nobody() {
        for members in [&[0][..], &[0, 0], &[0, 0, 60], &[60, 0, 0], &[0, 0, 0, 60, -60]] {
            assert_eq!(standing(members), Standing::Proven, "{members:?}");
        }
        for members in [&[60][..], &[-60], &[0, 60], &[0, 60, 60], &[0, 60, -60], &[0, 0, 60, 60]] {
            assert!(matches!(standing(members), Standing::Refuted { .. }), "{members:?}");
        }
        assert_eq!(standing(&[]), Standing::Open);
    }
}
