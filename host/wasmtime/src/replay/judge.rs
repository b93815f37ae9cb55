//! Whether an answer fits what is expected, and how it reads.

use super::expect::{Field, Kind, Number, OfAcquire, Override};
use super::steps::Answered;
use crate::wire::Decision;
use crate::{Inspection, Mode, Permit, Receipt, Verdict};

pub(super) fn kind(decision: &Decision) -> Kind {
    match decision {
        Decision::Proceed(_) => Kind::Proceed,
        Decision::Probe(_) => Kind::Probe,
        Decision::Defer(_) => Kind::Defer,
    }
}

pub(super) fn permit(decision: &Decision) -> Option<Permit> {
    match decision {
        Decision::Proceed(admission) => Some(admission.permit),
        Decision::Probe(probe) => Some(probe.permit),
        Decision::Defer(_) => None,
    }
}

/// Whether one answer fits; that the numbers of each kind do is judged after all of them.
pub(super) fn fits_acquire(expect: Option<OfAcquire>, answer: &Answered<Decision>) -> bool {
    match (answer, expect) {
        (Err(refused), Some(OfAcquire::Refused)) => refused.by_component,
        (Err(_), _) | (Ok(_), Some(OfAcquire::Refused)) => false,
        (Ok(decision), Some(OfAcquire::Each(wanted))) => kind(decision) == wanted,
        (Ok(Decision::Defer(deferral)), Some(OfAcquire::DeferFor(wanted))) => wanted.fits(deferral.retry_after),
        (Ok(_), Some(OfAcquire::DeferFor(_))) => false,
        (Ok(_), Some(OfAcquire::Counts(_)) | None) => true,
    }
}

pub(super) fn compare(field: &Field, inspection: &Inspection) -> (bool, String) {
    match *field {
        Field::State(wanted) => (inspection.state == wanted, format!("state {}", inspection.state)),
        Field::Override(wanted) => {
            let got = forced(inspection);
            (got == wanted, format!("override {}", got.name()))
        }
        Field::ProbeDue(wanted) => (inspection.probe_due == wanted, format!("probe_due {}", inspection.probe_due)),
        Field::Number(number, wanted) => {
            let got = match number {
                Number::Leases => inspection.leases.len() as u64,
                Number::Successes => u64::from(inspection.successes),
                Number::Level => u64::from(inspection.level),
                Number::Calls => inspection.calls,
                Number::Failures => inspection.failures,
                Number::Slow => inspection.slow,
                Number::FailuresInRow => inspection.failures_in_row,
            };
            (wanted.fits(got), format!("{} {got}", number.name()))
        }
    }
}

fn forced(inspection: &Inspection) -> Override {
    match inspection.forced.as_ref().map(|forced| forced.mode) {
        None | Some(Mode::None) => Override::None,
        Some(Mode::Open) => Override::ForcedOpen,
        Some(Mode::Closed) => Override::ForcedClosed,
    }
}

pub(super) fn of_acquire(answer: &Answered<Decision>) -> String {
    match answer {
        Ok(Decision::Proceed(admission)) => format!("proceed; epoch {}", admission.permit.epoch),
        Ok(Decision::Probe(probe)) => {
            let token = probe.permit.lease.map_or_else(|| "none".to_owned(), |token| token.to_string());
            format!("probe; epoch {}, token {token}, lease {} ms", probe.permit.epoch, probe.expires_in)
        }
        Ok(Decision::Defer(deferral)) => format!("defer for {} ms; {}", deferral.retry_after, deferral.reason),
        Err(refused) => refused.text.clone(),
    }
}

pub(super) fn of_receipt(answer: &Answered<Receipt>) -> String {
    match answer {
        Ok(receipt) => match &receipt.verdict {
            Verdict::Applied => format!("applied; {}", receipt.state),
            Verdict::Stale(reason) => format!("stale, {reason}; {}", receipt.state),
        },
        Err(refused) => refused.text.clone(),
    }
}

pub(super) fn of_inspection(answer: &Answered<Inspection>) -> String {
    let Inspection { state, probe_due, leases, successes, level, calls, failures, slow, failures_in_row, .. } =
        match answer {
            Ok(inspection) => inspection,
            Err(refused) => return refused.text.clone(),
        };
    let forced = answer.as_ref().map_or(Override::None, forced).name();
    let leases = leases.len();
    format!(
        "state {state}, override {forced}, probe_due {probe_due}, leases {leases}, successes {successes}, level {level}, \
         calls {calls}, failures {failures}, slow {slow}, failures_in_row {failures_in_row}"
    )
}
