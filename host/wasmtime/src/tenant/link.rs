//! The functions of the contract, as a platform's linker gives them to plugins. Each is written once for both styles.

use wasmtime::component::{ComponentNamedList, ComponentType, Lift, Linker, LinkerInstance, Lower, WasmStr};
use wasmtime::{AsContext, StoreContextMut};

use super::context::TenantView;
use super::read::{Arguments, Refusal};
use crate::op::{Answer, Call, Op};
use crate::wire::{Decision, Error, Inspection, Mode, Outcome, Permit, Policy, PolicyInForce, Receipt, Tally};

const BREAKER: &str = "halfopen:breaker/breaker@0.1.0";
const CONTROL: &str = "halfopen:breaker/control@0.1.0";

/// Offers `halfopen:breaker/breaker` to the plugins of a linker, each bound to the tenant that its store names.
///
/// A call waits for the store in the thread that runs the plugin.
///
/// # Errors
/// The linker has that interface already.
pub fn offer_to_linker<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    breaker(linker.instance(BREAKER)?, Style::Sync).map_err(|error| offered_twice(error, BREAKER))
}

/// [`offer_to_linker`] for plugins that are called by the async functions of wasmtime (`call_async`): no call holds up the
/// executor, as what waits for the store does so on a thread of its own. It needs no runtime of a certain kind.
///
/// # Errors
/// The linker has that interface already.
pub fn offer_to_linker_async<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    breaker(linker.instance(BREAKER)?, Style::Async).map_err(|error| offered_twice(error, BREAKER))
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
    control(linker.instance(CONTROL)?, Style::Sync).map_err(|error| offered_twice(error, CONTROL))
}

/// [`offer_control_to_linker`] in the style of [`offer_to_linker_async`].
///
/// # Errors
/// The linker has that interface already.
pub fn offer_control_to_linker_async<T: TenantView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    control(linker.instance(CONTROL)?, Style::Async).map_err(|error| offered_twice(error, CONTROL))
}

fn offered_twice(error: wasmtime::Error, interface: &str) -> wasmtime::Error {
    error.context(format!("the linker has {interface} already; offer it once, plain or async"))
}

#[derive(Clone, Copy)]
enum Style {
    Sync,
    Async,
}

fn breaker<T: TenantView + 'static>(mut to: LinkerInstance<'_, T>, style: Style) -> wasmtime::Result<()> {
    type Report = (WasmStr, Permit, Outcome, Option<u64>);
    let to = &mut to;
    define(to, style, "acquire", |read, (of, caller): (WasmStr, WasmStr)| read.acquire(of, caller), decision)?;
    define(
        to,
        style,
        "report",
        |read, (of, permit, outcome, took): Report| read.op(of, Call::Report { permit, outcome, took }),
        receipt,
    )?;
    define(
        to,
        style,
        "report-tally",
        |read, (of, permit, tally): (WasmStr, Permit, Tally)| read.op(of, Call::ReportTally { permit, tally }),
        receipt,
    )?;
    define(to, style, "renew", |read, (of, permit): OfPermit| read.op(of, Call::Renew { permit }), receipt)?;
    define(to, style, "release", |read, (of, permit): OfPermit| read.op(of, Call::Release { permit }), receipt)
}

fn control<T: TenantView + 'static>(mut to: LinkerInstance<'_, T>, style: Style) -> wasmtime::Result<()> {
    type Force = (WasmStr, Mode, Option<u64>, WasmStr);
    let to = &mut to;
    define(to, style, "inspect", |read, (of,): Of| read.op(of, Call::Inspect), inspection)?;
    define(to, style, "policy", |read, (of,): Of| read.op(of, Call::Policy), policy)?;
    define(
        to,
        style,
        "configure",
        |read, (of, policy): (WasmStr, Policy)| read.op(of, Call::Configure { policy: Box::new(policy) }),
        receipt,
    )?;
    define(to, style, "force", |read, (of, mode, lasting, note): Force| read.force(of, mode, lasting, note), receipt)?;
    define(to, style, "reset", |read, (of,): Of| read.op(of, Call::Reset), receipt)?;
    define(to, style, "forget", |read, (of,): Of| read.op(of, Call::Forget), receipt)?;
    define(to, style, "prune", |read, (of, idle): (WasmStr, u64)| read.op(of, Call::Prune { idle }), pruned)
}

/// What functions are called with that are about a dependency and nothing else.
type Of = (WasmStr,);

/// The same, and about a permit.
type OfPermit = (WasmStr, Permit);

/// Takes the answer out; none where it is of another kind, which the runner of the operation rules out.
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
    inspection: Inspection(Inspection),
    policy: Policy(PolicyInForce),
    pruned: Pruned(bool),
}

/// Makes a call of the arguments.
type Read<T, P> = fn(&Arguments<'_, T>, P) -> Result<Op, Refusal>;

/// See [`pick`].
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
