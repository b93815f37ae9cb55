//! Speaks to a breaker as its users do: through local admission.

use crate::local::Admitted;
use crate::op::{Answer, Call};
use crate::wire::{self, Outcome, Permit, State, Verdict};
use crate::{Admission, Breaker, BreakerError, Decision, Receipt, Recorded};

/// Makes a call, and answers what its user would see.
pub(super) fn speak(breaker: &Breaker, call: Call) -> Result<Answer, BreakerError> {
    Ok(match call {
        Call::Acquire { caller } => Answer::Decision(decision(breaker.clone().caller(&*caller).acquire()?)),
        Call::Report { permit, outcome, took } if permit.lease.is_none() => {
            let took = took.map(std::time::Duration::from_millis);
            Answer::Receipt(receipt(breaker.record(under(breaker, permit), outcome, took)?))
        }
        Call::Release { permit } if permit.lease.is_none() => {
            Answer::Receipt(receipt(breaker.record(under(breaker, permit), Outcome::Ignored, None)?))
        }
        Call::Report { permit, outcome, took } => {
            Answer::Receipt(breaker.report(permit, outcome, took.map(std::time::Duration::from_millis))?)
        }
        Call::Release { permit } => Answer::Receipt(breaker.release(permit)?),
        Call::ReportTally { permit, tally } => Answer::Receipt(breaker.report_tally(permit, tally)?),
        Call::Renew { permit } => Answer::Receipt(breaker.renew(permit)?),
        Call::Inspect => Answer::Inspection(breaker.inspect()?),
        Call::Policy => Answer::Policy(breaker.policy()?),
        Call::Configure { policy } => Answer::Receipt(breaker.configure(&policy)?),
        Call::Force { mode, lasting, note } => {
            Answer::Receipt(breaker.force(mode, lasting.map(std::time::Duration::from_millis), &note)?)
        }
        Call::Reset => Answer::Receipt(breaker.reset()?),
        Call::Forget => Answer::Receipt(breaker.forget()?),
        Call::Prune { idle } => Answer::Pruned(breaker.prune(std::time::Duration::from_millis(idle))?),
    })
}

fn under(breaker: &Breaker, permit: Permit) -> Admitted {
    let known = breaker.handle.local.as_ref().and_then(|local| local.admitted(permit.epoch));
    known.unwrap_or(Admitted { epoch: permit.epoch, generation: None, slower_than: None })
}

fn decision(decision: Decision) -> wire::Decision {
    let ms = crate::breaker::millis;
    match decision {
        Decision::Defer(deferral) => wire::Decision::Defer(deferral),
        Decision::Probe(guard) => {
            let expires_in = guard.expires_in().map_or(0, ms);
            let slower_than = guard.slower_than().map(ms);
            wire::Decision::Probe(wire::Probe { permit: guard.into_permit(), expires_in, slower_than })
        }
        Decision::Proceed(guard) => {
            let (fresh_for, percent) = (ms(guard.fresh_for()), guard.percent());
            let slower_than = guard.slower_than().map(ms);
            wire::Decision::Proceed(Admission { permit: guard.into_permit(), fresh_for, percent, slower_than })
        }
    }
}

/// What is counted in memory has been taken in, as far as its user can tell.
fn receipt(recorded: Recorded) -> Receipt {
    match recorded {
        Recorded::Now(receipt) => receipt,
        Recorded::Later | Recorded::Nothing => {
            Receipt { verdict: Verdict::Applied, state: State::Closed, next_due: None, transitions: Vec::new() }
        }
    }
}
