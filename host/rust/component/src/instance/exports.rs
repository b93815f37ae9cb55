//! The functions that the component exports, as typed functions of wasmtime: the same for plain and for async calls.

use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::{Decision, Error, Mode, Operator, Permit, PolicyInForce, Receipt, Report, Tally};
use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentNamedList, Instance, Lift, Lower, TypedFunc};

use crate::calls::Calls;

/// The result of a call in wasmtime's form: the error of the component, or that of wasmtime.
pub(super) type Returned<T> = wasmtime::Result<Result<T, Error>>;

/// wasmtime's typed functions are covariant in their arguments: a function of `&'static str` takes any `&str`.
type Function<Arguments, Answer> = TypedFunc<Arguments, (Result<Answer, Error>,)>;

macro_rules! exports {
    ($($interface:ident { $($function:ident($($argument:ty),*) -> $answer:ty;)* })*) => {
        /// The functions of an instance.
        pub(super) struct Exports {
            $($($function: Function<($($argument,)*), $answer>,)*)*
        }

        impl Exports {
            /// Finds the functions of an instance.
            pub fn of<T>(instance: &Instance, store: &mut StoreContextMut<'_, T>) -> wasmtime::Result<Exports> {
                Ok(Exports {
                    $($($function: find(instance, store, stringify!($interface), stringify!($function))?,)*)*
                })
            }
        }
    };
}

exports! {
    setup {
        set_default_policy(&'static str) -> String;
    }
    breaker {
        acquire(&'static str, &'static str) -> Decision;
        report(&'static str, Permit, &'static Report) -> Receipt;
        report_tally(&'static str, Permit, &'static Tally) -> Receipt;
        renew(&'static str, Permit) -> Receipt;
        release(&'static str, Permit) -> Receipt;
    }
    control {
        inspect(&'static str) -> String;
        policy(&'static str) -> PolicyInForce;
        configure(&'static str, Option<&'static str>, &'static Operator) -> Receipt;
        force(&'static str, Mode, Option<u64>, &'static Operator) -> Receipt;
        reset(&'static str, &'static Operator) -> Receipt;
        forget(&'static str, &'static Operator) -> Receipt;
        prune(&'static str, u64, &'static Operator) -> bool;
    }
}

fn find<T, P, R>(
    instance: &Instance,
    store: &mut StoreContextMut<'_, T>,
    interface: &str,
    function: &str,
) -> wasmtime::Result<TypedFunc<P, R>>
where
    P: ComponentNamedList + Lower,
    R: ComponentNamedList + Lift,
{
    let (interface, function) = (format!("halfopen:breaker/{interface}@0.1.0"), function.replace('_', "-"));
    let found = instance.get_export_index(&mut *store, None, &interface);
    let found = found.and_then(|of| instance.get_export_index(&mut *store, Some(&of), &function));
    let found = found.ok_or_else(|| wasmtime::format_err!("it does not export {interface}#{function}"))?;
    instance.get_typed_func(store, found)
}

impl Exports {
    pub async fn set_default_policy<T: Send>(
        &self,
        calls: Calls,
        store: &mut StoreContextMut<'_, T>,
        policy: &str,
    ) -> Returned<String> {
        Ok(calls.call(&self.set_default_policy, store, (policy,)).await?.0)
    }

    /// Calls the function of an operation.
    pub async fn call<T: Send>(
        &self,
        calls: Calls,
        store: &mut StoreContextMut<'_, T>,
        Request { dependency, operation }: &Request,
    ) -> Returned<Answer> {
        let name = &**dependency;
        Ok(match operation {
            Operation::Acquire { caller } => {
                calls.call(&self.acquire, store, (name, &**caller)).await?.0.map(Answer::Decision)
            }
            Operation::Report { permit, report } => {
                calls.call(&self.report, store, (name, *permit, report)).await?.0.map(Answer::Receipt)
            }
            Operation::ReportTally { permit, tally } => {
                calls.call(&self.report_tally, store, (name, *permit, tally)).await?.0.map(Answer::Receipt)
            }
            Operation::Renew { permit } => {
                calls.call(&self.renew, store, (name, *permit)).await?.0.map(Answer::Receipt)
            }
            Operation::Release { permit } => {
                calls.call(&self.release, store, (name, *permit)).await?.0.map(Answer::Receipt)
            }
            Operation::Inspect => calls.call(&self.inspect, store, (name,)).await?.0.map(Answer::Inspection),
            Operation::Policy => calls.call(&self.policy, store, (name,)).await?.0.map(Answer::Policy),
            Operation::Configure { policy, operator } => {
                let arguments = (name, policy.as_deref(), operator);
                calls.call(&self.configure, store, arguments).await?.0.map(Answer::Receipt)
            }
            Operation::Force { mode, lasting, operator } => {
                let arguments = (name, *mode, *lasting, operator);
                calls.call(&self.force, store, arguments).await?.0.map(Answer::Receipt)
            }
            Operation::Reset { operator } => {
                calls.call(&self.reset, store, (name, operator)).await?.0.map(Answer::Receipt)
            }
            Operation::Forget { operator } => {
                calls.call(&self.forget, store, (name, operator)).await?.0.map(Answer::Receipt)
            }
            Operation::Prune { idle, operator } => {
                calls.call(&self.prune, store, (name, *idle, operator)).await?.0.map(Answer::Pruned)
            }
        })
    }
}
