//! The leases that an instance of a plugin holds.

use std::sync::Arc;
use std::time::Duration;

use halfopen::Permit;
use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::Decision;

use crate::tenant::Tenant;

#[derive(Default)]
pub(crate) struct Leases {
    leases: Vec<HeldLease>,
}

struct HeldLease {
    dependency: Arc<str>,
    permit: Permit,
    /// Its length from its grant, and from each renewal.
    length: Duration,
    /// Its end on the monotonic clock.
    ends: Duration,
}

/// The effect of a call on leases.
pub(crate) enum Effect {
    /// It may be granted one.
    Grant(Arc<str>),
    /// It settles this one.
    Settle(Arc<str>, Permit),
    /// It renews this one.
    Renew(Arc<str>, Permit),
    Nothing,
}

impl Effect {
    pub fn of(request: &Request) -> Self {
        let dependency = || request.dependency.clone();
        match &request.operation {
            Operation::Acquire { .. } => Effect::Grant(dependency()),
            Operation::Report { permit, .. } | Operation::Release { permit } if permit.lease.is_some() => {
                Effect::Settle(dependency(), *permit)
            }
            Operation::Renew { permit } => Effect::Renew(dependency(), *permit),
            _ => Effect::Nothing,
        }
    }
}

impl Leases {
    /// Applies the effect of an answered call.
    pub fn apply(&mut self, effect: Effect, answer: &Answer, now: Duration) {
        match (effect, answer) {
            (Effect::Grant(dependency), Answer::Decision(Decision::Probe(probe))) => {
                // Expired leases need not be given back.
                self.leases.retain(|lease| lease.ends > now);
                let length = Duration::from_millis(probe.expires_in);
                self.leases.push(HeldLease { dependency, permit: probe.permit, length, ends: now + length });
            }
            // Also a stale one: it is not held any more.
            (Effect::Settle(dependency, permit), Answer::Receipt(_)) => {
                self.leases.retain(|lease| !lease.is(&dependency, permit));
            }
            (Effect::Renew(dependency, permit), Answer::Receipt(receipt)) if receipt.is_applied() => {
                for lease in self.leases.iter_mut().filter(|lease| lease.is(&dependency, permit)) {
                    lease.ends = now + lease.length;
                }
            }
            _ => {}
        }
    }

    /// Gives all leases back; on another thread where the present one must not wait.
    pub fn give_back(&mut self, tenant: &Tenant, in_background: bool) {
        let leases = std::mem::take(&mut self.leases);
        if leases.is_empty() {
            return;
        }
        let tenant = tenant.clone();
        let give_back = move || {
            for HeldLease { dependency, permit, .. } in leases {
                if let Err(error) = tenant.host().breaker(&*dependency).release(permit) {
                    let namespace = tenant.host().namespace();
                    tracing::warn!(namespace, dependency = &*dependency, %error, "a tenant's lease could not be given back; it expires");
                }
            }
        };
        if in_background { blocking::unblock(give_back).detach() } else { give_back() }
    }
}

impl HeldLease {
    fn is(&self, dependency: &str, permit: Permit) -> bool {
        *self.dependency == *dependency && self.permit.lease == permit.lease
    }
}
