//! A host: a store, a clock and the component, for all breakers of a namespace.

use std::sync::Arc;
use std::time::Duration;

use crate::batch::{CameTo, Ground, Records, Settled};
use crate::breaker::Breaker;
use crate::builder::{HostBuilder, OnStoreError};
use crate::clock::Clock;
use crate::component::Component;
use crate::course::{Course, Todo};
use crate::error::{OpenError, StoreError};
use crate::events;
use crate::group::Group;
use crate::last_known::{Fallback, LastKnown};
use crate::local::LocalAdmission;
use crate::op::Op;
use crate::outage::Outage;
use crate::pool::Pool;
use crate::prune::{self, Pruned};
use crate::store::{Snapshot, Store};
use crate::transitions::Transitions;
use crate::undelivered::Undelivered;
use crate::wire::Policy;

/// Runs the breakers of a namespace: the component, with a store and a clock.
///
/// Clones share one host. It may be used from any number of threads, and from async code.
#[derive(Clone)]
pub struct Host {
    pub(crate) inner: Arc<Inner>,
    /// None for a handle that does not keep the host from closing.
    _life: Option<Arc<Life>>,
}

/// Held by all handles of a host: with the last of them goes what is still to be written.
struct Life {
    inner: Arc<Inner>,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.inner.close();
    }
}

pub(crate) struct Inner {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    /// Whether that is the machine's: what nearly every host has is read without a detour.
    pub machine_clock: bool,
    pub pool: Arc<Pool>,
    pub group: Group,
    pub outage: Outage,
    pub undelivered: Undelivered,
    pub last_known: LastKnown,
    /// None where it is switched off.
    pub local: Option<LocalAdmission>,
    pub component: Component,
    pub namespace: Box<str>,
    pub default_policy: Policy,
    pub history: usize,
    pub caller: Arc<str>,
    pub on_store_error: OnStoreError,
}

impl Host {
    pub(crate) fn new(inner: Inner) -> Host {
        let inner = Arc::new(inner);
        let life = Some(Arc::new(Life { inner: inner.clone() }));
        Host { inner, _life: life }
    }

    /// A handle that does not keep the host from closing.
    pub(crate) fn passive(&self) -> Host {
        Host { inner: self.inner.clone(), _life: None }
    }

    /// A host for another namespace, with the same store, clock, component and policy. It shares the instances too, so
    /// that it costs next to nothing. From so many dependencies on it lets go of what it knows of those not in use.
    #[cfg(feature = "tenants")]
    pub(crate) fn in_namespace(&self, namespace: &str, many: usize) -> Host {
        let Inner { store, clock, pool, local, component, caller, .. } = &*self.inner;
        Host::new(Inner {
            store: store.clone(),
            clock: clock.clone(),
            machine_clock: self.inner.machine_clock,
            pool: pool.clone(),
            group: Group::default(),
            outage: Outage::new(clock.runs()),
            undelivered: Undelivered::new(clock.runs()),
            last_known: LastKnown::default(),
            local: local.is_some().then(|| LocalAdmission::new(&**clock, None, many)),
            component: component.clone(),
            namespace: namespace.into(),
            default_policy: self.inner.default_policy,
            history: self.inner.history,
            caller: caller.clone(),
            on_store_error: self.inner.on_store_error,
        })
    }

    /// Opens a host on the store at an address: `sqlite:PATH`, a bare path (the same),
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE` (feature `postgres`), `etcd://HOST:PORT,HOST:PORT/PREFIX` (feature
    /// `etcd`), or `memory` (a store of this host alone, gone with it).
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

    /// Removes the records of the namespace that nobody needs any more: see [`Breaker::prune`].
    ///
    /// # Errors
    /// Those of the store's list; what fails for a single record is in the answer.
    pub fn prune(&self, idle: Duration) -> Result<Pruned, StoreError> {
        prune::prune(self, idle)
    }

    /// Removes all records of the namespace, with their history. Permits that are out stay stale.
    ///
    /// # Errors
    /// Those of the store.
    pub fn remove_namespace(&self) -> Result<(), StoreError> {
        let removed = self.inner.store.remove_namespace(self.namespace());
        // What was counted goes with the records.
        self.inner.local.iter().for_each(LocalAdmission::end_all);
        removed
    }

    /// Why the store could not be asked when an acquire last tried; none since it has answered again. What acquires are
    /// answered meanwhile is the host's [`OnStoreError`].
    pub fn store_error(&self) -> Option<StoreError> {
        self.inner.outage.error()
    }

    /// Whether a dependency was last deferred for a while that has passed since: then [`OnStoreError::LastKnown`] has
    /// nothing more to go by.
    pub fn last_wait_has_passed(&self, dependency: &str) -> bool {
        self.inner.last_known.recall(dependency, &*self.inner.clock) == Fallback::Passed
    }

    /// Why what was last known could not be kept in the folder of [`HostBuilder::last_known_in`] or read from it when that
    /// was last tried, and what to do.
    pub fn last_known_fault(&self) -> Option<String> {
        self.inner.last_known.fault()
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
    /// Writes what is still to be written. Called by the one who drops the last handle.
    fn close(self: &Arc<Self>) {
        // First, so that what cannot be handed over is known to wait.
        self.stop_deliveries();
        self.stop_handing_over();
        self.deliver_at_last();
    }

    /// Runs an operation; its answer is durable when this returns. It is tried on `view`, where one is given, before the
    /// store is looked at. The look that it was tried on comes back.
    pub fn perform(&self, op: Op, view: Option<Snapshot>) -> (Settled, Option<Snapshot>) {
        let records = Records { store: &*self.store, namespace: &self.namespace, history: self.history };
        let ground = Ground { records, pool: &self.pool };
        // What it would decide on while others write would be out of date.
        let joined = if op.call.nearly_always_writes() { self.group.join(&ground, &op) } else { None };
        let view = match joined {
            Some(CameTo::Settled(settled)) => return (self.traced(&op, settled), None),
            Some(CameTo::Lost(present)) => present,
            None => view,
        };
        let view = match view.map_or_else(|| records.look(&op), Ok) {
            Ok(view) => view,
            Err(error) => return (self.traced(&op, Err(error.into())), None),
        };
        let settled = self.settle(&ground, &op, &view);
        (self.traced(&op, settled), Some(view))
    }

    /// Tries until it is settled: others may be faster, and then it decides again.
    fn settle(&self, ground: &Ground<'_>, op: &Op, view: &Snapshot) -> Settled {
        let mut course = Course::new(op);
        let mut todo = course.decided(ground.decide(op, view));
        loop {
            todo = match todo {
                Todo::Look(after) => {
                    std::thread::sleep(after);
                    course.looked(ground.records.look(op))
                }
                Todo::Decide(present) => course.decided(ground.decide(op, &present)),
                Todo::Write(wanted) => course.wrote(self.group.submit(ground, op, wanted)),
                Todo::Done(settled) => return settled,
            };
        }
    }

    fn traced(&self, op: &Op, settled: Settled) -> Settled {
        if settled.is_ok() {
            self.outage.over();
            if op.call.nearly_always_writes() {
                self.undelivered.hurry();
            }
        }
        events::settled(&self.namespace, &op.dependency, &settled);
        settled
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod async_tests;
#[cfg(test)]
mod hostile_tests;
