//! The parts of a host that all its handles share.

use std::ops::Deref;
use std::sync::Arc;

use halfopen_contract::BreakerError;
use halfopen_contract::cas::Settled;
use halfopen_contract::engine::Request;
use halfopen_contract::store::Snapshot;
use halfopen_contract::time::Clock;

use crate::commit::{Executor, Runner};
use crate::local_admission::LocalAdmission;
use crate::outage::{LastKnown, OnStoreError, StoreBackoff};
use crate::outbox::Outbox;

/// See [the module](self).
pub(crate) struct Inner {
    pub runner: Arc<Runner>,
    pub outbox: Arc<Outbox>,
    /// None where local admission is off.
    pub local: Option<Arc<LocalAdmission>>,
    pub last_known: LastKnown,
    pub settings: Settings,
    pub clock: Arc<dyn Clock>,
}

/// The choices of a host that its namespaces share.
#[derive(Clone)]
pub(crate) struct Settings {
    pub on_store_error: OnStoreError,
    /// Whether the clock is the machine's, which is read without a virtual call.
    pub machine_clock: bool,
    /// The caller and the operator of its breakers.
    pub caller: Arc<str>,
    pub operator: Arc<str>,
}

impl Inner {
    /// The parts of a host whose operations `executor` runs.
    pub fn new(
        executor: Executor,
        store_backoff: StoreBackoff,
        local: Option<LocalAdmission>,
        settings: Settings,
    ) -> Inner {
        let local = local.map(Arc::new);
        let clock = executor.clock.clone();
        let runner = Arc::new(Runner::new(executor, store_backoff));
        let outbox = Arc::new(Outbox::new(runner.clone(), local.clone()));
        Inner { runner, outbox, local, last_known: LastKnown::default(), settings, clock }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.runner.executor.records.namespace
    }

    /// Runs an operation; its answer is durable when this returns. The record that it rests on comes back, where nothing was
    /// written.
    pub fn run(&self, request: &Request) -> (Result<Settled, BreakerError>, Option<Snapshot>) {
        let (settled, snapshot) = self.runner.run(request, None);
        if settled.is_ok() && request.operation.nearly_always_writes() {
            self.outbox.retry_now();
        }
        (settled, snapshot)
    }
}

/// A handle to the parts of a host. The last one that keeps the host open closes it.
#[derive(Clone)]
pub(crate) struct InnerHandle {
    inner: Arc<Inner>,
    /// None for a handle that does not keep the host open.
    _open: Option<Arc<KeepOpen>>,
}

struct KeepOpen(Arc<Outbox>);

impl Drop for KeepOpen {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl InnerHandle {
    /// The first handle.
    pub fn new(inner: Inner) -> Self {
        let open = Some(Arc::new(KeepOpen(inner.outbox.clone())));
        InnerHandle { inner: Arc::new(inner), _open: open }
    }

    /// A handle that does not keep the host open.
    pub fn passive(&self) -> Self {
        InnerHandle { inner: self.inner.clone(), _open: None }
    }
}

impl Deref for InnerHandle {
    type Target = Inner;

    #[inline(always)]
    fn deref(&self) -> &Inner {
        &self.inner
    }
}
