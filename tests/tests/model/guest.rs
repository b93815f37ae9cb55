//! The guest core as the model runs it: one step on what was loaded, its write held back until it is committed.

use std::sync::Arc;

use halfopen_contract::documents::{Inspection, Transition, TransitionReason};
use halfopen_contract::types::State;
use halfopen_guest::contract::{
    CommitOutcome, Decision, DeferReason, Error, Mode, Operator, Outcome, Permit, Report, Snapshot, StorageError,
    Verdict,
};
use halfopen_guest::policy::Policy;
use halfopen_guest::record::codec;
use halfopen_guest::record::{Record, StateKind};
use halfopen_guest::step::{Answer, Ports, Request};

/// The dependency that all of it is about.
pub const DEPENDENCY: &str = "d";

/// A core: the real one, or one with something broken around it.
pub type Step = fn(&mut dyn Ports, &Policy, &str, &Request) -> Result<Answer, Error>;

/// A record at a version, as its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View {
    pub version: u64,
    pub data: Option<Arc<[u8]>>,
}

/// A permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pass {
    pub epoch: u64,
    pub lease: Option<u64>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    Success,
    Failure,
    /// A failure with which the dependency asks to be left alone for this number of ms.
    RetryAfter(u64),
    Timeout,
    Ignored,
}

/// What an operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    ForceOpen(Option<u64>),
    ForceClosed(Option<u64>),
    ForceNone,
    Reset,
    Forget,
    Prune,
    /// Configures the scenario's other policy.
    Configure,
}

/// What is asked of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    Acquire,
    Report(Pass, End),
    Renew(Pass),
    Order(Order),
    Inspect,
}

/// What the core answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reply {
    Proceed { pass: Pass, fresh_for: u64 },
    Probe { pass: Pass, expires_in: u64 },
    Defer { retry_after: u64, forced: bool, fresh_for: u64 },
    Applied,
    Stale,
    Inspected { probe_due: bool, calls: u64, forced: bool },
    Refused,
}

/// A transition, as far as chains of them are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    pub from: u8,
    pub to: u8,
    pub epoch: u64,
    pub kind: Kind,
}

/// What a transition may be, by its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A change of state.
    Change,
    /// A change of state, or an entry from a state to itself.
    Either,
    /// An entry from a state to itself.
    Note,
    /// The end of a chain.
    Forgotten,
}

impl Change {
    /// Whether it is no change of state, after a change to this epoch.
    pub fn is_note(&self, epoch: u64) -> bool {
        match self.kind {
            Kind::Change => false,
            Kind::Either => self.epoch == epoch,
            Kind::Note | Kind::Forgotten => true,
        }
    }
}

/// What the core wants to commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Write {
    pub data: Option<Arc<[u8]>>,
    pub changes: Vec<Change>,
}

impl Write {
    /// The changes of state, after a change to this epoch.
    pub fn changes_of_state(&self, mut epoch: u64) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| {
            let is_note = change.is_note(epoch);
            epoch = change.epoch;
            !is_note
        })
    }
}

/// Runs the core on what was loaded, at an instant. Where `lost` is given, it first decides on that, and loses the race.
pub fn run(
    step: Step,
    policies: &[Policy; 2],
    op: Op,
    lost: Option<(&View, u64)>,
    view: (&View, u64),
) -> (Reply, Option<Write>) {
    let mut script = Script { lost, view, write: None };
    let answer = step(&mut script, &policies[0], DEPENDENCY, &request(op, &policies[1]));
    match answer {
        Ok(answer) => (reply(answer), script.write),
        Err(Error::Storage(StorageError::Corrupt(_))) => (Reply::Refused, None),
        Err(other) => panic!("{op:?} on {view:?} came to {other:?}"),
    }
}

struct Script<'a> {
    lost: Option<(&'a View, u64)>,
    view: (&'a View, u64),
    write: Option<Write>,
}

impl Script<'_> {
    fn present(&self) -> (&View, u64) {
        self.lost.unwrap_or(self.view)
    }

    fn snapshot(&self) -> Snapshot {
        let (view, _) = self.present();
        Snapshot { version: view.version, data: view.data.as_deref().map(Vec::from) }
    }
}

impl Ports for Script<'_> {
    fn load(&mut self, _: &str) -> Result<Snapshot, StorageError> {
        Ok(self.snapshot())
    }

    fn commit(
        &mut self,
        _: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[String],
    ) -> Result<CommitOutcome, StorageError> {
        if self.lost.take().is_some() {
            return Ok(CommitOutcome::Stale(self.snapshot()));
        }
        let changes = transitions.iter().map(|json| change(json)).collect();
        self.write = Some(Write { data: data.map(Arc::from), changes });
        Ok(CommitOutcome::Committed(based_on + 1))
    }

    fn now(&mut self) -> u64 {
        self.present().1
    }

    fn next(&mut self) -> u64 {
        0
    }
}

impl View {
    /// The record; a new one where none is kept, or where what is kept is damaged.
    pub fn record(&self, default: &Policy) -> Record {
        self.kept().unwrap_or_else(|| Record::new(self.version, default))
    }

    /// The record, where one is kept and is not damaged.
    pub fn kept(&self) -> Option<Record> {
        codec::decode(self.data.as_deref()?).ok()
    }

    /// Whether what is kept is damaged.
    pub fn is_damaged(&self) -> bool {
        self.data.is_some() && self.kept().is_none()
    }

    /// The view that a write leads to.
    pub fn after(&self, write: &Write) -> View {
        View { version: self.version + 1, data: write.data.clone() }
    }
}

impl From<Permit> for Pass {
    fn from(permit: Permit) -> Pass {
        Pass { epoch: permit.epoch, lease: permit.lease }
    }
}

impl From<Pass> for Permit {
    fn from(pass: Pass) -> Permit {
        Permit { epoch: pass.epoch, lease: pass.lease }
    }
}

fn request(op: Op, other: &Policy) -> Request {
    let operator = || Operator { by: String::new(), note: String::new() };
    let force = |mode, lasting| Request::Force { mode, lasting, operator: operator() };
    match op {
        Op::Acquire => Request::Acquire { caller: String::new() },
        Op::Report(pass, end) => Request::Report { permit: pass.into(), report: report(end) },
        Op::Renew(pass) => Request::Renew { permit: pass.into() },
        Op::Inspect => Request::Inspect,
        Op::Order(Order::ForceOpen(lasting)) => force(Mode::Open, lasting),
        Op::Order(Order::ForceClosed(lasting)) => force(Mode::Closed, lasting),
        Op::Order(Order::ForceNone) => force(Mode::None, None),
        Op::Order(Order::Reset) => Request::Reset { operator: operator() },
        Op::Order(Order::Forget) => Request::Forget { operator: operator() },
        Op::Order(Order::Prune) => Request::Prune { idle: 1, operator: operator() },
        Op::Order(Order::Configure) => Request::Configure { policy: Some(other.to_json()), operator: operator() },
    }
}

fn report(end: End) -> Report {
    let (outcome, retry_after) = match end {
        End::Success => (Outcome::Success, None),
        End::Failure => (Outcome::Failure, None),
        End::RetryAfter(ms) => (Outcome::Failure, Some(ms)),
        End::Timeout => (Outcome::Timeout, None),
        End::Ignored => (Outcome::Ignored, None),
    };
    Report { outcome, took: None, caller: String::new(), cause: String::new(), retry_after }
}

fn reply(answer: Answer) -> Reply {
    match answer {
        Answer::Decision(Decision::Proceed(admission)) => {
            Reply::Proceed { pass: admission.permit.into(), fresh_for: admission.fresh_for }
        }
        Answer::Decision(Decision::Probe(probe)) => {
            Reply::Probe { pass: probe.permit.into(), expires_in: probe.expires_in }
        }
        Answer::Decision(Decision::Defer(deferral)) => Reply::Defer {
            retry_after: deferral.retry_after,
            forced: matches!(deferral.reason, DeferReason::ForcedOpen),
            fresh_for: deferral.fresh_for,
        },
        Answer::Receipt(receipt) => match receipt.verdict {
            Verdict::Applied => Reply::Applied,
            Verdict::Stale(_) => Reply::Stale,
        },
        Answer::Inspection(json) => {
            let shown: Inspection = json.parse().expect("an inspection");
            Reply::Inspected { probe_due: shown.probe_due, calls: shown.calls, forced: shown.forced.is_some() }
        }
        Answer::Pruned(true) => Reply::Applied,
        Answer::Pruned(false) => Reply::Stale,
        Answer::Policy(_) => unreachable!("the model never asks for the policy"),
    }
}

fn change(json: &str) -> Change {
    use TransitionReason::{Configured, Forced, Forgotten, OverrideEnded, OverrideRemoved, ProbeLost};
    let transition: Transition = json.parse().expect("a transition");
    let kind = match transition.reason {
        // A lost probe may also reopen the breaker.
        Forced | OverrideEnded | OverrideRemoved | ProbeLost => Kind::Either,
        Configured => Kind::Note,
        Forgotten => Kind::Forgotten,
        _ => Kind::Change,
    };
    let number = |state| match state {
        State::Closed => number(StateKind::Closed),
        State::Open => number(StateKind::Open),
        State::HalfOpen => number(StateKind::HalfOpen),
    };
    Change { from: number(transition.from), to: number(transition.to), epoch: transition.epoch, kind }
}

/// A state as a number, which can be hashed.
pub fn number(state: StateKind) -> u8 {
    match state {
        StateKind::Closed => 0,
        StateKind::Open => 1,
        StateKind::HalfOpen => 2,
    }
}
