//! A host: a store, a clock and the component, for all breakers of a namespace.

use std::sync::Arc;

use crate::batch::{CameTo, Ground, Settled, Tried};
use crate::breaker::Breaker;
use crate::builder::{HostBuilder, OnStoreError};
use crate::clock::Clock;
use crate::component::Component;
use crate::error::{BreakerError, OpenError, StoreError};
use crate::events;
use crate::group::Group;
use crate::last_known::LastKnown;
use crate::op::{Answer, Op};
use crate::pool::Pool;
use crate::race::{Next, Race};
use crate::store::Store;
use crate::transitions::Transitions;
use crate::wire::Policy;

/// Runs the breakers of a namespace: the component, with a store and a clock.
///
/// Clones share one host. It may be used from any number of threads, and from async code.
#[derive(Clone)]
pub struct Host {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub pool: Pool,
    pub group: Group,
    pub last_known: LastKnown,
    pub component: Component,
    pub namespace: Box<str>,
    pub default_policy: Policy,
    pub history: usize,
    pub caller: Arc<str>,
    pub on_store_error: OnStoreError,
}

impl Host {
    /// Opens a host on the store at an address: `sqlite:PATH`, a bare path (the same),
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE` (feature `postgres`), or `memory` (a store of this host alone, gone
    /// with it).
    ///
    /// # Errors
    /// [`OpenError`]: the address, the store, or the component.
    pub fn open(address: &str) -> Result<Host, OpenError> {
        Host::builder().address(address).build()
    }

    /// A host with more to choose.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// The breaker of a dependency. This reads nothing; the name is judged at each operation.
    pub fn breaker(&self, dependency: impl Into<String>) -> Breaker {
        Breaker::new(self.clone(), dependency.into())
    }

    /// The dependencies that have a record in this namespace, sorted by their bytes.
    ///
    /// # Errors
    /// Those of the store.
    pub fn list(&self) -> Result<Vec<String>, StoreError> {
        self.inner.store.list(self.namespace())
    }

    /// The transitions from now on, of all dependencies of the namespace, those that other processes bring about
    /// included.
    pub fn transitions(&self) -> Transitions {
        Transitions::from_now(self.clone())
    }

    /// Removes all records of the namespace, with their history. Permits that are out stay stale.
    ///
    /// # Errors
    /// Those of the store.
    pub fn remove_namespace(&self) -> Result<(), StoreError> {
        self.inner.store.remove_namespace(self.namespace())
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.inner.namespace
    }

    /// The component that decides.
    pub fn component(&self) -> &Component {
        &self.inner.component
    }

    /// What dependencies without a policy of their own go by.
    pub fn default_policy(&self) -> &Policy {
        &self.inner.default_policy
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("namespace", &self.inner.namespace).finish_non_exhaustive()
    }
}

impl Inner {
    /// Runs an operation; its answer is durable when this returns.
    pub fn run(&self, op: Op) -> Result<Answer, BreakerError> {
        let ground =
            Ground { store: &*self.store, pool: &self.pool, namespace: &self.namespace, history: self.history };
        let settled = self.settle(&ground, &op);
        self.traced(&op.dependency, settled)
    }

    /// Tries until it is settled: others may be faster, and then it decides again.
    fn settle(&self, ground: &Ground<'_>, op: &Op) -> Settled {
        let mut tried = ground.attempt(op);
        let mut race = None;
        loop {
            let wanted = match tried {
                Tried::Settled(settled) => return settled,
                Tried::Wants(wanted) => wanted,
            };
            let race = race.get_or_insert_with(|| Race::new(&op.call));
            let present = match self.group.submit(ground, op, wanted) {
                CameTo::Settled(settled) => return settled,
                CameTo::Lost(present) => present,
            };
            tried = match (race.lost(), present) {
                (Next::GiveUp, _) => return Err(BreakerError::Contended { dependency: op.dependency.to_string() }),
                (Next::Decide, Some(present)) => ground.decide(op, present),
                (Next::Decide, None) => ground.attempt(op),
                (Next::LookAfter(pause), _) => {
                    std::thread::sleep(pause);
                    race.again();
                    ground.attempt(op)
                }
            };
        }
    }

    fn traced(&self, dependency: &str, settled: Settled) -> Result<Answer, BreakerError> {
        match settled {
            Ok(held) => {
                events::transitions(&self.namespace, dependency, &held.transitions);
                events::stale(&self.namespace, dependency, &held.answer);
                Ok(held.answer)
            }
            Err(error) => {
                events::failed(&self.namespace, dependency, &error);
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod async_tests;
#[cfg(test)]
mod hostile_tests;
