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
use crate::step::{Ports, Step};

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

fn with_step<T>(dependency: &str, run: impl FnOnce(Step<'_, Imports>) -> T) -> T {
    let default = DEFAULT.get().unwrap_or(&policy::BUILT_IN);
    run(Step { ports: &mut Imports, default, dependency })
}

impl setup::Guest for Component {
    fn set_default_policy(policy: Policy) -> Result<Policy, Error> {
        let faults = policy::faults(&policy);
        if !faults.is_empty() {
            return Err(Error::InvalidPolicy(faults));
        }
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
        with_step(&dependency, |step| step.acquire(&caller))
    }

    fn report(dependency: String, permit: Permit, outcome: Outcome, took: Option<u64>) -> Result<Receipt, Error> {
        with_step(&dependency, |step| step.report(permit, outcome, took))
    }

    fn report_tally(dependency: String, permit: Permit, tally: Tally) -> Result<Receipt, Error> {
        with_step(&dependency, |step| step.report_tally(permit, tally))
    }

    fn renew(dependency: String, permit: Permit) -> Result<Receipt, Error> {
        with_step(&dependency, |step| step.renew(permit))
    }

    fn release(dependency: String, permit: Permit) -> Result<Receipt, Error> {
        with_step(&dependency, |step| step.report(permit, Outcome::Ignored, None))
    }
}

impl control::Guest for Component {
    fn inspect(dependency: String) -> Result<Inspection, Error> {
        with_step(&dependency, |step| step.inspect())
    }

    fn policy(dependency: String) -> Result<PolicyInForce, Error> {
        with_step(&dependency, |step| step.policy())
    }

    fn configure(dependency: String, policy: Policy) -> Result<Receipt, Error> {
        with_step(&dependency, |step| step.configure(policy))
    }

    fn force(dependency: String, mode: Mode, lasting: Option<u64>, note: String) -> Result<Receipt, Error> {
        with_step(&dependency, |step| step.force(mode, lasting, &note))
    }

    fn reset(dependency: String) -> Result<Receipt, Error> {
        with_step(&dependency, |step| step.reset())
    }

    fn forget(dependency: String) -> Result<Receipt, Error> {
        with_step(&dependency, |step| step.forget())
    }
}
