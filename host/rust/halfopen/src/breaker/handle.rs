use std::sync::Arc;
use std::time::Duration;

use halfopen_contract::cas::Settled;
use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::Receipt;
use halfopen_contract::{BreakerError, EngineError};

use crate::inner::InnerHandle;
use crate::local_admission::{DueSuccesses, LocalBreaker};

/// The breaker of one dependency. Clones are cheap, and use the same record.
///
/// While the last decision of the engine holds (the policy's `fresh_ms`), calls are admitted and refused from this process's
/// memory, in nanoseconds; all handles of one dependency in a [`Host`](crate::Host) share it. Successes are counted in memory
/// and flushed to the store with the next failure, when that decision ends, or when the last handle of the host goes. A process
/// that crashes loses the successes that it has not flushed: never a failure that the store has taken, a lease or a change of
/// state. This process acts at once on what it learns itself, and within `fresh_ms` on what another one does.
///
/// Threads that call [`acquire`](Breaker::acquire) very often do best with a clone each; [`call`](Breaker::call) does not
/// mind sharing one.
pub struct Breaker {
    pub(crate) handle: Arc<Handle>,
}

/// The parts that a breaker and its permits share. A clone of the breaker has its own, so that threads with a clone each do
/// not contend for its count of references.
#[derive(Clone)]
pub(crate) struct Handle {
    pub inner: InnerHandle,
    pub dependency: Arc<str>,
    pub caller: Arc<str>,
    pub operator: Arc<str>,
    pub timeout: Option<Duration>,
    /// None where local admission is off.
    pub local: Option<Arc<LocalBreaker>>,
}

impl Clone for Breaker {
    fn clone(&self) -> Self {
        Breaker { handle: Arc::new((*self.handle).clone()) }
    }
}

impl std::fmt::Debug for Breaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Breaker").field("dependency", &self.handle.dependency).finish_non_exhaustive()
    }
}

impl Breaker {
    pub(crate) fn new(inner: InnerHandle, dependency: String) -> Self {
        let local = inner.local.as_ref().map(|admission| admission.get(&dependency));
        let dependency = local.as_ref().map_or_else(|| dependency.into(), |local| local.dependency.clone());
        let (caller, operator) = (inner.settings.caller.clone(), inner.settings.operator.clone());
        Breaker { handle: Arc::new(Handle { inner, dependency, caller, operator, timeout: None, local }) }
    }

    /// The same handle once more.
    pub(super) fn share(&self) -> Self {
        Breaker { handle: self.handle.clone() }
    }

    /// A handle that does not keep the host open.
    pub(super) fn passive(&self) -> Self {
        let handle = Handle { inner: self.handle.inner.passive(), ..(*self.handle).clone() };
        Breaker { handle: Arc::new(handle) }
    }

    /// Sets the caller: the holder of the leases that this handle takes, as `inspect` shows it, and the caller of the
    /// failures that it reports. At most 128 bytes are kept. Default: that of the host.
    #[must_use]
    pub fn caller(mut self, name: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.handle).caller = name.into().into();
        self
    }

    /// Sets the operator of `configure`, `force`, `reset` and `forget` through this handle. At most 128 bytes are kept.
    /// Default: that of the host.
    #[must_use]
    pub fn operator(mut self, by: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.handle).operator = by.into().into();
        self
    }

    /// Sets the time that a call through this handle may take: see [`call`](Breaker::call) and
    /// [`call_async`](Breaker::call_async).
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        Arc::make_mut(&mut self.handle).timeout = Some(limit);
        self
    }

    /// The dependency.
    pub fn dependency(&self) -> &str {
        &self.handle.dependency
    }

    /// The request of an operation on this dependency.
    pub(super) fn request(&self, operation: Operation) -> Request {
        Request { dependency: self.handle.dependency.clone(), operation }
    }

    /// Runs an operation, and ends the cached decision where the result shows another state.
    pub(super) fn run(&self, operation: Operation) -> Result<Settled, BreakerError> {
        let settled = self.handle.inner.run(&self.request(operation)).0?;
        if let Some(local) = &self.handle.local {
            self.report_successes(local.learn(&settled));
        }
        Ok(settled)
    }

    /// Runs an operation that is answered with a receipt.
    pub(super) fn receipt(&self, operation: Operation) -> Result<Receipt, BreakerError> {
        match self.run(operation)?.answer {
            Answer::Receipt(receipt) => Ok(receipt),
            other => Err(mismatch(&other)),
        }
    }

    /// Flushes the successes that are counted in memory, so that an operation sees them. Successes that the store does not
    /// take stay pending; the operation that follows returns the store's error itself.
    pub(super) fn flush(&self) {
        let outbox = &self.handle.inner.outbox;
        outbox.deliver_before(self.dependency());
        if let Some(local) = &self.handle.local {
            outbox.flush(local, None);
        }
    }

    /// Reports the successes that the end of a cached decision has left.
    pub(super) fn report_successes(&self, due: Option<DueSuccesses>) {
        if let (Some(local), Some(due)) = (&self.handle.local, due) {
            self.handle.inner.outbox.report_successes(local, due, None);
        }
    }
}

/// The error for an engine that answers an operation with an answer of another kind.
pub(super) fn mismatch(answer: &Answer) -> BreakerError {
    EngineError::Broken { why: format!("it gave an answer of another kind: {answer:?}") }.into()
}
