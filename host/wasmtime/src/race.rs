//! Races for a record: how long an operation goes on that others were faster than.

use std::time::{Duration, Instant};

use crate::op::Call;

/// How long an operation goes on at most. Of those who race one wins each time, so that this is the end of hundreds that
/// want the same record without a pause.
const LIMIT: Duration = Duration::from_secs(10);

/// For what has happened and can still count, whoever waits for the answer has had what they wanted.
const LIMIT_OF_REPORTS: Duration = Duration::from_secs(30);

/// So often an operation tries again at once. The first time it has lost to somebody; later on there are many.
const AT_ONCE: u32 = 3;

/// The pauses grow up to so many times what a try takes.
const LONGEST_PAUSE: u32 = 4;

/// An operation in a race.
pub(crate) struct Race {
    until: Instant,
    lost: u32,
    /// When its present try began.
    begun: Instant,
}

/// What to do after a race was lost.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Decide again, on the record as it is known to be.
    Decide,
    /// Look at the record again after so long.
    LookAfter(Duration),
    GiveUp,
}

impl Race {
    pub fn new(call: &Call) -> Race {
        let limit = match call {
            Call::Report { .. } | Call::ReportTally { .. } | Call::Renew { .. } | Call::Release { .. } => {
                LIMIT_OF_REPORTS
            }
            _ => LIMIT,
        };
        let now = Instant::now();
        Race { until: now + limit, lost: 0, begun: now }
    }

    /// Others were faster.
    pub fn lost(&mut self) -> Next {
        self.lost += 1;
        let now = Instant::now();
        let took = now.saturating_duration_since(std::mem::replace(&mut self.begun, now));
        if now >= self.until {
            return Next::GiveUp;
        }
        match self.lost.saturating_sub(AT_ONCE) {
            0 => Next::Decide,
            many => {
                // At random, so that those who have lost together do not meet again.
                let pause = took.mul_f64(fastrand::f64() * f64::from(many.min(LONGEST_PAUSE)));
                self.begun = now + pause;
                Next::LookAfter(pause)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_loses_again_and_again_pauses_ever_longer_and_gives_up_in_the_end() {
        let mut race = Race::new(&Call::Inspect);
        for _ in 0..AT_ONCE {
            assert_eq!(race.lost(), Next::Decide);
        }
        for _ in 0..20 {
            race.begun = Instant::now() - Duration::from_secs(1);
            let Next::LookAfter(pause) = race.lost() else { panic!("it gave up") };
            assert!(pause < Duration::from_secs(5), "{pause:?}");
        }
        race.until = Instant::now();
        assert_eq!(race.lost(), Next::GiveUp);
    }
}
