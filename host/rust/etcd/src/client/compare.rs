//! Comparison of this machine's clock with those of the members.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use halfopen_contract::store::StoreError;

use super::Client;
use crate::clock::ClockState;

/// The time for a comparison, at most. A clock in whole seconds shows its offset within one second.
const LONGEST: Duration = Duration::from_millis(2_500);

/// The time for an answer of a member beside the first.
const OTHERS: Duration = Duration::from_millis(300);

impl Client {
    /// Whether this machine's clock is proven; false where it must be compared first.
    pub fn has_proven_clock(&self) -> Result<bool, StoreError> {
        let (member, by) = match self.clock.state() {
            ClockState::Proven => return Ok(true),
            ClockState::Unproven => return Ok(false),
            ClockState::Refuted { member, by } => (&self.members[member].name, by),
        };
        let (max_skew, bound) = (self.clock.max_skew, self.clock.bound());
        Err(self.place.denied(format!(
            "the clock of this machine is at least {by} that of the member {member}, and max_skew={max_skew:?} allows \
             {bound:?} to most members; have both set by NTP"
        )))
    }

    /// Compares the clock with those of the members that answer, until it is proven or refuted.
    pub fn compare_clocks(&self) -> Result<(), StoreError> {
        let _comparison = self.comparison.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have compared while this one waited.
        if self.has_proven_clock()? {
            return Ok(());
        }
        let preferred = self.preferred.load(Ordering::Relaxed);
        let until = Instant::now() + LONGEST.min(self.timeout);
        let step = (self.clock.bound() / 4).clamp(Duration::from_millis(1), Duration::from_millis(100));
        let mut open: Vec<usize> = (0..self.members.len()).collect();
        loop {
            open.retain(|member| {
                let limit = if *member == preferred { self.timeout / 3 } else { OTHERS };
                let request = self.agent.get(format!("{}/version", self.members[*member].base));
                let request = request.config().timeout_global(Some(limit)).build();
                let has_answered = self.observed(*member, || request.call()).is_ok();
                has_answered && self.clock.has_observed(*member) && !self.clock.is_compared(*member)
            });
            if open.is_empty() || Instant::now() >= until {
                break;
            }
            std::thread::sleep(step);
        }
        if self.has_proven_clock()? {
            return Ok(());
        }
        let (name, bound) = (&self.members[preferred].name, self.clock.bound());
        Err(self.place.unavailable(if self.clock.has_observed(preferred) {
            format!(
                "the clock of this machine cannot be compared with that of {name} to within {bound:?}: its answers take \
                 too long; try again, or give a larger max_skew"
            )
        } else {
            format!(
                "{name} sent no time to compare the clock of this machine with; if a proxy removes the header `Date`, let \
                 it pass"
            )
        }))
    }
}
