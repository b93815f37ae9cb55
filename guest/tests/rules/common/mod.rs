//! A store in memory, a clock that is set and randomness that is chosen, for tests of the rules.

use std::collections::HashMap;

use halfopen_guest::contract::{
    Admission, CommitOutcome, Decision, Deferral, Error, Mode, Operator, Outcome, Permit, Probe, Receipt, Report,
    Snapshot, StorageError, Tally,
};
use halfopen_guest::policy::{BUILT_IN, Policy};
use halfopen_guest::step::{Answer, Ports, Request, step};
use serde_json::Value;

pub mod policies;
pub mod replay;

/// Trips at the first failure; no jitter.
pub const QUICK: Policy =
    Policy { consecutive_failures: 1, failure_rate: None, jitter_percent: 0, lease_ms: 3_000, ..BUILT_IN };

/// The dependency of most tests.
pub const NAME: &str = "payments";

/// A tally of nothing.
pub const EMPTY: Tally = Tally {
    successes: 0,
    slow_successes: 0,
    failures: 0,
    slow_failures: 0,
    caller: String::new(),
    cause: String::new(),
    retry_after: None,
};

/// An operator without a name.
pub const NO_OPERATOR: Operator = Operator { by: String::new(), note: String::new() };

/// The functions that a host supplies, and a record of their calls.
#[derive(Clone, Default)]
pub struct World {
    pub policy: Option<Policy>,
    pub now: u64,
    pub random: u64,
    pub records: HashMap<String, (u64, Option<Vec<u8>>)>,
    pub transitions: Vec<Value>,
    pub commits: usize,
    /// This number of commits lose their race, each to a neighbour that writes the same record again.
    pub races_to_lose: u32,
    pub load_fails: Option<StorageError>,
    pub commit_fails: Option<StorageError>,
}

impl World {
    pub fn with(policy: Policy) -> World {
        World { policy: Some(policy), ..World::default() }
    }

    pub fn ask(&mut self, request: Request) -> Result<Answer, Error> {
        self.ask_of(NAME, request)
    }

    pub fn ask_of(&mut self, dependency: &str, request: Request) -> Result<Answer, Error> {
        let policy = self.policy.unwrap_or(BUILT_IN);
        step(self, &policy, dependency, &request)
    }

    pub fn acquire(&mut self) -> Decision {
        self.acquire_as("A")
    }

    pub fn acquire_as(&mut self, caller: &str) -> Decision {
        match self.ask(Request::Acquire { caller: caller.into() }) {
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
        self.receipt(Request::Report { permit, report: plain(outcome) })
    }

    pub fn force(&mut self, mode: Mode, lasting: Option<u64>) -> Receipt {
        self.receipt(Request::Force { mode, lasting, operator: NO_OPERATOR })
    }

    pub fn inspect(&mut self) -> Value {
        match self.ask(Request::Inspect) {
            Ok(Answer::Inspection(inspection)) => serde_json::from_str(&inspection).expect("an inspection is JSON"),
            other => panic!("not an inspection: {other:?}"),
        }
    }

    /// Trips the breaker with one failure, under [`QUICK`].
    pub fn trip(&mut self) {
        let permit = self.admitted().permit;
        self.report(permit, Outcome::Failure);
    }

    /// The reasons of the transitions so far.
    pub fn reasons(&self) -> Vec<&str> {
        self.transitions.iter().map(|transition| transition["reason"].as_str().expect("a reason")).collect()
    }

    pub fn bytes(&self) -> Option<&[u8]> {
        self.records.get(NAME).and_then(|(_, data)| data.as_deref())
    }

    pub fn put(&mut self, version: u64, data: &[u8]) {
        self.records.insert(NAME.into(), (version, Some(data.to_vec())));
    }
}

/// A report with nothing but its outcome.
pub fn plain(outcome: Outcome) -> Report {
    Report { outcome, took: None, caller: String::new(), cause: String::new(), retry_after: None }
}

/// An operator.
pub fn operator(by: &str, note: &str) -> Operator {
    Operator { by: by.into(), note: note.into() }
}

fn snapshot(version: u64, data: Option<Vec<u8>>) -> Snapshot {
    Snapshot { version, data }
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
        transitions: &[String],
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
        let parsed = transitions.iter().map(|text| serde_json::from_str(text).expect("a transition is JSON"));
        self.transitions.extend(parsed);
        self.commits += 1;
        Ok(CommitOutcome::Committed(based_on + 1))
    }

    fn now(&mut self) -> u64 {
        self.now
    }

    fn next(&mut self) -> u64 {
        // SplitMix64 where no number was chosen.
        if self.random != SEEDED {
            return self.random;
        }
        replay::splitmix(&mut self.records.entry("seed of the randomness".into()).or_default().0)
    }
}

/// Chosen randomness that stands for a generator.
pub const SEEDED: u64 = u64::MAX;
