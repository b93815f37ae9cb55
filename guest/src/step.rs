//! One operation against what a host supplies: load, look at the clock, decide, commit; again when the commit lost a race.

use alloc::string::String;
use alloc::vec::Vec;

use crate::acquire;
use crate::arguments::{check_caller, check_dependency, check_note};
use crate::bindings::halfopen::breaker::storage::{CommitOutcome, Snapshot};
use crate::bindings::halfopen::breaker::types::{
    Decision, Error, Inspection, Mode, Outcome, Permit, Policy, PolicyInForce, Receipt, StorageError, Tally, Transition,
};
use crate::codec::{self, DecodeError};
use crate::control;
use crate::inspect;
use crate::policy;
use crate::record::Record;
use crate::report;
use crate::turn::{Effect, Turn};

/// How often a commit may lose its race before the operation gives up as contended.
pub const ATTEMPTS: u32 = 16;

/// What a host supplies. The obligations stand in the contract: interfaces `storage`, `clock` and `entropy`.
pub trait Ports {
    /// Reads the record of a dependency.
    fn load(&mut self, dependency: &str) -> Result<Snapshot, StorageError>;
    /// Replaces the record of a dependency, while `based_on` is its version.
    fn commit(
        &mut self,
        dependency: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[Transition],
    ) -> Result<CommitOutcome, StorageError>;
    /// The instant, in milliseconds since the Unix epoch.
    fn now(&mut self) -> u64;
    /// The next random number.
    fn next(&mut self) -> u64;
}

/// What an operation goes by.
pub struct Step<'a, P> {
    /// What the host supplies.
    pub ports: &'a mut P,
    /// The policy of a dependency without one of its own.
    pub default: &'a Policy,
    /// The dependency.
    pub dependency: &'a str,
}

impl<P: Ports> Step<'_, P> {
    /// Asks whether a call may be made.
    pub fn acquire(self, caller: &str) -> Result<Decision, Error> {
        check_dependency(self.dependency)?;
        check_caller(caller)?;
        self.run(Damaged::Refuse, |turn| acquire::acquire(turn, caller))
    }

    /// Reports the outcome of a call.
    pub fn report(self, permit: Permit, outcome: Outcome, took: Option<u64>) -> Result<Receipt, Error> {
        check_dependency(self.dependency)?;
        self.run(Damaged::Refuse, |turn| report::report(turn, permit, outcome, took))
    }

    /// Reports the outcomes of many closed-state calls.
    pub fn report_tally(self, permit: Permit, tally: Tally) -> Result<Receipt, Error> {
        check_dependency(self.dependency)?;
        self.run(Damaged::Refuse, |turn| report::report_tally(turn, permit, tally))
    }

    /// Lets a live lease start anew.
    pub fn renew(self, permit: Permit) -> Result<Receipt, Error> {
        check_dependency(self.dependency)?;
        self.run(Damaged::Refuse, |turn| report::renew(turn, permit))
    }

    /// Shows the dependency.
    pub fn inspect(self) -> Result<Inspection, Error> {
        check_dependency(self.dependency)?;
        self.run(Damaged::Refuse, |turn| (inspect::inspect(turn), Effect::Keep))
    }

    /// The policy that the dependency goes by.
    pub fn policy(self) -> Result<PolicyInForce, Error> {
        check_dependency(self.dependency)?;
        self.run(Damaged::Refuse, |turn| (inspect::policy(turn), Effect::Keep))
    }

    /// Gives the dependency a policy of its own.
    pub fn configure(self, policy: Policy) -> Result<Receipt, Error> {
        check_dependency(self.dependency)?;
        let faults = policy::faults(&policy);
        if !faults.is_empty() {
            return Err(Error::InvalidPolicy(faults));
        }
        self.run(Damaged::Refuse, |turn| control::configure(turn, policy))
    }

    /// Forces a state, or takes that back.
    pub fn force(self, mode: Mode, lasting: Option<u64>, note: &str) -> Result<Receipt, Error> {
        check_dependency(self.dependency)?;
        check_note(note)?;
        self.run(Damaged::Refuse, |turn| control::force(turn, mode, lasting, String::from(note)))
    }

    /// Closes the breaker and lets it forget what was.
    pub fn reset(self) -> Result<Receipt, Error> {
        check_dependency(self.dependency)?;
        self.run(Damaged::StartAnew, control::reset)
    }

    /// Removes the record.
    pub fn forget(self) -> Result<Receipt, Error> {
        check_dependency(self.dependency)?;
        self.run(Damaged::StartAnew, |_| control::forget())
    }

    fn run<T>(self, damaged: Damaged, decide: impl Fn(&mut Turn) -> (T, Effect)) -> Result<T, Error> {
        let mut answer = None;
        let mut decide = |turn: &mut Turn| {
            let (decided, effect) = decide(turn);
            answer = Some(decided);
            effect
        };
        attempt(self.ports, self.default, self.dependency, damaged, &mut decide)?;
        answer.ok_or(Error::Contended)
    }
}

/// Not generic, so that the component holds it once: this halves its size.
fn attempt(
    ports: &mut dyn Ports,
    default: &Policy,
    dependency: &str,
    damaged: Damaged,
    decide: &mut dyn FnMut(&mut Turn) -> Effect,
) -> Result<(), Error> {
    let mut snapshot = ports.load(dependency).map_err(Error::Storage)?;
    for _ in 0..ATTEMPTS {
        // After the load: a clock read before it could look like a step back.
        let now = ports.now();
        let record = read(&snapshot, default, damaged)?;
        let mut entropy = || ports.next();
        let mut turn = Turn::new(record, default, now, &mut entropy);
        let (data, transitions) = match decide(&mut turn) {
            Effect::Keep => return Ok(()),
            Effect::Store => (Some(codec::encode(&turn.record)), turn.transitions),
            Effect::Remove => (None, Vec::new()),
        };
        let outcome = ports.commit(dependency, snapshot.version, data.as_deref(), &transitions);
        match outcome.map_err(Error::Storage)? {
            CommitOutcome::Committed(_) => return Ok(()),
            CommitOutcome::Stale(newer) => snapshot = newer,
        }
    }
    Err(Error::Contended)
}

/// What an operation makes of a damaged record.
#[derive(Clone, Copy)]
enum Damaged {
    Refuse,
    /// Goes on as if there were none: its epochs and tokens lie above all that the damaged one can have given.
    StartAnew,
}

fn read(snapshot: &Snapshot, default: &Policy, damaged: Damaged) -> Result<Record, Error> {
    let Some(data) = &snapshot.data else {
        return Ok(Record::new(snapshot.version, default));
    };
    match (codec::decode(data), damaged) {
        (Ok(record), _) => Ok(record),
        (Err(DecodeError::NewerVersion), _) => Err(Error::NewerVersion),
        (Err(DecodeError::Corrupt), Damaged::StartAnew) => Ok(Record::new(snapshot.version, default)),
        (Err(DecodeError::Corrupt), Damaged::Refuse) => Err(Error::Storage(StorageError::Corrupt(
            "the record of this dependency is damaged; reset or forget it".into(),
        ))),
    }
}
