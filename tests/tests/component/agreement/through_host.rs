//! The component, run by the library on its memory store.

use std::sync::Arc;
use std::time::Duration;

use halfopen::store::{Key, MemoryStore, Store, Write};
use halfopen::{
    Admission, BreakerError, Clock, Decision, Host, ManualClock, OpenError, Permit, Policy, PolicyFault, StoreError,
    Transition,
};

use super::asked::{Answered, Asked, Deed, Outcomes, Refused, Which};

const NAMESPACE: &str = "agreement";

/// A host with its clock and its store.
pub struct ThroughHost {
    host: Host,
    clock: Arc<ManualClock>,
    store: Arc<MemoryStore>,
    permits: Vec<Permit>,
}

impl ThroughHost {
    pub fn open(default: &Policy, seed: u64) -> Result<ThroughHost, Vec<PolicyFault>> {
        let clock = Arc::new(ManualClock::new(0));
        let store = Arc::new(MemoryStore::new());
        let host = Host::builder()
            .clock(clock.clone())
            .shared_store(store.clone())
            .namespace(NAMESPACE)
            .seed(seed)
            .default_policy(*default)
            .history(usize::MAX)
            // Each question is put to the component.
            .local_admission(false)
            .build();
        match host {
            Ok(host) => Ok(ThroughHost { host, clock, store, permits: Vec::new() }),
            Err(OpenError::InvalidPolicy(faults)) => Err(faults),
            Err(other) => panic!("{other}"),
        }
    }

    pub fn record(&self, dependency: &str) -> (u64, Option<Vec<u8>>) {
        let snapshot = self.store.load(key(dependency)).unwrap();
        (snapshot.version, snapshot.data)
    }

    pub fn history(&self, dependency: &str) -> Vec<Transition> {
        self.store.history(key(dependency), usize::MAX).unwrap()
    }

    fn damage(&self, dependency: &str, bytes: &[u8]) {
        let based_on = self.store.load(key(dependency)).unwrap().version;
        let write = Write {
            key: key(dependency),
            based_on,
            version: based_on + 1,
            data: Some(bytes),
            transitions: &[],
            history: usize::MAX,
        };
        self.store.commit(&[write]).unwrap();
    }

    /// Does something; none where nothing is answered to it.
    pub fn does(&mut self, deed: &Deed) -> Option<Outcomes> {
        match &deed.asked {
            Asked::Clock(now) => self.clock.set(*now),
            Asked::Later(ms) => self.clock.set(self.clock.now().saturating_add(*ms)),
            Asked::Damage(bytes) => self.damage(&deed.dependency, bytes),
            asked => {
                let answer = self.ask(&deed.dependency, asked);
                self.permits.extend(answer.iter().filter_map(Answered::permit));
                return Some(answer);
            }
        }
        None
    }

    fn ask(&self, dependency: &str, asked: &Asked) -> Outcomes {
        let breaker = self.host.breaker(dependency);
        let permit = |which: &Which| which.among(&self.permits);
        let answer = match asked {
            Asked::Acquire(caller) => breaker.caller(&**caller).acquire().map(decided),
            Asked::Report(which, outcome, took) => {
                breaker.report(permit(which), *outcome, took.map(Duration::from_millis)).map(Answered::Receipt)
            }
            Asked::ReportTally(which, tally) => breaker.report_tally(permit(which), *tally).map(Answered::Receipt),
            Asked::Renew(which) => breaker.renew(permit(which)).map(Answered::Receipt),
            Asked::Release(which) => breaker.release(permit(which)).map(Answered::Receipt),
            Asked::Inspect => breaker.inspect().map(Answered::Inspection),
            Asked::Policy => breaker.policy().map(Answered::Policy),
            Asked::Configure(policy) => breaker.configure(policy).map(Answered::Receipt),
            Asked::Force(mode, lasting, note) => {
                breaker.force(*mode, lasting.map(Duration::from_millis), note).map(Answered::Receipt)
            }
            Asked::Reset => breaker.reset().map(Answered::Receipt),
            Asked::Forget => breaker.forget().map(Answered::Receipt),
            Asked::Prune(idle) => breaker.prune(Duration::from_millis(*idle)).map(Answered::Pruned),
            Asked::Clock(_) | Asked::Later(_) | Asked::Damage(_) => unreachable!("that is not asked of the component"),
        };
        answer.map_err(refused)
    }
}

fn key(dependency: &str) -> Key<'_> {
    Key { namespace: NAMESPACE, dependency }
}

fn decided(decision: Decision) -> Answered {
    let millis = |length: Duration| u64::try_from(length.as_millis()).unwrap();
    match decision {
        Decision::Proceed(guard) => Answered::Proceed(Admission {
            fresh_for: millis(guard.fresh_for()),
            percent: guard.percent(),
            slower_than: guard.slower_than().map(millis),
            permit: guard.into_permit(),
        }),
        Decision::Probe(guard) => Answered::Probe {
            expires_in: guard.expires_in().map(millis).unwrap(),
            slower_than: guard.slower_than().map(millis),
            permit: guard.into_permit(),
        },
        Decision::Defer(deferral) => Answered::Defer(deferral),
    }
}

fn refused(error: BreakerError) -> Refused {
    match error {
        BreakerError::InvalidDependency { why, .. } => Refused::Dependency(why),
        BreakerError::InvalidPolicy(faults) => Refused::Policy(faults),
        BreakerError::InvalidArgument(why) => Refused::Argument(why),
        BreakerError::NewerVersion { .. } => Refused::NewerVersion,
        BreakerError::Store(StoreError::Corrupt { .. }) => Refused::Corrupt,
        other => Refused::Other(format!("{other:?}")),
    }
}
