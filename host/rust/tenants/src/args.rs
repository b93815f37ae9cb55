//! The arguments of a plugin's call: read where they are, and cut before they leave the plugin's memory.

use std::sync::Arc;

use halfopen::{Operator, Outcome, PolicyFault, Report, Tally};
use halfopen_contract::engine::{Operation, Request};
use halfopen_contract::types::Error;
use wasmtime::StoreContext;
use wasmtime::component::{ComponentType, Lift, WasmStr};

/// The bytes of a text that are passed on, at most. The component has limits of its own, far below this.
const MAX_TEXT: usize = 1_024;

/// The bytes of a policy, at most.
const MAX_POLICY: usize = 64 << 10;

/// Why a call is not made.
pub(crate) enum Refusal {
    /// The plugin gets this answer.
    Answer(Error),
    /// The arguments are not of the contract's types, and the plugin traps.
    Trap(wasmtime::Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Answer(error)
    }
}

impl From<wasmtime::Error> for Refusal {
    fn from(error: wasmtime::Error) -> Self {
        Refusal::Trap(error)
    }
}

/// A report in the plugin's memory.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(crate) struct ReportArgs {
    outcome: Outcome,
    took: Option<u64>,
    caller: WasmStr,
    cause: WasmStr,
    #[component(name = "retry-after")]
    retry_after: Option<u64>,
}

/// A tally in the plugin's memory.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(crate) struct TallyArgs {
    successes: u64,
    #[component(name = "slow-successes")]
    slow_successes: u64,
    failures: u64,
    #[component(name = "slow-failures")]
    slow_failures: u64,
    caller: WasmStr,
    cause: WasmStr,
    #[component(name = "retry-after")]
    retry_after: Option<u64>,
}

/// An operator in the plugin's memory.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(crate) struct OperatorArgs {
    by: WasmStr,
    note: WasmStr,
}

/// The memory that the arguments are in.
pub(crate) struct Args<'a, T: 'static>(pub StoreContext<'a, T>);

impl<T> Args<'_, T> {
    /// An operation on a dependency.
    pub fn request(&self, dependency: WasmStr, operation: Operation) -> Result<Request, Refusal> {
        let dependency = dependency.to_str(&self.0)?;
        if dependency.len() > MAX_TEXT {
            return Err(Error::InvalidDependency(too_long(dependency.len(), MAX_TEXT)).into());
        }
        Ok(Request { dependency: dependency.as_ref().into(), operation })
    }

    /// A text of which the component keeps no more than its first bytes.
    pub fn cut(&self, text: &WasmStr) -> wasmtime::Result<String> {
        let text = text.to_str(&self.0)?;
        Ok(text[..text.floor_char_boundary(MAX_TEXT)].to_owned())
    }

    pub fn report(&self, args: &ReportArgs) -> wasmtime::Result<Report> {
        let &ReportArgs { outcome, took, retry_after, .. } = args;
        Ok(Report { outcome, took, caller: self.cut(&args.caller)?, cause: self.cut(&args.cause)?, retry_after })
    }

    pub fn tally(&self, args: &TallyArgs) -> wasmtime::Result<Tally> {
        let &TallyArgs { successes, slow_successes, failures, slow_failures, retry_after, .. } = args;
        let (caller, cause) = (self.cut(&args.caller)?, self.cut(&args.cause)?);
        Ok(Tally { successes, slow_successes, failures, slow_failures, caller, cause, retry_after })
    }

    pub fn operator(&self, args: &OperatorArgs) -> wasmtime::Result<Operator> {
        Ok(Operator { by: self.cut(&args.by)?, note: self.cut(&args.note)? })
    }

    pub fn policy(&self, json: &WasmStr) -> Result<Arc<str>, Refusal> {
        let json = json.to_str(&self.0)?;
        if json.len() > MAX_POLICY {
            let fault = PolicyFault { field: String::new(), why: too_long(json.len(), MAX_POLICY) };
            return Err(Error::InvalidPolicy(vec![fault]).into());
        }
        Ok(json.as_ref().into())
    }
}

fn too_long(length: usize, most: usize) -> String {
    format!("it is {length} bytes long; at most {most} are read")
}
