//! Leases that the clocks of a store can carry.

use std::time::Duration;

use crate::instance::Ran;
use crate::op::{Answer, Call, Op};
use crate::store::Store;
use crate::wire::{self, Decision, Policy, PolicyFault};

/// The shortest lease that a host gives and configures: twice what the clocks of its store may be apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeastLease(Option<Duration>);

impl LeastLease {
    pub fn on(store: &dyn Store) -> Self {
        LeastLease(store.max_skew())
    }

    /// What is wrong with a policy; none where nothing is.
    pub fn fault(self, policy: &Policy) -> Option<PolicyFault> {
        self.too_short(policy.lease_ms)
    }

    fn too_short(self, lease_ms: u64) -> Option<PolicyFault> {
        let skew = self.0?.as_millis();
        (u128::from(lease_ms) < 2 * skew).then(|| PolicyFault {
            field: "lease-ms".to_owned(),
            why: format!(
                "{lease_ms} is below {}, twice the {skew} ms that the clocks of this store may be apart; give a longer \
                 lease, or the store a smaller bound",
                2 * skew
            ),
        })
    }

    /// Refuses what would write too short a lease: a policy, or a probe under one that another host has configured.
    pub fn judge(self, op: &Op, ran: Ran) -> Ran {
        let fault = match (&op.call, &ran) {
            (Call::Configure { policy }, Ran::Done(..)) => self.fault(policy),
            (_, Ran::Done(Answer::Decision(Decision::Probe(probe)), _)) => self.too_short(probe.expires_in),
            _ => None,
        };
        fault.map_or(ran, |fault| Ran::Refused(wire::Error::InvalidPolicy(vec![fault])))
    }
}
