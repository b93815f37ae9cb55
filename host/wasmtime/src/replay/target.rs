//! Who takes the steps of a run.

use std::sync::Arc;
use std::time::Duration;

use super::through;
use crate::error::BreakerError;
use crate::op::{Answer, Call};
use crate::store::Store;
use crate::wire::{self, Inspection, Mode, Outcome, Permit, Policy, Receipt, Tally};
use crate::{Clock, Host};

/// Breakers of another make than this crate's [`Host`]: those of a platform that loads the component, say. See
/// [`Replay::through`](super::Replay::through).
///
/// A failing store is a [`BreakerError::Store`], and ends the run; all other errors are for the expectation to judge.
#[expect(missing_docs, reason = "the operations are those of the contract, each by its name")]
pub trait Target {
    fn acquire(&mut self, dependency: &str, caller: &str) -> Result<wire::Decision, BreakerError>;
    fn report(
        &mut self,
        dependency: &str,
        permit: Permit,
        outcome: Outcome,
        took: Option<Duration>,
    ) -> Result<Receipt, BreakerError>;
    fn report_tally(&mut self, dependency: &str, permit: Permit, tally: Tally) -> Result<Receipt, BreakerError>;
    fn renew(&mut self, dependency: &str, permit: Permit) -> Result<Receipt, BreakerError>;
    fn release(&mut self, dependency: &str, permit: Permit) -> Result<Receipt, BreakerError>;
    fn inspect(&mut self, dependency: &str) -> Result<Inspection, BreakerError>;
    fn configure(&mut self, dependency: &str, policy: &Policy) -> Result<Receipt, BreakerError>;
    fn force(
        &mut self,
        dependency: &str,
        mode: Mode,
        lasting: Option<Duration>,
        note: &str,
    ) -> Result<Receipt, BreakerError>;
    fn reset(&mut self, dependency: &str) -> Result<Receipt, BreakerError>;
    fn forget(&mut self, dependency: &str) -> Result<Receipt, BreakerError>;
}

/// What the breakers of a run stand on.
pub struct Ground {
    /// Where the records are. It tells no time of its own in a run.
    pub store: Arc<dyn Store>,
    /// The namespace of the run.
    pub namespace: String,
    /// The virtual clock, for all that reads the time.
    pub clock: Arc<dyn Clock>,
    /// What the randomness is seeded with.
    pub seed: u64,
    /// What dependencies without a policy of their own go by. It may be invalid.
    pub default_policy: Policy,
}

/// Those who take the steps: by this crate's host, or another.
pub(super) enum Taker {
    Host { host: Host, local_admission: bool },
    Other(Box<dyn Target>),
}

impl Taker {
    pub(super) fn speak(&mut self, dependency: &str, call: Call) -> Result<Answer, BreakerError> {
        let target = match self {
            Taker::Host { host, local_admission: true } => return through::speak(&host.breaker(dependency), call),
            Taker::Host { host, local_admission: false } => return host.breaker(dependency).run(call),
            Taker::Other(target) => target,
        };
        let ms = |ms: Option<u64>| ms.map(Duration::from_millis);
        Ok(match call {
            Call::Acquire { caller } => Answer::Decision(target.acquire(dependency, &caller)?),
            Call::Report { permit, outcome, took } => {
                Answer::Receipt(target.report(dependency, permit, outcome, ms(took))?)
            }
            Call::ReportTally { permit, tally } => Answer::Receipt(target.report_tally(dependency, permit, tally)?),
            Call::Renew { permit } => Answer::Receipt(target.renew(dependency, permit)?),
            Call::Release { permit } => Answer::Receipt(target.release(dependency, permit)?),
            Call::Inspect => Answer::Inspection(target.inspect(dependency)?),
            Call::Configure { policy } => Answer::Receipt(target.configure(dependency, &policy)?),
            Call::Force { mode, lasting, note } => {
                Answer::Receipt(target.force(dependency, mode, ms(lasting), &note)?)
            }
            Call::Reset => Answer::Receipt(target.reset(dependency)?),
            Call::Forget => Answer::Receipt(target.forget(dependency)?),
            Call::Policy | Call::Prune { .. } => {
                return Err(BreakerError::Other("no step of a replay asks for that".to_owned()));
            }
        })
    }
}
