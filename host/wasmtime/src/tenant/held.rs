//! The leases that an instance of a plugin holds.

use std::sync::Arc;
use std::time::Duration;

use super::Tenant;
use crate::elsewhere::Elsewhere;
use crate::events;
use crate::op::{Answer, Call, Op};
use crate::wire::{Decision, Permit};

#[derive(Default)]
pub(super) struct Held {
    leases: Vec<Lease>,
}

struct Lease {
    dependency: Arc<str>,
    permit: Permit,
    /// How long it lasts from its grant, and from each renewal.
    length: Duration,
    /// On the monotonic clock, as far as is known.
    ends: Duration,
}

/// What a call has to do with leases.
pub(super) enum Touches {
    /// It may be granted one.
    Grant(Arc<str>),
    /// It settles this one.
    Settles(Arc<str>, Permit),
    /// It renews this one.
    Renews(Arc<str>, Permit),
    Nothing,
}

impl Touches {
    pub fn of(op: &Op) -> Self {
        let dependency = || op.dependency.clone();
        match &op.call {
            Call::Acquire { .. } => Touches::Grant(dependency()),
            Call::Report { permit, .. } | Call::Release { permit } if permit.lease.is_some() => {
                Touches::Settles(dependency(), *permit)
            }
            Call::Renew { permit } => Touches::Renews(dependency(), *permit),
            _ => Touches::Nothing,
        }
    }
}

impl Held {
    /// Takes note of what was answered.
    pub fn note(&mut self, touches: Touches, answer: &Answer, now: Duration) {
        match (touches, answer) {
            (Touches::Grant(dependency), Answer::Decision(Decision::Probe(probe))) => {
                // Those that were let expire need not be given back.
                self.leases.retain(|lease| lease.ends > now);
                let length = Duration::from_millis(probe.expires_in);
                self.leases.push(Lease { dependency, permit: probe.permit, length, ends: now + length });
            }
            // Also where it was stale: then it is not held any more.
            (Touches::Settles(dependency, permit), Answer::Receipt(_)) => {
                self.leases.retain(|lease| !lease.is(&dependency, permit));
            }
            (Touches::Renews(dependency, permit), Answer::Receipt(receipt)) if receipt.is_applied() => {
                for lease in self.leases.iter_mut().filter(|lease| lease.is(&dependency, permit)) {
                    lease.ends = now + lease.length;
                }
            }
            _ => {}
        }
    }

    /// Gives back what is held; on another thread where the present one must not wait.
    pub fn give_back(&mut self, tenant: &Tenant, elsewhere: bool) {
        let leases = std::mem::take(&mut self.leases);
        if leases.is_empty() {
            return;
        }
        let tenant = tenant.clone();
        let give_back = move || {
            for Lease { dependency, permit, .. } in leases {
                if let Err(error) = tenant.host().breaker(&*dependency).release(permit) {
                    events::unreported(tenant.host().namespace(), &dependency, &error);
                }
            }
        };
        if elsewhere { Elsewhere::run(give_back).detach() } else { give_back() }
    }
}

impl Lease {
    fn is(&self, dependency: &str, permit: Permit) -> bool {
        *self.dependency == *dependency && self.permit.lease == permit.lease
    }
}
