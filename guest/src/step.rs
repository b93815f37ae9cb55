//! One operation against what a host supplies: load, look at the clock, decide, commit; again when the commit lost a race.

use crate::arguments::{check_caller, check_dependency, check_note};
use crate::codec::{self, DecodeError};
use crate::contract::{
    CommitOutcome, Decision, Error, Inspection, Maybe, Mode, Outcome, Permit, Policy, PolicyInForce, Receipt, Snapshot,
    StorageError, Tally, Text, Transition,
};
use crate::policy;
use crate::record::Record;
use crate::turn::{Effect, Turn};
use crate::{acquire, control, inspect, report};

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

/// What is asked: the functions of the exported interfaces.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// May a call be made?
    Acquire {
        /// Who asks.
        caller: Text,
    },
    /// A call has ended.
    Report {
        /// What it was admitted under.
        permit: Permit,
        /// How it ended.
        outcome: Outcome,
        /// How long it took, in ms.
        took: Option<u64>,
    },
    /// Many closed-state calls have ended.
    ReportTally {
        /// What they were admitted under.
        permit: Permit,
        /// How they ended.
        tally: Tally,
    },
    /// A probe takes longer.
    Renew {
        /// It holds the lease.
        permit: Permit,
    },
    /// What is known?
    Inspect,
    /// Which policy is in force?
    Policy,
    /// A policy of its own.
    Configure(Policy),
    /// An override, or its end.
    Force {
        /// What is forced.
        mode: Mode,
        /// It ends by itself so many ms later.
        lasting: Option<u64>,
        /// The operator's note.
        note: Text,
    },
    /// Start afresh.
    Reset,
    /// Remove the record.
    Forget,
    /// Remove the record if nobody needs it.
    Prune {
        /// Nothing was written to it for so many ms or longer.
        idle: u64,
    },
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To `Acquire`.
    Decision(Decision),
    /// To whatever may change a record, `Acquire` and `Prune` aside.
    Receipt(Receipt),
    /// To `Inspect`.
    Inspection(Inspection),
    /// To `Policy`.
    Policy(PolicyInForce),
    /// To `Prune`: whether it was removed.
    Pruned(bool),
}

/// Runs one operation. `default` is the policy of a dependency without one of its own.
pub fn step(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Result<Answer, Error> {
    check(dependency, request)?;
    let mut snapshot = ports.load(dependency).map_err(Error::Storage)?;
    for _ in 0..ATTEMPTS {
        // After the load: a clock read before it could look like a step back.
        let now = ports.now();
        let record = read(&snapshot, default, request)?;
        let mut entropy = || ports.next();
        let mut turn = Turn::new(record, default, now, &mut entropy);
        let (answer, effect) = decide(&mut turn, request);
        let data = match effect {
            Effect::Keep => return Ok(answer),
            Effect::Store => {
                turn.record.written = Some(now);
                Some(codec::encode(turn.record))
            }
            Effect::Remove => None,
        };
        // They are in the receipt, where there is one that shows them.
        let transitions = match &answer {
            Answer::Receipt(receipt) if turn.transitions.is_empty() => &*receipt.transitions,
            _ => &*turn.transitions,
        };
        match ports.commit(dependency, snapshot.version, data.as_deref(), transitions).map_err(Error::Storage)? {
            CommitOutcome::Committed(_) => return Ok(answer),
            CommitOutcome::Stale(newer) => snapshot = newer,
        }
    }
    Err(Error::Contended)
}

fn check(dependency: &str, request: &Request) -> Result<(), Error> {
    check_dependency(dependency)?;
    match request {
        Request::Acquire { caller } => check_caller(caller),
        Request::Force { note, .. } => check_note(note),
        Request::Configure(policy) => policy::check(policy),
        _ => Ok(()),
    }
}

#[inline(never)]
fn decide(turn: &mut Turn, request: &Request) -> (Answer, Effect) {
    let (receipt, effect) = match request {
        Request::Acquire { caller } => {
            let (decision, effect) = acquire::acquire(turn, caller);
            return (Answer::Decision(decision), effect);
        }
        Request::Inspect => return (Answer::Inspection(inspect::inspect(turn)), Effect::Keep),
        Request::Policy => return (Answer::Policy(inspect::policy(turn)), Effect::Keep),
        Request::Prune { idle } => {
            let effect = control::prune(turn, *idle);
            return (Answer::Pruned(effect == Effect::Remove), effect);
        }
        Request::Report { permit, outcome, took } => report::report(turn, *permit, *outcome, *took),
        Request::ReportTally { permit, tally } => report::report_tally(turn, *permit, *tally),
        Request::Renew { permit } => report::renew(turn, *permit),
        Request::Configure(policy) => control::configure(turn, *policy),
        Request::Force { mode, lasting, note } => control::force(turn, *mode, *lasting, note),
        Request::Reset => control::reset(turn),
        Request::Forget => control::forget(),
    };
    (Answer::Receipt(receipt), effect)
}

fn read(snapshot: &Snapshot, default: &Policy, request: &Request) -> Result<Record, Error> {
    let new = || Record::new(snapshot.version, default);
    let Maybe::Some(data) = &snapshot.data else {
        return Ok(new());
    };
    match codec::decode(data) {
        Ok(record) => Ok(record),
        Err(DecodeError::NewerVersion) => Err(Error::NewerVersion),
        // As if there were none: a new record's epochs and tokens lie above all that the damaged one can have given.
        Err(DecodeError::Corrupt) if matches!(request, Request::Reset | Request::Forget) => Ok(new()),
        Err(DecodeError::Corrupt) => Err(Error::Storage(StorageError::Corrupt(
            "the record of this dependency cannot be read; reset or forget it".into(),
        ))),
    }
}
