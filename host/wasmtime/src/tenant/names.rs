//! Which dependencies a tenant has.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::StoreError;
use crate::host::Host;

/// The store is not asked for its list more often.
const LISTED_EVERY: Duration = Duration::from_secs(1);

/// Whether a dependency may be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// It is one of those that the tenant has.
    Is,
    /// The limit is reached.
    Full,
    /// The store's list says: that is to be looked at.
    Unknown,
}

pub(super) struct Names {
    most: u32,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Those in the store as it was listed last, and those that have been asked for since.
    names: HashSet<Box<str>>,
    listed: Option<Duration>,
}

impl Names {
    pub fn new(most: u32) -> Self {
        Names { most, known: Mutex::default() }
    }

    pub fn most(&self) -> u32 {
        self.most
    }

    /// What can be said without the store.
    pub fn look(&self, host: &Host, dependency: &str) -> Room {
        let mut known = self.known();
        let now = host.inner.clock.monotonic();
        if known.names.contains(dependency) {
            Room::Is
        } else if known.listed.is_none_or(|listed| now.saturating_sub(listed) >= LISTED_EVERY) {
            Room::Unknown
        } else {
            known.take(self.most, dependency)
        }
    }

    /// What the store says.
    pub fn look_up(&self, host: &Host, dependency: &str) -> Result<Room, StoreError> {
        match self.look(host, dependency) {
            Room::Unknown => {}
            known => return Ok(known),
        }
        let now = host.inner.clock.monotonic();
        // Nobody waits for it with the lock held: those whose names are known go on.
        let names = host.list()?.into_iter().map(String::into_boxed_str).collect();
        let mut known = self.known();
        *known = Known { names, listed: Some(now) };
        Ok(known.take(self.most, dependency))
    }

    /// The component has refused this name: it is none, and takes no place.
    pub fn refused(&self, dependency: &str) {
        self.known().names.remove(dependency);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn take(&mut self, most: u32, dependency: &str) -> Room {
        if self.names.contains(dependency) {
            return Room::Is;
        }
        if self.names.len() as u64 >= u64::from(most) {
            return Room::Full;
        }
        self.names.insert(dependency.into());
        Room::Is
    }
}
