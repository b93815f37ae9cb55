//! The progress of long work.

use std::fmt::Display;
use std::io::{self, IsTerminal as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::output::note;

/// The interval between two lines.
const INTERVAL: Duration = Duration::from_secs(2);

/// Shows on a terminal, from time to time, how far the work has come. Threads may share it.
pub struct Progress {
    shown: Mutex<Instant>,
    is_terminal: bool,
}

impl Progress {
    /// The progress of work that begins now.
    pub fn new() -> Self {
        Progress { shown: Mutex::new(Instant::now()), is_terminal: io::stderr().is_terminal() }
    }

    /// Shows how far the work is, unless that was shown a moment ago.
    pub fn at(&self, place: impl Display) {
        if !self.is_terminal {
            return;
        }
        let Ok(mut shown) = self.shown.lock() else { return };
        if shown.elapsed() > INTERVAL {
            *shown = Instant::now();
            note(place);
        }
    }
}
