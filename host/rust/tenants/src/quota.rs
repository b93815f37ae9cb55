//! The number of dependencies that a tenant may have.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use halfopen::{Host, StoreError};

/// The time between two reads of the store's list, at least.
const LIST_EVERY: Duration = Duration::from_secs(1);

/// Whether a dependency may be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// It is one of the tenant's.
    Yes,
    /// The limit is reached.
    No,
    /// The store's list decides.
    Unknown,
}

pub(crate) struct Quota {
    limit: u32,
    names: Mutex<Names>,
}

#[derive(Default)]
struct Names {
    /// The names in the store's last list, and those that have been used since.
    used: HashSet<Box<str>>,
    /// The monotonic time of that list.
    listed: Option<Duration>,
}

impl Quota {
    pub fn new(limit: u32) -> Self {
        Quota { limit, names: Mutex::default() }
    }

    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// The decision from memory.
    pub fn check(&self, host: &Host, dependency: &str) -> Admitted {
        let mut names = self.names();
        let now = host.clock().monotonic();
        if names.used.contains(dependency) {
            Admitted::Yes
        } else if names.listed.is_none_or(|listed| now.saturating_sub(listed) >= LIST_EVERY) {
            Admitted::Unknown
        } else {
            names.admit(self.limit, dependency)
        }
    }

    /// The decision from memory, or by the store's list.
    pub fn check_store(&self, host: &Host, dependency: &str) -> Result<Admitted, StoreError> {
        match self.check(host, dependency) {
            Admitted::Unknown => {}
            decided => return Ok(decided),
        }
        let now = host.clock().monotonic();
        // Without the lock: calls about names in memory do not wait for the store.
        let used = host.list()?.into_iter().map(String::into_boxed_str).collect();
        let mut names = self.names();
        *names = Names { used, listed: Some(now) };
        Ok(names.admit(self.limit, dependency))
    }

    /// Removes a name that the component has refused.
    pub fn remove(&self, dependency: &str) {
        self.names().used.remove(dependency);
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Names {
    fn admit(&mut self, limit: u32, dependency: &str) -> Admitted {
        if self.used.contains(dependency) {
            return Admitted::Yes;
        }
        if self.used.len() as u64 >= u64::from(limit) {
            return Admitted::No;
        }
        self.used.insert(dependency.into());
        Admitted::Yes
    }
}
