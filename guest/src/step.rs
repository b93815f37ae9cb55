//! One operation: load, read the clock, decide, commit; again where the commit lost a race.

use alloc::string::String;
use alloc::vec::Vec;

use crate::contract::{
    CommitOutcome, Decision, Error, Mode, Operator, Outcome, Permit, PolicyInForce, Receipt, Report, Snapshot,
    StorageError, Tally,
};
use crate::documents::{TransitionDocument, to_json};
use crate::policy::Policy;
use crate::record::Record;
use crate::record::codec::{self, DecodeError};
use crate::rules::{self, Effect, Evaluation};
use crate::text::check_dependency;

/// The number of races that an operation loses before it gives up as contended.
pub const ATTEMPTS: u32 = 16;

/// The functions that a host supplies. Its duties are documented in `wit/`: interfaces `storage`, `clock` and `entropy`.
pub trait Ports {
    /// Reads the record of a dependency.
    fn load(&mut self, dependency: &str) -> Result<Snapshot, StorageError>;
    /// Replaces the record of a dependency while `based_on` is its version; removes it where `data` is none. The transitions
    /// are JSON texts.
    fn commit(
        &mut self,
        dependency: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[String],
    ) -> Result<CommitOutcome, StorageError>;
    /// The instant, in milliseconds since the Unix epoch.
    fn now(&mut self) -> u64;
    /// The next random number.
    fn next(&mut self) -> u64;
}

/// An operation: a function of the interfaces `breaker` and `control`, with its arguments.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum Request {
    Acquire { caller: String },
    Report { permit: Permit, report: Report },
    ReportTally { permit: Permit, tally: Tally },
    Renew { permit: Permit },
    Release { permit: Permit },
    Inspect,
    Policy,
    Configure { policy: Option<String>, operator: Operator },
    Force { mode: Mode, lasting: Option<u64>, operator: Operator },
    Reset { operator: Operator },
    Forget { operator: Operator },
    Prune { idle: u64, operator: Operator },
}

/// The answer to a [`Request`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To `Acquire`.
    Decision(Decision),
    /// To each request that may change a record, but for `Acquire` and `Prune`.
    Receipt(Receipt),
    /// To `Inspect`: the inspection as JSON.
    Inspection(String),
    /// To `Policy`.
    Policy(PolicyInForce),
    /// To `Prune`: whether the record was removed.
    Pruned(bool),
}

/// Runs one operation on the record of a dependency and returns its answer. `default` is the policy of a dependency without
/// one of its own.
pub fn step(ports: &mut dyn Ports, default: &Policy, dependency: &str, request: &Request) -> Result<Answer, Error> {
    check_dependency(dependency)?;
    let own = match request {
        Request::Configure { policy: Some(text), .. } => Some(Policy::parse(text).map_err(Error::InvalidPolicy)?),
        _ => None,
    };
    let mut snapshot = ports.load(dependency).map_err(Error::Storage)?;
    for _ in 0..ATTEMPTS {
        // After the load: a clock that is read before it could seem to step back.
        let now = ports.now();
        let record = read(&snapshot, default, request)?;
        let mut entropy = || ports.next();
        let mut eval = Evaluation::new(record, snapshot.data.is_some(), default, now, &mut entropy);
        let (answer, effect) = decide(&mut eval, dependency, request, own);
        let data = match effect {
            Effect::Keep => return Ok(answer),
            Effect::Store => {
                eval.record.written = Some(now);
                Some(codec::encode(&eval.record))
            }
            Effect::Remove => None,
        };
        let json = |transition| to_json(&TransitionDocument::from(transition));
        let transitions: Vec<String> = eval.transitions.iter().map(json).collect();
        match ports.commit(dependency, snapshot.version, data.as_deref(), &transitions).map_err(Error::Storage)? {
            CommitOutcome::Committed(_) => return Ok(answer),
            CommitOutcome::Stale(newer) => snapshot = newer,
        }
    }
    Err(Error::Contended)
}

fn decide(eval: &mut Evaluation, dependency: &str, request: &Request, own: Option<Policy>) -> (Answer, Effect) {
    let (receipt, effect) = match request {
        Request::Acquire { caller } => {
            let (decision, effect) = rules::acquire(eval, caller);
            return (Answer::Decision(decision), effect);
        }
        Request::Inspect => {
            return (Answer::Inspection(to_json(&rules::inspect(eval, dependency))), Effect::Keep);
        }
        Request::Policy => return (Answer::Policy(rules::policy(eval)), Effect::Keep),
        Request::Prune { idle, operator } => {
            let effect = rules::prune(eval, *idle, operator);
            return (Answer::Pruned(effect == Effect::Remove), effect);
        }
        Request::Report { permit, report } => rules::report(eval, *permit, report),
        Request::ReportTally { permit, tally } => rules::report_tally(eval, *permit, tally),
        Request::Renew { permit } => rules::renew(eval, *permit),
        Request::Release { permit } => rules::report(eval, *permit, &UNUSED),
        Request::Configure { operator, .. } => rules::configure(eval, own, operator),
        Request::Force { mode, lasting, operator } => rules::force(eval, *mode, *lasting, operator),
        Request::Reset { operator } => rules::reset(eval, operator),
        Request::Forget { operator } => rules::forget(eval, operator),
    };
    (Answer::Receipt(receipt), effect)
}

/// The report of a permit that is given back.
const UNUSED: Report =
    Report { outcome: Outcome::Ignored, took: None, caller: String::new(), cause: String::new(), retry_after: None };

fn read(snapshot: &Snapshot, default: &Policy, request: &Request) -> Result<Record, Error> {
    let new = || Record::new(snapshot.version, default);
    let Some(data) = &snapshot.data else {
        return Ok(new());
    };
    match codec::decode(data) {
        Ok(record) => Ok(record),
        Err(DecodeError::NewerVersion) => Err(Error::NewerVersion),
        // As if there were none: a new record's epochs and tokens lie above all that the damaged one can have given.
        Err(DecodeError::Corrupt) if matches!(request, Request::Reset { .. } | Request::Forget { .. }) => Ok(new()),
        Err(DecodeError::Corrupt) => Err(Error::Storage(StorageError::Corrupt(
            "the record of this dependency cannot be read; reset or forget it".into(),
        ))),
    }
}
