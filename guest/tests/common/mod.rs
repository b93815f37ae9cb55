//! A store in memory, a clock that is set and randomness that is chosen, for tests of the core.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::HashMap;

use halfopen_guest::contract::{
    Admission, CommitOutcome, Decision, Deferral, Error, Inspection, List, Maybe, Outcome, Permit, Policy, Probe,
    Receipt, Snapshot, StorageError, Transition,
};
use halfopen_guest::policy::BUILT_IN;
use halfopen_guest::step::{Answer, Ports, Request, step};

/// Trips at the first failure; no jitter.
pub const QUICK: Policy =
    Policy { consecutive_failures: 1, failure_rate: Maybe::None, jitter_percent: 0, lease_ms: 3_000, ..BUILT_IN };

/// The dependency that most tests are about.
pub const NAME: &str = "payments";

/// What a host supplies, and what it has seen.
#[derive(Default)]
pub struct World {
    pub policy: Option<Policy>,
    pub now: u64,
    pub random: u64,
    pub records: HashMap<String, (u64, Option<Vec<u8>>)>,
    pub transitions: Vec<Transition>,
    pub commits: usize,
    /// So many commits lose their race, each to a neighbour that writes the same record again.
    pub races_to_lose: u32,
    pub load_fails: Option<StorageError>,
    pub commit_fails: Option<StorageError>,
}

impl World {
    pub fn with(policy: Policy) -> World {
        World { policy: Some(policy), ..World::default() }
    }

    pub fn ask(&mut self, request: Request) -> Result<Answer, Error> {
        let policy = self.policy.unwrap_or(BUILT_IN);
        step(self, &policy, NAME, &request)
    }

    pub fn acquire(&mut self) -> Decision {
        match self.ask(Request::Acquire { caller: "A".into() }) {
            Ok(Answer::Decision(decision)) => decision,
            other => panic!("not a decision: {other:?}"),
        }
    }

    pub fn admitted(&mut self) -> Admission {
        match self.acquire() {
            Decision::Proceed(admission) => admission,
            other => panic!("not admitted: {other:?}"),
        }
    }

    pub fn deferred(&mut self) -> Deferral {
        match self.acquire() {
            Decision::Defer(deferral) => deferral,
            other => panic!("not deferred: {other:?}"),
        }
    }

    pub fn probe(&mut self) -> Probe {
        match self.acquire() {
            Decision::Probe(probe) => probe,
            other => panic!("not a probe: {other:?}"),
        }
    }

    pub fn receipt(&mut self, request: Request) -> Receipt {
        match self.ask(request) {
            Ok(Answer::Receipt(receipt)) => receipt,
            other => panic!("not a receipt: {other:?}"),
        }
    }

    pub fn report(&mut self, permit: Permit, outcome: Outcome) -> Receipt {
        self.receipt(Request::Report { permit, outcome, took: None })
    }

    pub fn inspect(&mut self) -> Inspection {
        match self.ask(Request::Inspect) {
            Ok(Answer::Inspection(inspection)) => inspection,
            other => panic!("not an inspection: {other:?}"),
        }
    }

    /// Trips the breaker with one failure, under [`QUICK`].
    pub fn trip(&mut self) {
        let permit = self.admitted().permit;
        self.report(permit, Outcome::Failure);
    }

    pub fn bytes(&self) -> Option<&[u8]> {
        self.records.get(NAME).and_then(|(_, data)| data.as_deref())
    }

    pub fn put(&mut self, version: u64, data: &[u8]) {
        self.records.insert(NAME.into(), (version, Some(data.to_vec())));
    }
}

fn snapshot(version: u64, data: Option<Vec<u8>>) -> Snapshot {
    Snapshot { version, data: data.map(List::from).into() }
}

impl Ports for World {
    fn load(&mut self, dependency: &str) -> Result<Snapshot, StorageError> {
        if let Some(error) = &self.load_fails {
            return Err(error.clone());
        }
        let (version, data) = self.records.get(dependency).cloned().unwrap_or_default();
        Ok(snapshot(version, data))
    }

    fn commit(
        &mut self,
        dependency: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[Transition],
    ) -> Result<CommitOutcome, StorageError> {
        if let Some(error) = &self.commit_fails {
            return Err(error.clone());
        }
        let record = self.records.entry(dependency.into()).or_default();
        if self.races_to_lose > 0 {
            self.races_to_lose -= 1;
            record.0 += 1;
        }
        if record.0 != based_on {
            return Ok(CommitOutcome::Stale(snapshot(record.0, record.1.clone())));
        }
        *record = (based_on + 1, data.map(<[u8]>::to_vec));
        self.transitions.extend_from_slice(transitions);
        self.commits += 1;
        Ok(CommitOutcome::Committed(based_on + 1))
    }

    fn now(&mut self) -> u64 {
        self.now
    }

    fn next(&mut self) -> u64 {
        self.random
    }
}
