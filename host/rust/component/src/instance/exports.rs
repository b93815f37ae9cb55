//! The functions that the component exports, as typed functions of wasmtime: the same for plain and for async calls.

use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::{Decision, Error, Mode, Operator, Permit, PolicyInForce, Receipt, Report, Tally};
use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentNamedList, Instance, Lift, Lower, TypedFunc};

use crate::calls::Calls;

/// wasmtime's typed functions are covariant in their arguments: a function of `&'static str` takes any `&str`.
type Function<Arguments, Answer> = TypedFunc<Arguments, (Result<Answer, Error>,)>;

/// Each function with the types of its arguments and of its answer, and for which operation it is called with what.
macro_rules! exports {
    ($dependency:ident: $($interface:ident {
        $($function:ident($($of:ty),*) -> $answer:ident($typed:ty): $operation:pat => ($($argument:expr),*);)*
    })*) => {
        /// The functions of an instance.
        pub(super) struct Exports {
            pub set_default_policy: Function<(&'static str,), String>,
            $($($function: Function<(&'static str, $($of,)*), $typed>,)*)*
        }

        impl Exports {
            /// Finds the functions of an instance.
            pub fn of<T>(instance: &Instance, store: &mut StoreContextMut<'_, T>) -> wasmtime::Result<Exports> {
                Ok(Exports {
                    set_default_policy: find(instance, store, "setup", "set_default_policy")?,
                    $($($function: find(instance, store, stringify!($interface), stringify!($function))?,)*)*
                })
            }

            /// Calls the function of an operation. Returns the error of the component, or that of wasmtime.
            pub async fn call<T: Send>(
                &self,
                calls: Calls,
                store: &mut StoreContextMut<'_, T>,
                Request { dependency, operation }: &Request,
            ) -> wasmtime::Result<Result<Answer, Error>> {
                let $dependency = &**dependency;
                Ok(match operation {$($(
                    $operation => {
                        let arguments = ($dependency, $($argument,)*);
                        calls.call(&self.$function, store, arguments).await?.0.map(Answer::$answer)
                    }
                )*)*})
            }
        }
    };
}

exports! { dependency:
    breaker {
        acquire(&'static str) -> Decision(Decision): Operation::Acquire { caller } => (&**caller);
        report(Permit, &'static Report) -> Receipt(Receipt): Operation::Report { permit, report } => (*permit, report);
        report_tally(Permit, &'static Tally) -> Receipt(Receipt):
            Operation::ReportTally { permit, tally } => (*permit, tally);
        renew(Permit) -> Receipt(Receipt): Operation::Renew { permit } => (*permit);
        release(Permit) -> Receipt(Receipt): Operation::Release { permit } => (*permit);
    }
    control {
        inspect() -> Inspection(String): Operation::Inspect => ();
        policy() -> Policy(PolicyInForce): Operation::Policy => ();
        configure(Option<&'static str>, &'static Operator) -> Receipt(Receipt):
            Operation::Configure { policy, operator } => (policy.as_deref(), operator);
        force(Mode, Option<u64>, &'static Operator) -> Receipt(Receipt):
            Operation::Force { mode, lasting, operator } => (*mode, *lasting, operator);
        reset(&'static Operator) -> Receipt(Receipt): Operation::Reset { operator } => (operator);
        forget(&'static Operator) -> Receipt(Receipt): Operation::Forget { operator } => (operator);
        prune(u64, &'static Operator) -> Pruned(bool): Operation::Prune { idle, operator } => (*idle, operator);
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
