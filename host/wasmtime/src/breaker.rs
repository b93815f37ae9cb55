//! One dependency's breaker: the operations.

use std::sync::Arc;
use std::time::Duration;

use crate::error::{BreakerError, StoreError};
use crate::guard::PermitGuard;
use crate::host::Host;
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

/// The breaker of one dependency. Clones are cheap, and speak of the same record.
#[derive(Clone, Debug)]
pub struct Breaker {
    pub(crate) host: Host,
    pub(crate) dependency: Arc<str>,
    pub(crate) caller: Arc<str>,
    pub(crate) timeout: Option<Duration>,
}

impl Breaker {
    pub(crate) fn new(host: Host, dependency: String) -> Self {
        let caller = host.inner.caller.clone();
        Breaker { host, dependency: dependency.into(), caller, timeout: None }
    }

    /// Who holds the leases that this handle takes, as `inspect` shows it; up to 64 bytes.
    #[must_use]
    pub fn caller(mut self, name: impl Into<String>) -> Self {
        self.caller = name.into().into();
        self
    }

    /// How long a call through this handle may take: see [`call`](Breaker::call) and [`call_async`](Breaker::call_async).
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// The dependency.
    pub fn dependency(&self) -> &str {
        &self.dependency
    }

    /// Reports the outcome of a call made under a permit, and how long it took where that is known.
    ///
    /// A report with a lease may be repeated: it counts once. A report without one must not be repeated once it may have
    /// reached the store.
    ///
    /// # Errors
    /// [`BreakerError`]. A report that came too late is no error: see [`Receipt::verdict`].
    pub fn report(&self, permit: Permit, outcome: Outcome, took: Option<Duration>) -> Result<Receipt, BreakerError> {
        self.receipt(Call::Report { permit, outcome, took: took.map(millis) })
    }

    /// Reports the outcomes of many closed-state calls at once. They are judged once, after all of them are counted.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn report_tally(&self, permit: Permit, tally: Tally) -> Result<Receipt, BreakerError> {
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

    /// Shows the dependency. It changes nothing and takes no lease.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn inspect(&self) -> Result<Inspection, BreakerError> {
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
        self.receipt(Call::Configure { policy: Box::new(*policy) })
    }

    /// Forces a state, or takes that back. With `lasting` it ends by itself so long after it was set. The note is up to
    /// 100 bytes and is shown by `inspect`.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn force(&self, mode: Mode, lasting: Option<Duration>, note: &str) -> Result<Receipt, BreakerError> {
        self.receipt(Call::Force { mode, lasting: lasting.map(millis), note: note.into() })
    }

    /// Closes the breaker and lets it forget what was; the policy stays. Also mends a damaged record.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn reset(&self) -> Result<Receipt, BreakerError> {
        self.receipt(Call::Reset)
    }

    /// Removes the record, its history and its policy. Permits that are out stay stale. Also removes a damaged record.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn forget(&self) -> Result<Receipt, BreakerError> {
        self.receipt(Call::Forget)
    }

    /// Removes the record if nobody needs it, and says whether it did: only while it is closed, with nothing forced and
    /// no policy of its own, and only if nothing was written to it for so long. Permits that are out stay stale.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn prune(&self, idle: Duration) -> Result<bool, BreakerError> {
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
        let inner = &self.host.inner;
        inner.store.history(Key { namespace: &inner.namespace, dependency: &self.dependency }, limit)
    }

    fn receipt(&self, call: Call) -> Result<Receipt, BreakerError> {
        match self.run(call)? {
            Answer::Receipt(receipt) => Ok(receipt),
            other => Err(mismatch(&other)),
        }
    }

    pub(crate) fn run(&self, call: Call) -> Result<Answer, BreakerError> {
        self.host.inner.run(Op { dependency: self.dependency.clone(), call })
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The runner pairs each call with its own kind of answer, so that this is a fault in this crate; even so it is no panic.
pub(crate) fn mismatch(answer: &Answer) -> BreakerError {
    BreakerError::Other(format!("an answer of another kind came back: {answer:?}"))
}
