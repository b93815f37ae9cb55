//! The core, run natively on a store of its own.

use std::collections::HashMap;

use halfopen_guest::contract::{self as core, CommitOutcome, Snapshot};
use halfopen_guest::step::{Answer, Ports, Request, step};

use halfopen::{Mode, Outcome, Permit, Policy, PolicyFault, Transition};

use super::asked::{Answered, Asked, Deed, Outcomes, Refused};
use super::contract;

/// The core with all that a host gives it.
pub struct Native {
    default: core::Policy,
    world: World,
    permits: Vec<Permit>,
}

struct World {
    now: u64,
    random: fastrand::Rng,
    records: HashMap<String, Kept>,
}

#[derive(Clone, Default)]
struct Kept {
    version: u64,
    data: Option<Vec<u8>>,
    history: Vec<Transition>,
}

impl Native {
    pub fn new(default: &Policy, seed: u64) -> Result<Native, Vec<PolicyFault>> {
        let default = contract::core_policy(default);
        match halfopen_guest::policy::faults(&default) {
            faults if faults.is_empty() => {}
            faults => return Err(contract::faults(&faults)),
        }
        let world = World { now: 0, random: fastrand::Rng::with_seed(seed), records: HashMap::new() };
        Ok(Native { default, world, permits: Vec::new() })
    }

    pub fn record(&self, dependency: &str) -> (u64, Option<Vec<u8>>) {
        let kept = self.world.kept(dependency);
        (kept.version, kept.data)
    }

    pub fn history(&self, dependency: &str) -> Vec<Transition> {
        self.world.kept(dependency).history
    }

    fn damage(&mut self, dependency: &str, bytes: &[u8]) {
        let kept = self.world.records.entry(dependency.to_owned()).or_default();
        kept.version += 1;
        kept.data = Some(bytes.to_vec());
    }

    pub fn set_version(&mut self, dependency: &str, version: u64) {
        self.world.records.entry(dependency.to_owned()).or_default().version = version;
    }

    /// Does something; none where nothing is answered to it.
    pub fn does(&mut self, deed: &Deed) -> Option<Outcomes> {
        match &deed.asked {
            Asked::Clock(now) => self.world.now = *now,
            Asked::Later(ms) => self.world.now = self.world.now.saturating_add(*ms),
            Asked::Damage(bytes) => self.damage(&deed.dependency, bytes),
            asked => {
                let request = request(asked, &self.permits);
                let answer = step(&mut self.world, &self.default, &deed.dependency, &request);
                let answer = answer.map(answered).map_err(refused);
                self.permits.extend(answer.iter().filter_map(Answered::permit));
                return Some(answer);
            }
        }
        None
    }
}

impl World {
    fn kept(&self, dependency: &str) -> Kept {
        self.records.get(dependency).cloned().unwrap_or_default()
    }
}

impl Ports for World {
    fn load(&mut self, dependency: &str) -> Result<Snapshot, core::StorageError> {
        let kept = self.kept(dependency);
        Ok(Snapshot { version: kept.version, data: kept.data.map(Into::into).into() })
    }

    fn commit(
        &mut self,
        dependency: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[core::Transition],
    ) -> Result<CommitOutcome, core::StorageError> {
        let kept = self.records.entry(dependency.to_owned()).or_default();
        assert_eq!(based_on, kept.version, "nobody else writes");
        kept.version += 1;
        kept.data = data.map(<[u8]>::to_vec);
        kept.history.extend(transitions.iter().map(contract::transition));
        if kept.data.is_none() {
            kept.history.clear();
        }
        Ok(CommitOutcome::Committed(kept.version))
    }

    fn now(&mut self) -> u64 {
        self.now
    }

    fn next(&mut self) -> u64 {
        self.random.u64(..)
    }
}

fn request(asked: &Asked, permits: &[Permit]) -> Request {
    let permit = |which: &super::asked::Which| {
        let permit = which.among(permits);
        core::Permit { epoch: permit.epoch, lease: permit.lease.into() }
    };
    let outcome = |outcome: Outcome| match outcome {
        Outcome::Success => core::Outcome::Success,
        Outcome::Failure => core::Outcome::Failure,
        Outcome::Timeout => core::Outcome::Timeout,
        Outcome::Ignored => core::Outcome::Ignored,
    };
    match asked {
        Asked::Acquire(caller) => Request::Acquire { caller: caller.as_str().into() },
        Asked::Report(which, end, took) => {
            Request::Report { permit: permit(which), outcome: outcome(*end), took: *took }
        }
        Asked::ReportTally(which, tally) => Request::ReportTally {
            permit: permit(which),
            tally: core::Tally {
                successes: tally.successes,
                slow_successes: tally.slow_successes,
                failures: tally.failures,
                slow_failures: tally.slow_failures,
            },
        },
        Asked::Renew(which) => Request::Renew { permit: permit(which) },
        Asked::Release(which) => Request::Report { permit: permit(which), outcome: core::Outcome::Ignored, took: None },
        Asked::Inspect => Request::Inspect,
        Asked::Policy => Request::Policy,
        Asked::Configure(policy) => Request::Configure(contract::core_policy(policy)),
        Asked::Force(mode, lasting, note) => {
            let mode = match mode {
                Mode::Open => core::Mode::Open,
                Mode::Closed => core::Mode::Closed,
                Mode::None => core::Mode::None,
            };
            Request::Force { mode, lasting: *lasting, note: note.as_str().into() }
        }
        Asked::Reset => Request::Reset,
        Asked::Forget => Request::Forget,
        Asked::Prune(idle) => Request::Prune { idle: *idle },
        Asked::Clock(_) | Asked::Later(_) | Asked::Damage(_) => unreachable!("that is not asked of the core"),
    }
}

fn answered(answer: Answer) -> Answered {
    match answer {
        Answer::Decision(core::Decision::Proceed(admission)) => Answered::Proceed(contract::admission(&admission)),
        Answer::Decision(core::Decision::Probe(probe)) => Answered::Probe {
            permit: contract::permit(probe.permit),
            expires_in: probe.expires_in,
            slower_than: probe.slower_than.get(),
        },
        Answer::Decision(core::Decision::Defer(deferral)) => Answered::Defer(contract::deferral(&deferral)),
        Answer::Receipt(receipt) => Answered::Receipt(contract::receipt(&receipt)),
        Answer::Inspection(shown) => Answered::Inspection(contract::inspection(&shown)),
        Answer::Policy(found) => Answered::Policy(contract::policy_in_force(&found)),
        Answer::Pruned(removed) => Answered::Pruned(removed),
    }
}

fn refused(error: core::Error) -> Refused {
    match error {
        core::Error::InvalidDependency(why) => Refused::Dependency(why.to_string()),
        core::Error::InvalidPolicy(faults) => Refused::Policy(contract::faults(&faults)),
        core::Error::InvalidArgument(why) => Refused::Argument(why.to_string()),
        core::Error::NewerVersion => Refused::NewerVersion,
        core::Error::Storage(core::StorageError::Corrupt(_)) => Refused::Corrupt,
        other => Refused::Other(format!("{other:?}")),
    }
}
