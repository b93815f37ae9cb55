//! The core's types as the library's, which name the same things of the contract.

use halfopen_guest::contract as core;

use halfopen::{
    Admission, DeferReason, Deferral, FailureRate, Forced, Inspection, Lease, LostProbe, Mode, Permit, Policy,
    PolicyFault, PolicyInForce, PolicyOrigin, Ramp, Receipt, SlowCalls, StaleReason, State, Transition,
    TransitionReason, Verdict, Window,
};

pub fn policy(policy: &core::Policy) -> Policy {
    Policy {
        consecutive_failures: policy.consecutive_failures,
        failure_rate: policy
            .failure_rate
            .get()
            .map(|rate| FailureRate { percent: rate.percent, minimum_calls: rate.minimum_calls }),
        slow_calls: policy.slow_calls.get().map(|slow| SlowCalls {
            slower_than_ms: slow.slower_than_ms,
            percent: slow.percent,
            minimum_calls: slow.minimum_calls,
        }),
        window: match policy.window {
            core::Window::Ms(ms) => Window::Ms(ms),
            core::Window::Calls(calls) => Window::Calls(calls),
        },
        open_ms: policy.open_ms,
        open_multiplier: policy.open_multiplier,
        open_max_ms: policy.open_max_ms,
        jitter_percent: policy.jitter_percent,
        stable_after_ms: policy.stable_after_ms,
        lease_ms: policy.lease_ms,
        probe_max_ms: policy.probe_max_ms,
        probes: policy.probes,
        successes_to_close: policy.successes_to_close,
        lost_probe: match policy.lost_probe {
            core::LostProbe::Reprobe => LostProbe::Reprobe,
            core::LostProbe::Reopen => LostProbe::Reopen,
        },
        ramp: policy.ramp.get().map(|ramp| Ramp { over_ms: ramp.over_ms, from_percent: ramp.from_percent }),
        fresh_ms: policy.fresh_ms,
    }
}

/// The way back, for what is asked.
pub fn core_policy(policy: &Policy) -> core::Policy {
    core::Policy {
        consecutive_failures: policy.consecutive_failures,
        failure_rate: policy
            .failure_rate
            .map(|rate| core::FailureRate { percent: rate.percent, minimum_calls: rate.minimum_calls })
            .into(),
        slow_calls: policy
            .slow_calls
            .map(|slow| core::SlowCalls {
                slower_than_ms: slow.slower_than_ms,
                percent: slow.percent,
                minimum_calls: slow.minimum_calls,
            })
            .into(),
        window: match policy.window {
            Window::Ms(ms) => core::Window::Ms(ms),
            Window::Calls(calls) => core::Window::Calls(calls),
        },
        open_ms: policy.open_ms,
        open_multiplier: policy.open_multiplier,
        open_max_ms: policy.open_max_ms,
        jitter_percent: policy.jitter_percent,
        stable_after_ms: policy.stable_after_ms,
        lease_ms: policy.lease_ms,
        probe_max_ms: policy.probe_max_ms,
        probes: policy.probes,
        successes_to_close: policy.successes_to_close,
        lost_probe: match policy.lost_probe {
            LostProbe::Reprobe => core::LostProbe::Reprobe,
            LostProbe::Reopen => core::LostProbe::Reopen,
        },
        ramp: policy.ramp.map(|ramp| core::Ramp { over_ms: ramp.over_ms, from_percent: ramp.from_percent }).into(),
        fresh_ms: policy.fresh_ms,
    }
}

pub fn faults(faults: &[core::PolicyFault]) -> Vec<PolicyFault> {
    faults.iter().map(|fault| PolicyFault { field: fault.field.to_string(), why: fault.why.to_string() }).collect()
}

pub fn permit(permit: core::Permit) -> Permit {
    Permit { epoch: permit.epoch, lease: permit.lease.get() }
}

pub fn admission(admission: &core::Admission) -> Admission {
    Admission {
        permit: permit(admission.permit),
        fresh_for: admission.fresh_for,
        percent: admission.percent,
        slower_than: admission.slower_than.get(),
    }
}

pub fn deferral(deferral: &core::Deferral) -> Deferral {
    Deferral {
        retry_after: deferral.retry_after,
        spread: deferral.spread,
        reason: match &deferral.reason {
            core::DeferReason::Open => DeferReason::Open,
            core::DeferReason::Probing => DeferReason::Probing,
            core::DeferReason::ForcedOpen => DeferReason::ForcedOpen,
            core::DeferReason::Ramping => DeferReason::Ramping,
            core::DeferReason::Other(text) => DeferReason::Other(text.to_string()),
        },
        fresh_for: deferral.fresh_for,
        admission: deferral.admission.get().as_ref().map(admission),
    }
}

pub fn receipt(receipt: &core::Receipt) -> Receipt {
    Receipt {
        verdict: match &receipt.verdict {
            core::Verdict::Applied => Verdict::Applied,
            core::Verdict::Stale(reason) => Verdict::Stale(match reason {
                core::StaleReason::Forced => StaleReason::Forced,
                core::StaleReason::AlreadyReported => StaleReason::AlreadyReported,
                core::StaleReason::LeaseExpired => StaleReason::LeaseExpired,
                core::StaleReason::OldEpoch => StaleReason::OldEpoch,
                core::StaleReason::UnknownPermit => StaleReason::UnknownPermit,
                core::StaleReason::Other(text) => StaleReason::Other(text.to_string()),
            }),
        },
        state: state(receipt.state),
        next_due: receipt.next_due.get(),
        transitions: receipt.transitions.iter().map(transition).collect(),
    }
}

pub fn inspection(shown: &core::Inspection) -> Inspection {
    Inspection {
        state: state(shown.state),
        forced: shown.override_.clone().get().map(|forced| Forced {
            mode: match forced.mode {
                core::Mode::Open => Mode::Open,
                core::Mode::Closed => Mode::Closed,
                core::Mode::None => Mode::None,
            },
            since: forced.since,
            ends_in: forced.ends_in.get(),
            note: forced.note.to_string(),
        }),
        probe_due: shown.probe_due,
        leases: shown
            .leases
            .iter()
            .map(|lease| Lease { token: lease.token, caller: lease.caller.to_string(), expires_in: lease.expires_in })
            .collect(),
        successes: shown.successes,
        level: shown.level,
        calls: shown.calls,
        failures: shown.failures,
        slow: shown.slow,
        failures_in_row: shown.failures_in_row,
        epoch: shown.epoch,
        since: shown.since.get(),
        next_due: shown.next_due.get(),
    }
}

pub fn policy_in_force(found: &core::PolicyInForce) -> PolicyInForce {
    PolicyInForce {
        policy: policy(&found.policy),
        origin: match found.origin {
            core::PolicyOrigin::Host => PolicyOrigin::Host,
            core::PolicyOrigin::Dependency => PolicyOrigin::Dependency,
        },
    }
}

pub fn transition(transition: &core::Transition) -> Transition {
    Transition {
        from: state(transition.from),
        to: state(transition.to),
        at: transition.at,
        epoch: transition.epoch,
        reason: match &transition.reason {
            core::TransitionReason::ConsecutiveFailures => TransitionReason::ConsecutiveFailures,
            core::TransitionReason::FailureRate => TransitionReason::FailureRate,
            core::TransitionReason::SlowCalls => TransitionReason::SlowCalls,
            core::TransitionReason::RampFailure => TransitionReason::RampFailure,
            core::TransitionReason::ProbeDue => TransitionReason::ProbeDue,
            core::TransitionReason::ProbeSucceeded => TransitionReason::ProbeSucceeded,
            core::TransitionReason::ProbeFailed => TransitionReason::ProbeFailed,
            core::TransitionReason::ProbeTimedOut => TransitionReason::ProbeTimedOut,
            core::TransitionReason::ProbeSlow => TransitionReason::ProbeSlow,
            core::TransitionReason::ProbeLost => TransitionReason::ProbeLost,
            core::TransitionReason::Forced => TransitionReason::Forced,
            core::TransitionReason::OverrideRemoved => TransitionReason::OverrideRemoved,
            core::TransitionReason::OverrideEnded => TransitionReason::OverrideEnded,
            core::TransitionReason::Reset => TransitionReason::Reset,
            core::TransitionReason::Other(text) => TransitionReason::Other(text.to_string()),
        },
    }
}

fn state(state: core::State) -> State {
    match state {
        core::State::Closed => State::Closed,
        core::State::Open => State::Open,
        core::State::HalfOpen => State::HalfOpen,
    }
}
