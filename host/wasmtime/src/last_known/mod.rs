//! What the host was last told for each dependency, for acquires while the store fails; in files too, where that is wanted.

mod files;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::Clock;
use crate::sent::Sent;
use crate::wire::{Decision, Deferral};
pub(crate) use files::Files;

/// Beyond so many dependencies nothing more is kept: a stream of ever new names must not fill the memory, nor the disk.
const MOST: usize = 10_000;

#[derive(Default)]
pub(crate) struct LastKnown {
    known: Mutex<HashMap<Box<str>, Known>>,
    files: Option<Files>,
}

struct Known {
    last: Last,
    /// What the file says.
    written: Option<Last>,
}

#[derive(Clone, Debug, PartialEq)]
enum Last {
    Proceed,
    Defer { deferral: Deferral, asked: Sent },
}

/// What to answer in the store's place.
#[derive(Debug, PartialEq)]
pub(crate) enum Fallback {
    Proceed,
    Defer(Deferral),
    /// The wait that was known has passed.
    Passed,
    Unknown,
}

impl LastKnown {
    /// One that later processes know of, too.
    pub fn in_files(files: Option<Files>) -> Self {
        LastKnown { files, ..LastKnown::default() }
    }

    /// Notes an answer, and when it was asked for. That one probes says nothing for the next call.
    pub fn note(&self, dependency: &str, decision: &Decision, asked: Sent) {
        let last = match decision {
            Decision::Proceed(_) => Last::Proceed,
            Decision::Defer(deferral) => Last::Defer { deferral: deferral.clone(), asked },
            Decision::Probe(_) => return self.forget(dependency),
        };
        let mut known = self.known();
        let has_room = known.len() < MOST;
        let before = known.get_mut(dependency);
        let written = self.files.as_ref().map(|files| {
            let written = before.as_ref().map_or_else(|| files.load(dependency, asked), |known| known.written.clone());
            written.filter(|written| written.says_nearly(&last)).unwrap_or_else(|| {
                files.save(dependency, &last);
                last.clone()
            })
        });
        match before {
            Some(slot) => *slot = Known { last, written },
            None if has_room => drop(known.insert(dependency.into(), Known { last, written })),
            None => {}
        }
    }

    fn forget(&self, dependency: &str) {
        let mut known = self.known();
        known.remove(dependency);
        self.files.iter().for_each(|files| files.forget(dependency));
    }

    /// What the last answer means now.
    pub fn recall(&self, dependency: &str, clock: &dyn Clock) -> Fallback {
        let known = self.known().get(dependency).map(|known| known.last.clone());
        let from_file = || self.files.as_ref()?.load(dependency, Sent::at(clock));
        match known.or_else(from_file) {
            None => Fallback::Unknown,
            Some(Last::Proceed) => Fallback::Proceed,
            Some(Last::Defer { deferral, asked }) => {
                let passed = u64::try_from(asked.ago(clock).as_millis()).unwrap_or(u64::MAX);
                match deferral.retry_after.saturating_sub(passed) {
                    0 => Fallback::Passed,
                    left => Fallback::Defer(Deferral {
                        retry_after: left,
                        fresh_for: deferral.fresh_for.saturating_sub(passed),
                        admission: None,
                        ..deferral
                    }),
                }
            }
        }
    }

    /// What is wrong with the folder that later processes would know it from.
    pub fn fault(&self) -> Option<String> {
        self.files.as_ref()?.fault()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Box<str>, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Last {
    /// Whether another need not be written where this is: a wait that ends at nearly the same instant is the same.
    fn says_nearly(&self, other: &Last) -> bool {
        match (self, other) {
            (Last::Proceed, Last::Proceed) => true,
            (Last::Defer { deferral: one, asked: then }, Last::Defer { deferral: other, asked }) => {
                let ends = |deferral: &Deferral, asked: &Sent| asked.now.saturating_add(deferral.retry_after);
                let apart = ends(one, then).abs_diff(ends(other, asked));
                one.reason == other.reason && apart <= (other.retry_after / 8).min(1_000)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::ManualClock;
    use crate::testing::TempDir;
    use crate::wire::{Admission, DeferReason, Permit, Probe};

    const PERMIT: Permit = Permit { epoch: 1, lease: None };
    const PROCEED: Decision =
        Decision::Proceed(Admission { permit: PERMIT, fresh_for: 0, percent: 100, slower_than: None });
    const PROBE: Decision = Decision::Probe(Probe { permit: PERMIT, expires_in: 1, slower_than: None });

    fn deferral(retry_after: u64, fresh_for: u64) -> Deferral {
        Deferral { retry_after, spread: 7, reason: DeferReason::Open, fresh_for, admission: None }
    }

    fn noted(known: &LastKnown, decision: &Decision, clock: &ManualClock) {
        known.note("a", decision, Sent::at(clock));
    }

    #[test]
    fn a_deferral_lasts_for_what_is_left_of_it_and_then_nothing_is_known() {
        let (known, clock) = (LastKnown::default(), ManualClock::new(1_000));
        noted(&known, &Decision::Defer(deferral(100, 50)), &clock);
        clock.advance(Duration::from_millis(60));
        assert_eq!(known.recall("a", &clock), Fallback::Defer(deferral(40, 0)));
        assert_eq!(known.recall("b", &clock), Fallback::Unknown);
        clock.advance(Duration::from_millis(40));
        assert_eq!(known.recall("a", &clock), Fallback::Passed);
    }

    #[test]
    fn who_was_let_through_stays_so_unless_it_was_as_a_probe() {
        let (known, clock) = (LastKnown::default(), ManualClock::new(1_000));
        noted(&known, &PROCEED, &clock);
        clock.advance(Duration::from_secs(9));
        assert_eq!(known.recall("a", &clock), Fallback::Proceed);
        noted(&known, &PROBE, &clock);
        assert_eq!(known.recall("a", &clock), Fallback::Unknown);
    }

    #[cfg(unix)]
    #[test]
    fn the_next_process_knows_as_much_and_by_the_wall_clock_no_longer() {
        let temp = TempDir::new();
        let process = || LastKnown::in_files(Some(Files::of(temp.path().join("known"), "store", "namespace")));
        let clock = ManualClock::new(1_000_000);
        noted(&process(), &Decision::Defer(deferral(10_000, 50)), &clock);
        let later = |now| process().recall("a", &ManualClock::new(now));
        assert_eq!(later(1_004_000), Fallback::Defer(deferral(6_000, 0)));
        assert_eq!(later(1_010_000), Fallback::Passed);
        assert_eq!(later(900_000), Fallback::Defer(deferral(10_000, 0)), "dated later counts as dated now");
        noted(&process(), &PROCEED, &clock);
        assert_eq!(later(9_000_000_000), Fallback::Proceed);
        noted(&process(), &PROBE, &clock);
        assert_eq!(later(1_000_000), Fallback::Unknown);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_written_only_when_it_would_say_something_else() {
        let temp = TempDir::new();
        let folder = temp.path().join("known");
        let process = || LastKnown::in_files(Some(Files::of(folder.clone(), "store", "namespace")));
        let (known, clock) = (process(), ManualClock::new(1_000_000));
        // Gone, it shows whether it is written again.
        let is_written = |known: &LastKnown, decision: &Decision, keep: bool| {
            let file =
                std::fs::read_dir(&folder).ok().and_then(|mut files| files.next()).map(|file| file.unwrap().path());
            let before = file.as_ref().map(|file| std::fs::read(file).unwrap());
            if !keep {
                file.iter().for_each(|file| std::fs::remove_file(file).unwrap());
            }
            noted(known, decision, &clock);
            let again =
                std::fs::read_dir(&folder).unwrap().next().map(|file| std::fs::read(file.unwrap().path()).unwrap());
            if keep { again != before } else { again.is_some() }
        };
        assert!(is_written(&known, &PROCEED, false));
        assert!(!is_written(&known, &PROCEED, false));
        assert!(is_written(&known, &Decision::Defer(deferral(10_000, 50)), false));
        clock.advance(Duration::from_millis(3_000));
        assert!(!is_written(&known, &Decision::Defer(deferral(7_000, 50)), false), "it ends at the same instant");
        assert!(is_written(&known, &Decision::Defer(deferral(10_000, 50)), false));
        assert!(!is_written(&process(), &Decision::Defer(deferral(10_000, 50)), true), "another process wrote it");
    }
}
