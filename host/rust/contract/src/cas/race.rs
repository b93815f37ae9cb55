use std::time::{Duration, Instant};

use crate::engine::Request;

/// An operation retries for at most this time. One caller wins each race, so only hundreds of callers that write the same
/// record without a pause reach it.
const LIMIT: Duration = Duration::from_secs(10);

/// A report retries for longer: its call has been made, and its outcome can still count.
const LIMIT_OF_REPORTS: Duration = Duration::from_secs(30);

/// The number of retries without a pause: the first races are lost to a few callers, later ones to many.
const WITHOUT_PAUSE: u32 = 3;

/// A pause is at most this many times as long as an attempt takes.
const LONGEST_PAUSE: u32 = 4;

/// The race of an operation for its record.
#[derive(Debug)]
pub(super) struct Race {
    until: Instant,
    lost: u32,
    /// When the present attempt began.
    begun: Instant,
}

/// The next step after a lost race.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Evaluate again, on the record as it is now.
    Evaluate,
    /// Load the record again after a pause.
    LoadAfter(Duration),
    /// Retry no more.
    GiveUp,
}

impl Race {
    pub fn new(request: &Request) -> Race {
        let limit = if request.operation.is_report() { LIMIT_OF_REPORTS } else { LIMIT };
        let now = Instant::now();
        Race { until: now + limit, lost: 0, begun: now }
    }

    /// Counts a lost race.
    pub fn lost(&mut self) -> Next {
        self.lost += 1;
        let now = Instant::now();
        let took = now.saturating_duration_since(std::mem::replace(&mut self.begun, now));
        if now >= self.until {
            return Next::GiveUp;
        }
        match self.lost.saturating_sub(WITHOUT_PAUSE) {
            0 => Next::Evaluate,
            many => {
                // With jitter: callers that lost together do not meet again.
                let pause = took.mul_f64(fastrand::f64() * f64::from(many.min(LONGEST_PAUSE)));
                self.begun = now + pause;
                Next::LoadAfter(pause)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Operation;

    #[test]
    fn lost_races_pause_ever_longer_and_end_in_time() {
        let mut race = Race::new(&Request { dependency: "payments".into(), operation: Operation::Inspect });
        for _ in 0..WITHOUT_PAUSE {
            assert_eq!(race.lost(), Next::Evaluate);
        }
        for _ in 0..20 {
            race.begun = Instant::now() - Duration::from_secs(1);
            let Next::LoadAfter(pause) = race.lost() else { panic!("it gave up") };
            assert!(pause < Duration::from_secs(5), "{pause:?}");
        }
        race.until = Instant::now();
        assert_eq!(race.lost(), Next::GiveUp);
    }
}
