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

fn breaker<T: TenantView + 'static>(mut to: LinkerInstance<'_, T>, calls: Calls) -> wasmtime::Result<()> {
    let to = &mut to;
    define(
        to,
        calls,
        "acquire",
        |args, (of, caller): (WasmStr, WasmStr)| {
            args.request(of, Operation::Acquire { caller: args.cut(&caller)?.into() })
        },
        decision,
    )?;
    define(
        to,
        calls,
        "report",
        |args, (of, permit, report): (WasmStr, Permit, ReportArgs)| {
            args.request(of, Operation::Report { permit, report: args.report(&report)? })
        },
        receipt,
    )?;
    define(
        to,
        calls,
        "report-tally",
        |args, (of, permit, tally): (WasmStr, Permit, TallyArgs)| {
            args.request(of, Operation::ReportTally { permit, tally: args.tally(&tally)? })
        },
        receipt,
    )?;
    define(to, calls, "renew", |args, (of, permit): OfPermit| args.request(of, Operation::Renew { permit }), receipt)?;
    define(
        to,
        calls,
        "release",
        |args, (of, permit): OfPermit| args.request(of, Operation::Release { permit }),
        receipt,
    )
}

fn control<T: TenantView + 'static>(mut to: LinkerInstance<'_, T>, calls: Calls) -> wasmtime::Result<()> {
    let to = &mut to;
    define(to, calls, "inspect", |args, (of,): (WasmStr,)| args.request(of, Operation::Inspect), inspection)?;
    define(to, calls, "policy", |args, (of,): (WasmStr,)| args.request(of, Operation::Policy), policy)?;
    define(
        to,
        calls,
        "configure",
        |args, (of, policy, operator): (WasmStr, Option<WasmStr>, OperatorArgs)| {
            let policy = policy.map(|policy| args.policy(&policy)).transpose()?;
            args.request(of, Operation::Configure { policy, operator: args.operator(&operator)? })
        },
        receipt,
    )?;
    define(
        to,
        calls,
        "force",
        |args, (of, mode, lasting, operator): (WasmStr, Mode, Option<u64>, OperatorArgs)| {
            args.request(of, Operation::Force { mode, lasting, operator: args.operator(&operator)? })
        },
        receipt,
    )?;
    define(
        to,
        calls,
        "reset",
        |args, (of, operator): ByOperator| args.request(of, Operation::Reset { operator: args.operator(&operator)? }),
        receipt,
    )?;
    define(
        to,
        calls,
        "forget",
        |args, (of, operator): ByOperator| args.request(of, Operation::Forget { operator: args.operator(&operator)? }),
        receipt,
    )?;
    define(
        to,
        calls,
        "prune",
        |args, (of, idle, operator): (WasmStr, u64, OperatorArgs)| {
            args.request(of, Operation::Prune { idle, operator: args.operator(&operator)? })
        },
        pruned,
    )
}

/// The arguments of a function about a permit.
type OfPermit = (WasmStr, Permit);

/// The arguments of an operator's act.
type ByOperator = (WasmStr, OperatorArgs);

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

/// Defines a function of an interface.
fn define<T, P, A>(
    to: &mut LinkerInstance<'_, T>,
    calls: Calls,
    name: &str,
    read: Read<T, P>,
    pick: Pick<A>,
) -> wasmtime::Result<()>
where
    T: TenantView + 'static,
    P: ComponentNamedList + Lift + Send + Sync + 'static,
    A: ComponentType + Lower + Send + Sync + 'static,
{
    match calls {
        Calls::Plain => to.func_wrap(name, move |mut store: StoreContextMut<'_, T>, arguments: P| {
            let answer = match enter(&mut store, arguments, read) {
                Ok(request) => store.data_mut().tenant().call(request),
                Err(Refusal::Answer(error)) => Err(error),
                Err(Refusal::Trap(error)) => return Err(error),
            };
            Ok((picked(answer, pick),))
        }),
        Calls::Async => to.func_wrap_async(name, move |mut store: StoreContextMut<'_, T>, arguments: P| {
            Box::new(async move {
                let answer = match enter(&mut store, arguments, read) {
                    Ok(request) => store.data_mut().tenant().call_async(request).await,
                    Err(Refusal::Answer(error)) => Err(error),
                    Err(Refusal::Trap(error)) => return Err(error),
                };
                Ok((picked(answer, pick),))
            })
        }),
    }
}

/// Counts a call, and then reads its arguments.
fn enter<T: TenantView + 'static, P>(
    store: &mut StoreContextMut<'_, T>,
    arguments: P,
    read: Read<T, P>,
) -> Result<Request, Refusal> {
    store.data_mut().tenant().count()?;
    read(&Args(store.as_context()), arguments)
}

fn picked<A>(answer: Result<Answer, Error>, pick: Pick<A>) -> Result<A, Error> {
    pick(answer?).ok_or_else(errors::failed)
}
