//! The component: the exports of world `component`, each one step.

use alloc::boxed::Box;
use alloc::string::String;

use once_cell::race::OnceBox;

use crate::bindings::exports::halfopen::breaker::{breaker, control, setup};
use crate::bindings::halfopen::breaker::storage::{self, CommitOutcome, Snapshot};
use crate::bindings::halfopen::breaker::types::{
    Decision, Error, Inspection, Mode, Outcome, Permit, Policy, PolicyInForce, Receipt, StorageError, Tally, Transition,
};
use crate::bindings::halfopen::breaker::{clock, entropy};
use crate::policy;
use crate::step::{Answer, Ports, Request, step};

static DEFAULT: OnceBox<Policy> = OnceBox::new();

struct Component;

crate::bindings::export!(Component with_types_in crate::bindings);

struct Imports;

impl Ports for Imports {
    fn load(&mut self, dependency: &str) -> Result<Snapshot, StorageError> {
        storage::load(dependency)
    }

    fn commit(
        &mut self,
        dependency: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[Transition],
    ) -> Result<CommitOutcome, StorageError> {
        storage::commit(dependency, based_on, data, transitions)
    }

    fn now(&mut self) -> u64 {
        clock::now()
    }

    fn next(&mut self) -> u64 {
        entropy::next()
    }
}

fn answer(dependency: &str, request: Request) -> Result<Answer, Error> {
    step(&mut Imports, DEFAULT.get().unwrap_or(&policy::BUILT_IN), dependency, &request)
}

fn receipt(dependency: &str, request: Request) -> Result<Receipt, Error> {
    match answer(dependency, request)? {
        Answer::Receipt(receipt) => Ok(receipt),
        _ => Err(mismatch()),
    }
}

/// Never seen: each request has one kind of answer.
fn mismatch() -> Error {
    Error::Other(String::new())
}

impl setup::Guest for Component {
    fn set_default_policy(policy: Policy) -> Result<Policy, Error> {
        policy::check(&policy)?;
        match DEFAULT.set(Box::new(policy)) {
            Ok(()) => Ok(policy),
            Err(_) => Err(Error::InvalidArgument(String::from("this instance has a default policy already"))),
        }
    }

    fn built_in_policy() -> Policy {
        policy::BUILT_IN
    }
}

impl breaker::Guest for Component {
    fn acquire(dependency: String, caller: String) -> Result<Decision, Error> {
        match answer(&dependency, Request::Acquire { caller })? {
            Answer::Decision(decision) => Ok(decision),
            _ => Err(mismatch()),
        }
    }

    fn report(dependency: String, permit: Permit, outcome: Outcome, took: Option<u64>) -> Result<Receipt, Error> {
        receipt(&dependency, Request::Report { permit, outcome, took })
    }

    fn report_tally(dependency: String, permit: Permit, tally: Tally) -> Result<Receipt, Error> {
        receipt(&dependency, Request::ReportTally { permit, tally })
    }

    fn renew(dependency: String, permit: Permit) -> Result<Receipt, Error> {
        receipt(&dependency, Request::Renew { permit })
    }

    fn release(dependency: String, permit: Permit) -> Result<Receipt, Error> {
        receipt(&dependency, Request::Report { permit, outcome: Outcome::Ignored, took: None })
    }
}

impl control::Guest for Component {
    fn inspect(dependency: String) -> Result<Inspection, Error> {
        match answer(&dependency, Request::Inspect)? {
            Answer::Inspection(inspection) => Ok(inspection),
            _ => Err(mismatch()),
        }
    }

    fn policy(dependency: String) -> Result<PolicyInForce, Error> {
        match answer(&dependency, Request::Policy)? {
            Answer::Policy(policy) => Ok(policy),
            _ => Err(mismatch()),
        }
    }

    fn configure(dependency: String, policy: Policy) -> Result<Receipt, Error> {
        receipt(&dependency, Request::Configure(policy))
    }

    fn force(dependency: String, mode: Mode, lasting: Option<u64>, note: String) -> Result<Receipt, Error> {
        receipt(&dependency, Request::Force { mode, lasting, note })
    }

    fn reset(dependency: String) -> Result<Receipt, Error> {
        receipt(&dependency, Request::Reset)
    }

    fn forget(dependency: String) -> Result<Receipt, Error> {
        receipt(&dependency, Request::Forget)
    }
}
