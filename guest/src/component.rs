//! The component: the functions that the world `component` exports.

use alloc::boxed::Box;
use alloc::string::String;
use core::panic::PanicInfo;

use once_cell::race::OnceBox;
use rlsf::SmallGlobalTlsf;

use crate::contract::exports::halfopen::breaker::{breaker, control, setup};
use crate::contract::halfopen::breaker::{clock, entropy, storage};
use crate::contract::{
    CommitOutcome, Decision, Error, Mode, Operator, Permit, PolicyInForce, Receipt, Report, Snapshot, StorageError,
    Tally,
};
use crate::policy::{BUILT_IN, Policy};
use crate::step::{Answer, Ports, Request, step};

#[global_allocator]
static ALLOCATOR: SmallGlobalTlsf = SmallGlobalTlsf::new();

/// Traps without a message: with one, the paths of the build would stand in the component.
#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

/// The default policy, once the host has set one.
static DEFAULT: OnceBox<Policy> = OnceBox::new();

struct Component;

#[allow(unsafe_code, reason = "generated code")]
mod exports {
    use super::Component;

    crate::contract::export!(Component with_types_in crate::contract);
}

/// The imports of the component.
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
        transitions: &[String],
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

fn run(dependency: &str, request: &Request) -> Result<Answer, Error> {
    step(&mut Imports, DEFAULT.get().unwrap_or(&BUILT_IN), dependency, request)
}

/// Runs a request that is answered by this kind of answer; `step` gives no other.
macro_rules! run {
    ($kind:ident, $dependency:ident, $($request:tt)+) => {
        match run(&$dependency, &Request::$($request)+)? {
            Answer::$kind(answer) => Ok(answer),
            _ => Err(Error::Other("the answer does not fit the request".into())),
        }
    };
}

impl setup::Guest for Component {
    fn set_default_policy(policy: String) -> Result<String, Error> {
        let policy = Policy::parse(&policy).map_err(Error::InvalidPolicy)?;
        match DEFAULT.set(Box::new(policy)) {
            Ok(()) => Ok(policy.to_json()),
            Err(_) => Err(Error::InvalidArgument("this instance has a default policy already".into())),
        }
    }

    fn built_in_policy() -> String {
        BUILT_IN.to_json()
    }
}

impl breaker::Guest for Component {
    fn acquire(dependency: String, caller: String) -> Result<Decision, Error> {
        run!(Decision, dependency, Acquire { caller })
    }

    fn report(dependency: String, permit: Permit, report: Report) -> Result<Receipt, Error> {
        run!(Receipt, dependency, Report { permit, report })
    }

    fn report_tally(dependency: String, permit: Permit, tally: Tally) -> Result<Receipt, Error> {
        run!(Receipt, dependency, ReportTally { permit, tally })
    }

    fn renew(dependency: String, permit: Permit) -> Result<Receipt, Error> {
        run!(Receipt, dependency, Renew { permit })
    }

    fn release(dependency: String, permit: Permit) -> Result<Receipt, Error> {
        run!(Receipt, dependency, Release { permit })
    }
}

impl control::Guest for Component {
    fn inspect(dependency: String) -> Result<String, Error> {
        run!(Inspection, dependency, Inspect)
    }

    fn policy(dependency: String) -> Result<PolicyInForce, Error> {
        run!(Policy, dependency, Policy)
    }

    fn configure(dependency: String, policy: Option<String>, operator: Operator) -> Result<Receipt, Error> {
        run!(Receipt, dependency, Configure { policy, operator })
    }

    fn force(dependency: String, mode: Mode, lasting: Option<u64>, operator: Operator) -> Result<Receipt, Error> {
        run!(Receipt, dependency, Force { mode, lasting, operator })
    }

    fn reset(dependency: String, operator: Operator) -> Result<Receipt, Error> {
        run!(Receipt, dependency, Reset { operator })
    }

    fn forget(dependency: String, operator: Operator) -> Result<Receipt, Error> {
        run!(Receipt, dependency, Forget { operator })
    }

    fn prune(dependency: String, idle: u64, operator: Operator) -> Result<bool, Error> {
        run!(Pruned, dependency, Prune { idle, operator })
    }
}
