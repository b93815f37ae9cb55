//! The operations, once for each way to reach an instance.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::AsContextMut;

use super::{AsyncPlugin, AsyncPluginPool, Decision, Plugin, PluginPool, PluginView, PoolError};
use crate::breaker::{millis, mismatch};
use crate::error::BreakerError;
use crate::op::{Answer, Call, Op};
use crate::wire::{Inspection, Mode, Outcome, Permit, Policy, PolicyInForce, Receipt, Tally};

fn op(dependency: &str, call: Call) -> Op {
    Op { dependency: Arc::from(dependency), call }
}

/// Hands all operations to a macro: what is asked, what comes back, and how both are said.
macro_rules! operations {
    ($with:ident) => {
        $with! {
            /// Asks whether a call may be made. `caller`: who holds a lease that is granted, up to 64 bytes.
            ///
            /// A probe whose lease ends (`expires_in`, counted from before this was called) before its answer arrives is to be
            /// treated as lost.
            acquire(caller: &str) -> Decision, Decision: Call::Acquire { caller: caller.into() };
            /// Reports the outcome of a call, and how long it took where that is known. A report with a lease may be repeated:
            /// it counts once. A report without one must not be repeated once it may have reached the store.
            report(permit: Permit, outcome: Outcome, took: Option<Duration>) -> Receipt,
                Receipt: Call::Report { permit, outcome, took: took.map(millis) };
            /// Reports the outcomes of many closed-state calls at once. They are judged once, after all of them are counted.
            report_tally(permit: Permit, tally: Tally) -> Receipt, Receipt: Call::ReportTally { permit, tally };
            /// Lets a live lease start anew, now, never to end later than `probe_max_ms` after its grant. Whoever runs a probe
            /// for its user renews at a third of the lease.
            renew(permit: Permit) -> Receipt, Receipt: Call::Renew { permit };
            /// Gives a permit back unused; the same as reporting [`Outcome::Ignored`].
            release(permit: Permit) -> Receipt, Receipt: Call::Release { permit };
            /// Shows a dependency. It changes nothing and takes no lease.
            inspect() -> Inspection, Inspection: Call::Inspect;
            /// The policy that a dependency goes by, and whose it is.
            policy() -> PolicyInForce, Policy: Call::Policy;
            /// Gives a dependency a policy of its own. The state is kept.
            configure(policy: &Policy) -> Receipt, Receipt: Call::Configure { policy: Box::new(*policy) };
            /// Forces a state, or takes that back. With `lasting` it ends by itself so long after it was set. The note is up to
            /// 100 bytes and is shown by `inspect`.
            force(mode: Mode, lasting: Option<Duration>, note: &str) -> Receipt,
                Receipt: Call::Force { mode, lasting: lasting.map(millis), note: note.into() };
            /// Closes the breaker and lets it forget what was; the policy stays. Also mends a damaged record.
            reset() -> Receipt, Receipt: Call::Reset;
            /// Removes the record, its history and its policy. Permits that are out stay stale. Also removes a damaged record.
            forget() -> Receipt, Receipt: Call::Forget;
            /// Removes the record if nobody needs it, and says whether it did: only while it is closed, with nothing forced
            /// and no policy of its own, and only if nothing was written to it for so long.
            prune(idle: Duration) -> bool, Pruned: Call::Prune { idle: millis(idle) };
        }
    };
}

macro_rules! on_instances {
    ($($(#[$docs:meta])* $name:ident($($arg:ident: $of:ty),*) -> $answer:ty, $kind:ident: $call:expr;)*) => {
        impl Plugin {$(
            $(#[$docs])*
            ///
            /// # Errors
            /// [`BreakerError`].
            pub fn $name<T: PluginView>(
                &mut self,
                mut store: impl AsContextMut<Data = T>,
                dependency: &str,
                $($arg: $of),*
            ) -> Result<$answer, BreakerError> {
                match self.perform(store.as_context_mut(), &op(dependency, $call))? {
                    Answer::$kind(answer) => Ok(answer),
                    other => Err(mismatch(&other)),
                }
            }
        )*}

        impl AsyncPlugin {$(
            $(#[$docs])*
            ///
            /// # Errors
            /// [`BreakerError`].
            pub async fn $name<T: PluginView>(
                &mut self,
                mut store: impl AsContextMut<Data = T>,
                dependency: &str,
                $($arg: $of),*
            ) -> Result<$answer, BreakerError> {
                match self.perform(store.as_context_mut(), &op(dependency, $call)).await? {
                    Answer::$kind(answer) => Ok(answer),
                    other => Err(mismatch(&other)),
                }
            }
        )*}
    };
}

macro_rules! on_pools {
    ($($(#[$docs:meta])* $name:ident($($arg:ident: $of:ty),*) -> $answer:ty, $kind:ident: $call:expr;)*) => {
        impl<T: PluginView> PluginPool<T> {$(
            $(#[$docs])*
            ///
            /// # Errors
            /// [`PoolError`].
            pub fn $name(&self, dependency: &str, $($arg: $of),*) -> Result<$answer, PoolError> {
                match self.perform(&op(dependency, $call))? {
                    Answer::$kind(answer) => Ok(answer),
                    other => Err(mismatch(&other).into()),
                }
            }
        )*}

        impl<T: PluginView> AsyncPluginPool<T> {$(
            $(#[$docs])*
            ///
            /// # Errors
            /// [`PoolError`].
            pub async fn $name(&self, dependency: &str, $($arg: $of),*) -> Result<$answer, PoolError> {
                match self.perform(&op(dependency, $call)).await? {
                    Answer::$kind(answer) => Ok(answer),
                    other => Err(mismatch(&other).into()),
                }
            }
        )*}
    };
}

operations!(on_instances);
operations!(on_pools);
