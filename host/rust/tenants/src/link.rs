//! The functions of the contract in a platform's linker, for its plugins. Each is written once for plain and async calls.

use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::{Decision, Error, Mode, Permit, PolicyInForce, Receipt};
use wasmtime::component::{ComponentNamedList, ComponentType, Lift, Linker, LinkerInstance, Lower, WasmStr};
use wasmtime::{AsContext, StoreContextMut};

use crate::args::{Args, OperatorArgs, Refusal, ReportArgs, TallyArgs};
use crate::context::TenantView;
use crate::errors;

const BREAKER: &str = "halfopen:breaker/breaker@0.1.0";
const CONTROL: &str = "halfopen:breaker/control@0.1.0";

/// Offers `halfopen:breaker/breaker` to the plugins of a linker, each bound to the tenant that its store names.
///
/// A call waits for the store in the thread that runs the plugin.
///
/// # Errors
/// The linker has that interface already.
pub fn offer_to_linker<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    breaker(linker.instance(BREAKER)?, Calls::Plain).map_err(|error| offered_twice(error, BREAKER))
}

/// [`offer_to_linker`] for plugins that are called by the async functions of wasmtime (`call_async`): no call blocks the
/// executor, since the store is read and written on a thread for work that blocks. Any executor will do.
///
/// # Errors
/// The linker has that interface already.
pub fn offer_to_linker_async<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    breaker(linker.instance(BREAKER)?, Calls::Async).map_err(|error| offered_twice(error, BREAKER))
}

/// Offers `halfopen:breaker/control` as well: the plugins of this linker may inspect, configure, force, reset, forget and
/// prune, in their own namespace.
///
/// A platform that offers this prunes the namespaces of the tenants now and then ([`Host::prune`](halfopen::Host::prune)):
/// of a dependency that was forgotten the store keeps the version until then.
///
/// # Errors
/// The linker has that interface already.
pub fn offer_control_to_linker<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    control(linker.instance(CONTROL)?, Calls::Plain).map_err(|error| offered_twice(error, CONTROL))
}

/// [`offer_control_to_linker`] for async calls, as [`offer_to_linker_async`].
///
/// # Errors
/// The linker has that interface already.
pub fn offer_control_to_linker_async<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    control(linker.instance(CONTROL)?, Calls::Async).map_err(|error| offered_twice(error, CONTROL))
}

fn offered_twice(error: wasmtime::Error, interface: &str) -> wasmtime::Error {
    error.context(format!("the linker has {interface} already; offer it once, plain or async"))
}

#[derive(Clone, Copy)]
enum Calls {
    Plain,
    Async,
}

fn breaker<T: TenantView + 'static>(to: LinkerInstance<'_, T>, calls: Calls) -> wasmtime::Result<()> {
    let mut to = Functions { to, calls };
    to.define("acquire", decision, |args, (of, caller): (WasmStr, WasmStr)| {
        args.request(of, Operation::Acquire { caller: args.cut(&caller)?.into() })
    })?;
    to.define("report", receipt, |args, (of, permit, report): (WasmStr, Permit, ReportArgs)| {
        args.request(of, Operation::Report { permit, report: args.report(&report)? })
    })?;
    to.define("report-tally", receipt, |args, (of, permit, tally): (WasmStr, Permit, TallyArgs)| {
        args.request(of, Operation::ReportTally { permit, tally: args.tally(&tally)? })
    })?;
    to.define("renew", receipt, |args, (of, permit): (WasmStr, Permit)| args.request(of, Operation::Renew { permit }))?;
    to.define("release", receipt, |args, (of, permit): (WasmStr, Permit)| {
        args.request(of, Operation::Release { permit })
    })
}

fn control<T: TenantView + 'static>(to: LinkerInstance<'_, T>, calls: Calls) -> wasmtime::Result<()> {
    let mut to = Functions { to, calls };
    to.define("inspect", inspection, |args, (of,): (WasmStr,)| args.request(of, Operation::Inspect))?;
    to.define("policy", policy, |args, (of,): (WasmStr,)| args.request(of, Operation::Policy))?;
    to.define("configure", receipt, |args, (of, policy, by): (WasmStr, Option<WasmStr>, OperatorArgs)| {
        let policy = policy.map(|policy| args.policy(&policy)).transpose()?;
        args.request(of, Operation::Configure { policy, operator: args.operator(&by)? })
    })?;
    to.define("force", receipt, |args, (of, mode, lasting, by): (WasmStr, Mode, Option<u64>, OperatorArgs)| {
        args.request(of, Operation::Force { mode, lasting, operator: args.operator(&by)? })
    })?;
    to.define("reset", receipt, |args, (of, by): (WasmStr, OperatorArgs)| {
        args.request(of, Operation::Reset { operator: args.operator(&by)? })
    })?;
    to.define("forget", receipt, |args, (of, by): (WasmStr, OperatorArgs)| {
        args.request(of, Operation::Forget { operator: args.operator(&by)? })
    })?;
    to.define("prune", pruned, |args, (of, idle, by): (WasmStr, u64, OperatorArgs)| {
        args.request(of, Operation::Prune { idle, operator: args.operator(&by)? })
    })
}

/// Takes the answer out; none where it is of another kind.
macro_rules! pick {
    ($($name:ident: $kind:ident($type:ty)),+ $(,)?) => {
        $(fn $name(answer: Answer) -> Option<$type> {
            match answer {
                Answer::$kind(answer) => Some(answer),
                _ => None,
            }
        })+
    };
}

pick! {
    decision: Decision(Decision),
    receipt: Receipt(Receipt),
    inspection: Inspection(String),
    policy: Policy(PolicyInForce),
    pruned: Pruned(bool),
}

/// Makes a request of the arguments.
type Read<T, P> = fn(&Args<'_, T>, P) -> Result<Request, Refusal>;

/// See [`pick`].
type Pick<A> = fn(Answer) -> Option<A>;

/// The functions of an interface.
struct Functions<'a, T: 'static> {
    to: LinkerInstance<'a, T>,
    calls: Calls,
}

impl<T: TenantView + 'static> Functions<'_, T> {
    fn define<P, A>(&mut self, name: &str, pick: Pick<A>, read: Read<T, P>) -> wasmtime::Result<()>
    where
        P: ComponentNamedList + Lift + Send + Sync + 'static,
        A: ComponentType + Lower + Send + Sync + 'static,
    {
        match self.calls {
            Calls::Plain => self.to.func_wrap(name, move |mut store: StoreContextMut<'_, T>, arguments: P| {
                let answer = enter(&mut store, arguments, read)?;
                Ok((picked(answer.and_then(|request| store.data_mut().tenant().call(request)), pick),))
            }),
            Calls::Async => self.to.func_wrap_async(name, move |mut store: StoreContextMut<'_, T>, arguments: P| {
                Box::new(async move {
                    let answer = match enter(&mut store, arguments, read)? {
                        Ok(request) => store.data_mut().tenant().call_async(request).await,
                        Err(error) => Err(error),
                    };
                    Ok((picked(answer, pick),))
                })
            }),
        }
    }
}

/// Counts a call, and then reads its arguments. The outer error traps.
fn enter<T: TenantView + 'static, P>(
    store: &mut StoreContextMut<'_, T>,
    arguments: P,
    read: Read<T, P>,
) -> wasmtime::Result<Result<Request, Error>> {
    let counted = store.data_mut().tenant().count();
    match counted.map_err(Refusal::from).and_then(|()| read(&Args(store.as_context()), arguments)) {
        Ok(request) => Ok(Ok(request)),
        Err(Refusal::Answer(error)) => Ok(Err(error)),
        Err(Refusal::Trap(error)) => Err(error),
    }
}

fn picked<A>(answer: Result<Answer, Error>, pick: Pick<A>) -> Result<A, Error> {
    pick(answer?).ok_or_else(errors::failed)
}
