//! One dependency's breaker: the operations.

use std::sync::Arc;
use std::time::Duration;

use crate::acquire::LONGEST_CALLER;
use crate::error::{BreakerError, StoreError};
use crate::guard::PermitGuard;
use crate::host::Host;
use crate::local::Local;
use crate::op::{Answer, Call, Op};
use crate::store::Key;
use crate::wire::{Deferral, Inspection, Mode, Outcome, Permit, Policy, PolicyInForce, Receipt, Tally, Transition};

/// What `acquire` answers. Deferring is an answer, not an error.
#[derive(Debug)]
#[must_use = "a permit that is dropped is given back"]
pub enum Decision {
    /// Make the call, and report its outcome.
    Proceed(PermitGuard),
    /// Make the call as the probe, under a lease, and report its outcome before the lease ends.
    Probe(PermitGuard),
    /// Make no call now.
    Defer(Deferral),
}

impl Decision {
    /// A permit that is dropped is settled on another thread.
    pub(crate) fn settle_elsewhere(mut self) -> Self {
        if let Decision::Proceed(guard) | Decision::Probe(guard) = &mut self {
            guard.settle_elsewhere();
        }
        self
    }
}

/// The breaker of one dependency. Clones are cheap, and speak of the same record.
///
/// While the component's last answer holds (the policy's `fresh_ms`), calls are admitted and refused from this process's
/// memory, in nanoseconds; all handles of one dependency in a [`Host`] share what is known. Successes are counted in memory
/// and handed over with the next failure, when that answer ends, or when the last handle of the host goes. A process that
/// crashes loses the successes that it has not handed over: never a failure that the store has taken, a lease or a change of
/// state. What this
/// process learns it acts on at once; what another one does, within `fresh_ms`.
///
/// Threads that call [`acquire`](Breaker::acquire) very often do best with a clone each; [`call`](Breaker::call) does not
/// mind sharing one.
pub struct Breaker {
    pub(crate) handle: Arc<Handle>,
}

/// What a handle and its permits share. A clone of the handle has one of its own, so that threads with a clone each do not
/// contend for its count of references.
#[derive(Clone)]
pub(crate) struct Handle {
    pub host: Host,
    pub dependency: Arc<str>,
    pub caller: Arc<str>,
    pub timeout: Option<Duration>,
    /// What is known in memory; none where local admission is off.
    pub local: Option<Arc<Local>>,
    /// Whether its calls may go the short way: nothing is set here that each of them would have to heed.
    pub plain: bool,
}

impl Handle {
    /// Changes what is set.
    fn set(&mut self, change: impl FnOnce(&mut Self)) {
        change(self);
        self.plain = self.timeout.is_none() && self.caller.len() <= LONGEST_CALLER;
    }
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
    pub(crate) fn new(host: Host, dependency: String) -> Self {
        let caller = host.inner.caller.clone();
        let local = host.inner.local.as_ref().map(|admission| admission.of(&dependency));
        let dependency = local.as_ref().map_or_else(|| dependency.into(), |local| local.dependency.clone());
        let mut handle = Handle { host, dependency, caller, timeout: None, local, plain: false };
        handle.set(|_| {});
        Breaker { handle: Arc::new(handle) }
    }

    /// The same handle once more.
    pub(crate) fn share(&self) -> Self {
        Breaker { handle: self.handle.clone() }
    }

    /// A handle that does not keep the host from closing.
    pub(crate) fn passive(&self) -> Self {
        let handle = Handle { host: self.handle.host.passive(), ..(*self.handle).clone() };
        Breaker { handle: Arc::new(handle) }
    }

    /// Who holds the leases that this handle takes, as `inspect` shows it; up to 64 bytes.
    #[must_use]
    pub fn caller(mut self, name: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.handle).set(|handle| handle.caller = name.into().into());
        self
    }

    /// How long a call through this handle may take: see [`call`](Breaker::call) and [`call_async`](Breaker::call_async).
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        Arc::make_mut(&mut self.handle).set(|handle| handle.timeout = Some(limit));
        self
    }

    /// The dependency.
    pub fn dependency(&self) -> &str {
        &self.handle.dependency
    }

    /// Reports the outcome of a call made under a permit, and how long it took where that is known. This always asks the
    /// component, after handing over the successes that are counted in memory.
    ///
    /// A report with a lease may be repeated: it counts once. A report without one must not be repeated once it may have
    /// reached the store.
    ///
    /// # Errors
    /// [`BreakerError`]. A report that came too late is no error: see [`Receipt::verdict`].
    pub fn report(&self, permit: Permit, outcome: Outcome, took: Option<Duration>) -> Result<Receipt, BreakerError> {
        let failed = permit.lease.is_none() && matches!(outcome, Outcome::Failure | Outcome::Timeout);
        let local = self.handle.local.as_ref().filter(|_| failed);
        if let Some(admitted) = local.and_then(|local| local.admitted(permit.epoch)) {
            return self.report_there(admitted, outcome, took);
        }
        self.settle_counts();
        self.receipt(Call::Report { permit, outcome, took: took.map(millis) })
    }

    /// Reports the outcomes of many closed-state calls at once. They are judged once, after all of them are counted.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn report_tally(&self, permit: Permit, tally: Tally) -> Result<Receipt, BreakerError> {
        self.settle_counts();
        self.receipt(Call::ReportTally { permit, tally })
    }

    /// Lets a live lease start anew, now, never to end later than `probe_max_ms` after its grant.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn renew(&self, permit: Permit) -> Result<Receipt, BreakerError> {
        self.receipt(Call::Renew { permit })
    }

    /// Gives a permit back unused; the same as reporting [`Outcome::Ignored`].
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn release(&self, permit: Permit) -> Result<Receipt, BreakerError> {
        self.receipt(Call::Release { permit })
    }

    /// Shows the dependency. It changes nothing and takes no lease; the successes that are counted in memory are handed
    /// over before.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn inspect(&self) -> Result<Inspection, BreakerError> {
        self.settle_counts();
        match self.run(Call::Inspect)? {
            Answer::Inspection(inspection) => Ok(inspection),
            other => Err(mismatch(&other)),
        }
    }

    /// The policy that the dependency goes by, and whose it is.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn policy(&self) -> Result<PolicyInForce, BreakerError> {
        match self.run(Call::Policy)? {
            Answer::Policy(policy) => Ok(policy),
            other => Err(mismatch(&other)),
        }
    }

    /// Gives the dependency a policy of its own. The state is kept.
    ///
    /// # Errors
    /// [`BreakerError`]; [`InvalidPolicy`](BreakerError::InvalidPolicy) names all wrong fields at once.
    pub fn configure(&self, policy: &Policy) -> Result<Receipt, BreakerError> {
        self.control(Call::Configure { policy: Box::new(*policy) })
    }

    /// Forces a state, or takes that back. With `lasting` it ends by itself so long after it was set. The note is up to
    /// 100 bytes and is shown by `inspect`.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn force(&self, mode: Mode, lasting: Option<Duration>, note: &str) -> Result<Receipt, BreakerError> {
        self.control(Call::Force { mode, lasting: lasting.map(millis), note: note.into() })
    }

    /// Closes the breaker and lets it forget what was; the policy stays. Also mends a damaged record.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn reset(&self) -> Result<Receipt, BreakerError> {
        self.control(Call::Reset)
    }

    /// Removes the record, its history and its policy. Permits that are out stay stale. Also removes a damaged record.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn forget(&self) -> Result<Receipt, BreakerError> {
        self.control(Call::Forget)
    }

    /// Removes the record if nobody needs it, and says whether it did: only while it is closed, with nothing forced and
    /// no policy of its own, and only if nothing was written to it for so long. Permits that are out stay stale.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn prune(&self, idle: Duration) -> Result<bool, BreakerError> {
        self.settle_counts();
        match self.run(Call::Prune { idle: millis(idle) })? {
            Answer::Pruned(removed) => Ok(removed),
            other => Err(mismatch(&other)),
        }
    }

    /// The newest transitions, at most `limit`, oldest first.
    ///
    /// # Errors
    /// Those of the store.
    pub fn history(&self, limit: usize) -> Result<Vec<Transition>, StoreError> {
        let inner = &self.handle.host.inner;
        inner.store.history(Key { namespace: &inner.namespace, dependency: self.dependency() }, limit)
    }

    /// A control operation: what was counted comes before it, and what was known is over with it.
    fn control(&self, call: Call) -> Result<Receipt, BreakerError> {
        self.settle_counts();
        let result = self.receipt(call);
        self.settle(self.handle.local.as_ref().and_then(|local| local.end()));
        result
    }

    pub(crate) fn receipt(&self, call: Call) -> Result<Receipt, BreakerError> {
        match self.run(call)? {
            Answer::Receipt(receipt) => Ok(receipt),
            other => Err(mismatch(&other)),
        }
    }

    /// Runs an operation, and heeds what the answer says of the state.
    pub(crate) fn run(&self, call: Call) -> Result<Answer, BreakerError> {
        let held = self.handle.host.inner.perform(self.op(call), None).0?;
        if let Some(local) = &self.handle.local {
            self.settle(local.hear(&held.answer, held.version));
        }
        Ok(held.answer)
    }

    pub(crate) fn op(&self, call: Call) -> Op {
        Op { dependency: self.handle.dependency.clone(), call }
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The runner pairs each call with its own kind of answer, so that this is a fault in this crate; even so it is no panic.
pub(crate) fn mismatch(answer: &Answer) -> BreakerError {
    BreakerError::Other(format!("an answer of another kind came back: {answer:?}"))
}
