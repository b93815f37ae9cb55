//! The typed operations of the handles and the pools: thin functions around their `perform`.

use std::time::Duration;

use halfopen_contract::documents::{EffectivePolicy, Inspection, Policy};
use halfopen_contract::engine::{Answer, Operation, Request};
use halfopen_contract::types::{Decision, Mode, Operator, Permit, Receipt, Report, Tally, millis};
use halfopen_contract::{BreakerError, EngineError};
use wasmtime::AsContextMut;

use super::context::PluginView;
use super::handle::Plugin;
use super::pool::{PluginPool, PoolError};

/// A typed answer. A component that answers with another kind, or with a text that is not the document, breaks the
/// contract.
trait TypedAnswer: Sized {
    fn of(answer: Answer) -> Result<Self, EngineError>;
}

macro_rules! typed_answers {
    ($($answer:ty: $kind:ident($value:ident) => $typed:expr;)*) => {$(
        impl TypedAnswer for $answer {
            fn of(answer: Answer) -> Result<Self, EngineError> {
                match answer {
                    Answer::$kind($value) => $typed,
                    other => Err(EngineError::Broken { why: format!("it answers with {other:?}") }),
                }
            }
        }
    )*};
}

typed_answers! {
    Decision: Decision(decision) => Ok(decision);
    Receipt: Receipt(receipt) => Ok(receipt);
    bool: Pruned(removed) => Ok(removed);
    Inspection: Inspection(json) => json.parse().map_err(broken);
    EffectivePolicy: Policy(in_force) => in_force.try_into().map_err(broken);
}

fn broken(error: halfopen_contract::documents::InvalidDocument) -> EngineError {
    EngineError::Broken { why: error.to_string() }
}

fn request(dependency: &str, operation: Operation) -> Request {
    Request { dependency: dependency.into(), operation }
}

macro_rules! typed_operations {
    ($($(#[$docs:meta])* $name:ident $name_async:ident($($arg:ident: $of:ty),*) -> $answer:ty: $operation:expr;)*) => {
        impl Plugin {$(
            $(#[$docs])*
            ///
            /// # Errors
            /// [`BreakerError`].
            pub fn $name<T: PluginView>(
                &mut self,
                store: impl AsContextMut<Data = T>,
                dependency: &str,
                $($arg: $of),*
            ) -> Result<$answer, BreakerError> {
                Ok(<$answer>::of(self.perform(store, &request(dependency, $operation))?)?)
            }

            #[doc = concat!("[`", stringify!($name), "`](Plugin::", stringify!($name), ") for async calls.")]
            ///
            /// # Errors
            /// [`BreakerError`].
            pub async fn $name_async<T: PluginView>(
                &mut self,
                store: impl AsContextMut<Data = T>,
                dependency: &str,
                $($arg: $of),*
            ) -> Result<$answer, BreakerError> {
                Ok(<$answer>::of(self.perform_async(store, &request(dependency, $operation)).await?)?)
            }
        )*}

        impl<T: PluginView> PluginPool<T> {$(
            $(#[$docs])*
            ///
            /// # Errors
            /// [`PoolError`].
            pub fn $name(&self, dependency: &str, $($arg: $of),*) -> Result<$answer, PoolError> {
                let answer = self.perform(&request(dependency, $operation))?;
                Ok(<$answer>::of(answer).map_err(BreakerError::from)?)
            }

            #[doc = concat!("[`", stringify!($name), "`](PluginPool::", stringify!($name), ") for async calls.")]
            ///
            /// # Errors
            /// [`PoolError`].
            pub async fn $name_async(&self, dependency: &str, $($arg: $of),*) -> Result<$answer, PoolError> {
                let answer = self.perform_async(&request(dependency, $operation)).await?;
                Ok(<$answer>::of(answer).map_err(BreakerError::from)?)
            }
        )*}
    };
}

typed_operations! {
    /// Decides whether a call may be made. `caller` is kept with a lease and shown by `inspect`; at most 128 bytes.
    ///
    /// A probe whose lease has expired when its answer arrives (`expires_in`, counted from before this call) is
    /// lost, and the acquire is repeated.
    acquire acquire_async(caller: &str) -> Decision: Operation::Acquire { caller: caller.into() };
    /// Reports the outcome of a call. A report with a lease may be repeated: it counts once. A report without one
    /// must not be repeated once it may have reached the store.
    report report_async(permit: Permit, report: impl Into<Report>) -> Receipt:
        Operation::Report { permit, report: report.into() };
    /// Reports the outcomes of many closed-state calls at once. They are judged once, after all of them are counted.
    report_tally report_tally_async(permit: Permit, tally: Tally) -> Receipt: Operation::ReportTally { permit, tally };
    /// Lets a live lease start anew, now, never to end later than `probe_max_ms` after its grant. A platform that
    /// runs a probe for its user renews at a third of the lease.
    renew renew_async(permit: Permit) -> Receipt: Operation::Renew { permit };
    /// Gives a permit back unused; the same as reporting `Outcome::Ignored`.
    release release_async(permit: Permit) -> Receipt: Operation::Release { permit };
    /// Shows a dependency. It changes nothing and takes no lease.
    inspect inspect_async() -> Inspection: Operation::Inspect;
    /// The policy of a dependency, and whose it is.
    policy policy_async() -> EffectivePolicy: Operation::Policy;
    /// Gives a dependency a policy of its own, or with none the default policy. The state is kept.
    configure configure_async(policy: Option<&Policy>, operator: &Operator) -> Receipt: Operation::Configure {
        policy: policy.map(|policy| policy.to_string().into()),
        operator: operator.clone(),
    };
    /// Forces a state, or takes an override back. With `lasting` it ends by itself after the given time.
    force force_async(mode: Mode, lasting: Option<Duration>, operator: &Operator) -> Receipt:
        Operation::Force { mode, lasting: lasting.map(millis), operator: operator.clone() };
    /// Closes the breaker and forgets its past; the policy stays. Also mends a damaged record.
    reset reset_async(operator: &Operator) -> Receipt: Operation::Reset { operator: operator.clone() };
    /// Removes the record, its history and its policy. Permits that are out stay stale. Also removes a damaged
    /// record.
    forget forget_async(operator: &Operator) -> Receipt: Operation::Forget { operator: operator.clone() };
    /// Removes the record if it is no longer used, and returns whether it did: only while it is closed, with
    /// nothing forced and no policy of its own, and only if nothing was written to it for the given time.
    prune prune_async(idle: Duration, operator: &Operator) -> bool:
        Operation::Prune { idle: millis(idle), operator: operator.clone() };
}
