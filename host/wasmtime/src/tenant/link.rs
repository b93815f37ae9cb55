//! The functions of the contract, as a platform's linker gives them to plugins. Each is written once for both styles.

use wasmtime::component::{ComponentNamedList, ComponentType, Lift, Linker, LinkerInstance, Lower, WasmStr};
use wasmtime::{AsContext, StoreContextMut};

use super::context::TenantView;
use super::read::{Arguments, Refusal};
use crate::op::{Answer, Call, Op};
use crate::wire::{Error, Mode, Outcome, Permit, Policy, Tally};

const BREAKER: &str = "halfopen:breaker/breaker@0.1.0";
const CONTROL: &str = "halfopen:breaker/control@0.1.0";

/// Offers `halfopen:breaker/breaker` to the plugins of a linker, each bound to the tenant that its store names.
///
/// A call waits for the store in the thread that runs the plugin.
///
/// # Errors
/// The linker has that interface already.
pub fn offer_to_linker<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    breaker(linker.instance(BREAKER)?, Style::Sync)
}

/// [`offer_to_linker`] for plugins that are called by the async functions of wasmtime (`call_async`): no call holds up the
/// executor, as what waits for the store does so on a thread of its own. It needs no runtime of a certain kind.
///
/// # Errors
/// The linker has that interface already.
pub fn offer_to_linker_async<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    breaker(linker.instance(BREAKER)?, Style::Async)
}

/// Offers `halfopen:breaker/control` as well: the plugins of this linker may look, configure, force, reset, forget and
/// prune, in their own namespace.
///
/// Who offers this, prunes the namespaces of the tenants now and then ([`Host::prune`](crate::Host::prune)): of a
/// dependency that was forgotten the store keeps the version until then.
///
/// # Errors
/// The linker has that interface already.
pub fn offer_control_to_linker<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    control(linker.instance(CONTROL)?, Style::Sync)
}

/// [`offer_control_to_linker`] in the style of [`offer_to_linker_async`].
///
/// # Errors
/// The linker has that interface already.
pub fn offer_control_to_linker_async<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    control(linker.instance(CONTROL)?, Style::Async)
}

#[derive(Clone, Copy)]
enum Style {
    Sync,
    Async,
}

fn breaker<T: TenantView + 'static>(mut to: LinkerInstance<'_, T>, style: Style) -> wasmtime::Result<()> {
    type Report = (WasmStr, Permit, Outcome, Option<u64>);
    define(
        &mut to,
        style,
        "acquire",
        |read, (dependency, caller): (WasmStr, WasmStr)| {
            Ok(Op {
                dependency: read.dependency(dependency)?,
                call: Call::Acquire { caller: read.other("caller", caller)? },
            })
        },
        decision,
    )?;
    define(
        &mut to,
        style,
        "report",
        |read, (dependency, permit, outcome, took): Report| {
            Ok(Op { dependency: read.dependency(dependency)?, call: Call::Report { permit, outcome, took } })
        },
        receipt,
    )?;
    define(
        &mut to,
        style,
        "report-tally",
        |read, (dependency, permit, tally): (WasmStr, Permit, Tally)| {
            Ok(Op { dependency: read.dependency(dependency)?, call: Call::ReportTally { permit, tally } })
        },
        receipt,
    )?;
    define(
        &mut to,
        style,
        "renew",
        |read, (dependency, permit): (WasmStr, Permit)| {
            Ok(Op { dependency: read.dependency(dependency)?, call: Call::Renew { permit } })
        },
        receipt,
    )?;
    define(
        &mut to,
        style,
        "release",
        |read, (dependency, permit): (WasmStr, Permit)| {
            Ok(Op { dependency: read.dependency(dependency)?, call: Call::Release { permit } })
        },
        receipt,
    )
}

fn control<T: TenantView + 'static>(mut to: LinkerInstance<'_, T>, style: Style) -> wasmtime::Result<()> {
    type Force = (WasmStr, Mode, Option<u64>, WasmStr);
    define(
        &mut to,
        style,
        "inspect",
        |read, (dependency,): (WasmStr,)| Ok(Op { dependency: read.dependency(dependency)?, call: Call::Inspect }),
        |answer| match answer {
            Answer::Inspection(inspection) => Some(inspection),
            _ => None,
        },
    )?;
    define(
        &mut to,
        style,
        "policy",
        |read, (dependency,): (WasmStr,)| Ok(Op { dependency: read.dependency(dependency)?, call: Call::Policy }),
        |answer| match answer {
            Answer::Policy(policy) => Some(policy),
            _ => None,
        },
    )?;
    define(
        &mut to,
        style,
        "configure",
        |read, (dependency, policy): (WasmStr, Policy)| {
            Ok(Op { dependency: read.dependency(dependency)?, call: Call::Configure { policy: Box::new(policy) } })
        },
        receipt,
    )?;
    define(
        &mut to,
        style,
        "force",
        |read, (dependency, mode, lasting, note): Force| {
            let note = (*read.other("note", note)?).into();
            Ok(Op { dependency: read.dependency(dependency)?, call: Call::Force { mode, lasting, note } })
        },
        receipt,
    )?;
    define(
        &mut to,
        style,
        "reset",
        |read, (dependency,): (WasmStr,)| Ok(Op { dependency: read.dependency(dependency)?, call: Call::Reset }),
        receipt,
    )?;
    define(
        &mut to,
        style,
        "forget",
        |read, (dependency,): (WasmStr,)| Ok(Op { dependency: read.dependency(dependency)?, call: Call::Forget }),
        receipt,
    )?;
    define(
        &mut to,
        style,
        "prune",
        |read, (dependency, idle): (WasmStr, u64)| {
            Ok(Op { dependency: read.dependency(dependency)?, call: Call::Prune { idle } })
        },
        |answer| match answer {
            Answer::Pruned(removed) => Some(removed),
            _ => None,
        },
    )
}

fn decision(answer: Answer) -> Option<crate::wire::Decision> {
    match answer {
        Answer::Decision(decision) => Some(decision),
        _ => None,
    }
}

fn receipt(answer: Answer) -> Option<crate::wire::Receipt> {
    match answer {
        Answer::Receipt(receipt) => Some(receipt),
        _ => None,
    }
}

/// Makes a call of the arguments.
type Read<T, P> = fn(&Arguments<'_, T>, P) -> Result<Op, Refusal>;

/// Takes the answer out; none where it is of another kind, which the runner of the operation rules out.
type Pick<A> = fn(Answer) -> Option<A>;

/// Defines a function of an interface.
fn define<T, P, A>(
    to: &mut LinkerInstance<'_, T>,
    style: Style,
    name: &str,
    read: Read<T, P>,
    pick: Pick<A>,
) -> wasmtime::Result<()>
where
    T: TenantView + 'static,
    P: ComponentNamedList + Lift + Send + Sync + 'static,
    A: ComponentType + Lower + Send + Sync + 'static,
{
    match style {
        Style::Sync => to.func_wrap(name, move |mut store: StoreContextMut<'_, T>, arguments: P| {
            let answer = match enter(&mut store, arguments, read) {
                Ok(op) => store.data_mut().tenant().ask(op),
                Err(Refusal::Told(error)) => Err(error),
                Err(Refusal::Trap(error)) => return Err(error),
            };
            Ok((picked(answer, pick),))
        }),
        Style::Async => to.func_wrap_async(name, move |mut store: StoreContextMut<'_, T>, arguments: P| {
            Box::new(async move {
                let answer = match enter(&mut store, arguments, read) {
                    Ok(op) => store.data_mut().tenant().ask_async(op).await,
                    Err(Refusal::Told(error)) => Err(error),
                    Err(Refusal::Trap(error)) => return Err(error),
                };
                Ok((picked(answer, pick),))
            })
        }),
    }
}

/// Counts a call, and then reads what it is.
fn enter<T: TenantView + 'static, P>(
    store: &mut StoreContextMut<'_, T>,
    arguments: P,
    read: Read<T, P>,
) -> Result<Op, Refusal> {
    store.data_mut().tenant().enter()?;
    read(&Arguments(store.as_context()), arguments)
}

fn picked<A>(answer: Result<Answer, Error>, pick: Pick<A>) -> Result<A, Error> {
    pick(answer?).ok_or_else(|| Error::Other("the platform's breaker failed; try again later".to_owned()))
}
