//! The types of the contract, as the rules have them and as hosts have them: two crates generate or write the same types.

use halfopen_contract::engine::{Answer, Operation};
use halfopen_contract::types::{
    Admission, Decision, DeferReason, Deferral, Error, Mode, Operator, Outcome, Permit, PolicyFault, PolicyInForce,
    PolicyOrigin, Probe, Receipt, Report, StaleReason, State, StorageError, Tally, Verdict,
};
use halfopen_guest::contract as guest;
use halfopen_guest::step::{Answer as GuestAnswer, Request};

/// An operation as the rules take it.
pub fn request(operation: &Operation) -> Request {
    match operation {
        Operation::Acquire { caller } => Request::Acquire { caller: String::from(&**caller) },
        Operation::Report { permit, report } => {
            Request::Report { permit: guest_permit(*permit), report: guest_report(report) }
        }
        Operation::ReportTally { permit, tally } => {
            Request::ReportTally { permit: guest_permit(*permit), tally: guest_tally(tally) }
        }
        Operation::Renew { permit } => Request::Renew { permit: guest_permit(*permit) },
        Operation::Release { permit } => Request::Release { permit: guest_permit(*permit) },
        Operation::Inspect => Request::Inspect,
        Operation::Policy => Request::Policy,
        Operation::Configure { policy, operator } => {
            Request::Configure { policy: policy.as_deref().map(String::from), operator: guest_operator(operator) }
        }
        Operation::Force { mode, lasting, operator } => {
            Request::Force { mode: guest_mode(*mode), lasting: *lasting, operator: guest_operator(operator) }
        }
        Operation::Reset { operator } => Request::Reset { operator: guest_operator(operator) },
        Operation::Forget { operator } => Request::Forget { operator: guest_operator(operator) },
        Operation::Prune { idle, operator } => Request::Prune { idle: *idle, operator: guest_operator(operator) },
    }
}

fn guest_permit(permit: Permit) -> guest::Permit {
    guest::Permit { epoch: permit.epoch, lease: permit.lease }
}

fn guest_report(report: &Report) -> guest::Report {
    guest::Report {
        outcome: match report.outcome {
            Outcome::Success => guest::Outcome::Success,
            Outcome::Failure => guest::Outcome::Failure,
            Outcome::Timeout => guest::Outcome::Timeout,
            Outcome::Ignored => guest::Outcome::Ignored,
        },
        took: report.took,
        caller: report.caller.clone(),
        cause: report.cause.clone(),
        retry_after: report.retry_after,
    }
}

fn guest_tally(tally: &Tally) -> guest::Tally {
    guest::Tally {
        successes: tally.successes,
        slow_successes: tally.slow_successes,
        failures: tally.failures,
        slow_failures: tally.slow_failures,
        caller: tally.caller.clone(),
        cause: tally.cause.clone(),
        retry_after: tally.retry_after,
    }
}

fn guest_operator(operator: &Operator) -> guest::Operator {
    guest::Operator { by: operator.by.clone(), note: operator.note.clone() }
}

fn guest_mode(mode: Mode) -> guest::Mode {
    match mode {
        Mode::Open => guest::Mode::Open,
        Mode::Closed => guest::Mode::Closed,
        Mode::None => guest::Mode::None,
    }
}

/// An answer of the rules as hosts take it.
pub fn answer(answer: GuestAnswer) -> Answer {
    match answer {
        GuestAnswer::Decision(decision) => Answer::Decision(self::decision(decision)),
        GuestAnswer::Receipt(receipt) => Answer::Receipt(self::receipt(receipt)),
        GuestAnswer::Inspection(json) => Answer::Inspection(json),
        GuestAnswer::Policy(in_force) => Answer::Policy(PolicyInForce {
            policy: in_force.policy,
            origin: match in_force.origin {
                guest::PolicyOrigin::Host => PolicyOrigin::Host,
                guest::PolicyOrigin::Dependency => PolicyOrigin::Dependency,
            },
        }),
        GuestAnswer::Pruned(is_removed) => Answer::Pruned(is_removed),
    }
}

fn permit(permit: guest::Permit) -> Permit {
    Permit { epoch: permit.epoch, lease: permit.lease }
}

fn decision(decision: guest::Decision) -> Decision {
    match decision {
        guest::Decision::Proceed(admission) => Decision::Proceed(self::admission(admission)),
        guest::Decision::Probe(probe) => Decision::Probe(Probe {
            permit: permit(probe.permit),
            expires_in: probe.expires_in,
            slower_than: probe.slower_than,
        }),
        guest::Decision::Defer(deferral) => Decision::Defer(Deferral {
            retry_after: deferral.retry_after,
            spread: deferral.spread,
            reason: match deferral.reason {
                guest::DeferReason::Open => DeferReason::Open,
                guest::DeferReason::Probing => DeferReason::Probing,
                guest::DeferReason::ForcedOpen => DeferReason::ForcedOpen,
                guest::DeferReason::Ramping => DeferReason::Ramping,
                guest::DeferReason::Other(text) => DeferReason::Other(text),
            },
            fresh_for: deferral.fresh_for,
            admission: deferral.admission.map(admission),
        }),
    }
}

fn admission(admission: guest::Admission) -> Admission {
    Admission {
        permit: permit(admission.permit),
        fresh_for: admission.fresh_for,
        percent: admission.percent,
        slower_than: admission.slower_than,
    }
}

fn receipt(receipt: guest::Receipt) -> Receipt {
    Receipt {
        verdict: match receipt.verdict {
            guest::Verdict::Applied => Verdict::Applied,
            guest::Verdict::Stale(reason) => Verdict::Stale(match reason {
                guest::StaleReason::Forced => StaleReason::Forced,
                guest::StaleReason::AlreadyReported => StaleReason::AlreadyReported,
                guest::StaleReason::LeaseExpired => StaleReason::LeaseExpired,
                guest::StaleReason::OldEpoch => StaleReason::OldEpoch,
                guest::StaleReason::UnknownPermit => StaleReason::UnknownPermit,
                guest::StaleReason::Other(text) => StaleReason::Other(text),
            }),
        },
        state: match receipt.state {
            guest::State::Closed => State::Closed,
            guest::State::Open => State::Open,
            guest::State::HalfOpen => State::HalfOpen,
        },
        next_due: receipt.next_due,
    }
}

/// An error of the rules as hosts take it.
pub fn error(error: guest::Error) -> Error {
    match error {
        guest::Error::InvalidDependency(why) => Error::InvalidDependency(why),
        guest::Error::InvalidPolicy(faults) => Error::InvalidPolicy(faults.into_iter().map(fault).collect()),
        guest::Error::InvalidArgument(why) => Error::InvalidArgument(why),
        guest::Error::Contended => Error::Contended,
        guest::Error::NewerVersion => Error::NewerVersion,
        guest::Error::Storage(error) => Error::Storage(match error {
            guest::StorageError::Unavailable(why) => StorageError::Unavailable(why),
            guest::StorageError::Denied(why) => StorageError::Denied(why),
            guest::StorageError::Corrupt(why) => StorageError::Corrupt(why),
            guest::StorageError::Other(why) => StorageError::Other(why),
        }),
        guest::Error::TooManyCalls(ms) => Error::TooManyCalls(ms),
        guest::Error::TooManyDependencies(limit) => Error::TooManyDependencies(limit),
        guest::Error::Other(why) => Error::Other(why),
    }
}

/// A fault of a policy as hosts take it.
pub fn fault(fault: guest::PolicyFault) -> PolicyFault {
    PolicyFault { field: fault.field, why: fault.why }
}
