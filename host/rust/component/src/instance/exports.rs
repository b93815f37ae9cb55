//! The functions that the component exports, as typed functions of wasmtime: the same for plain and for async calls.

use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::{Decision, Error, Mode, Operator, Permit, PolicyInForce, Receipt, Report, Tally};
use wasmtime::AsContextMut;
use wasmtime::component::{Component as Code, ComponentExportIndex, Instance, TypedFunc};

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

        /// The places of the functions in the component.
        #[derive(Clone)]
        pub(super) struct ExportIndices {
            $($($function: ComponentExportIndex,)*)*
        }

        impl ExportIndices {
            /// Finds the functions; an error names the first that is missing.
            pub fn of(code: &Code) -> Result<ExportIndices, String> {
                Ok(ExportIndices {
                    $($($function: find(code, stringify!($interface), stringify!($function))?,)*)*
                })
            }

            /// Returns the functions of an instance.
            pub fn load(&self, mut store: impl AsContextMut, instance: &Instance) -> wasmtime::Result<Exports> {
                Ok(Exports {
                    $($($function: instance.get_typed_func(&mut store, &self.$function)?,)*)*
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

fn find(code: &Code, interface: &str, function: &str) -> Result<ComponentExportIndex, String> {
    let (interface, function) = (format!("halfopen:breaker/{interface}@0.1.0"), function.replace('_', "-"));
    let found =
        code.get_export_index(None, &interface).and_then(|instance| code.get_export_index(Some(&instance), &function));
    found.ok_or_else(|| format!("it does not export {interface}#{function}"))
}

/// Calls the function of an operation, plain or async.
macro_rules! call {
    ($exports:expr, $store:expr, $request:expr, $call:ident $(, $await:tt)?) => {{
        let (exports, mut store, dependency) = ($exports, $store, &*$request.dependency);
        let store = &mut store;
        Ok(match &$request.operation {
            Operation::Acquire { caller } => {
                exports.acquire.$call(store, (dependency, &**caller))$(.$await)? ?.0.map(Answer::Decision)
            }
            Operation::Report { permit, report } => {
                exports.report.$call(store, (dependency, *permit, report))$(.$await)? ?.0.map(Answer::Receipt)
            }
            Operation::ReportTally { permit, tally } => {
                exports.report_tally.$call(store, (dependency, *permit, tally))$(.$await)? ?.0.map(Answer::Receipt)
            }
            Operation::Renew { permit } => {
                exports.renew.$call(store, (dependency, *permit))$(.$await)? ?.0.map(Answer::Receipt)
            }
            Operation::Release { permit } => {
                exports.release.$call(store, (dependency, *permit))$(.$await)? ?.0.map(Answer::Receipt)
            }
            Operation::Inspect => exports.inspect.$call(store, (dependency,))$(.$await)? ?.0.map(Answer::Inspection),
            Operation::Policy => exports.policy.$call(store, (dependency,))$(.$await)? ?.0.map(Answer::Policy),
            Operation::Configure { policy, operator } => {
                let arguments = (dependency, policy.as_deref(), operator);
                exports.configure.$call(store, arguments)$(.$await)? ?.0.map(Answer::Receipt)
            }
            Operation::Force { mode, lasting, operator } => {
                let arguments = (dependency, *mode, *lasting, operator);
                exports.force.$call(store, arguments)$(.$await)? ?.0.map(Answer::Receipt)
            }
            Operation::Reset { operator } => {
                exports.reset.$call(store, (dependency, operator))$(.$await)? ?.0.map(Answer::Receipt)
            }
            Operation::Forget { operator } => {
                exports.forget.$call(store, (dependency, operator))$(.$await)? ?.0.map(Answer::Receipt)
            }
            Operation::Prune { idle, operator } => {
                exports.prune.$call(store, (dependency, *idle, operator))$(.$await)? ?.0.map(Answer::Pruned)
            }
        })
    }};
}

impl Exports {
    pub fn call(&self, store: impl AsContextMut, request: &Request) -> Returned<Answer> {
        call!(self, store, request, call)
    }

    pub async fn call_async(&self, store: impl AsContextMut<Data: Send>, request: &Request) -> Returned<Answer> {
        call!(self, store, request, call_async, await)
    }

    pub fn set_default_policy(&self, store: impl AsContextMut, policy: &str) -> Returned<String> {
        Ok(self.set_default_policy.call(store, (policy,))?.0)
    }

    pub async fn set_default_policy_async(
        &self,
        store: impl AsContextMut<Data: Send>,
        policy: &str,
    ) -> Returned<String> {
        Ok(self.set_default_policy.call_async(store, (policy,)).await?.0)
    }
}
