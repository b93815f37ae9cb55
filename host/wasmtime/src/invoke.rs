//! Calls the exported function that an operation speaks of.

use crate::bindings;
use crate::op::{Answer, Call, Op};
use crate::wire;
use wasmtime::AsContextMut;

/// What an exported function came to: its answer or its error, or how the call failed.
pub(crate) type Invoked = wasmtime::Result<Result<Answer, wire::Error>>;

macro_rules! invoke {
    ($exports:expr, $store:expr, $op:expr $(, $await:tt)?) => {{
        let (mut store, name) = ($store, &*$op.dependency);
        let store = &mut store;
        let breaker = $exports.halfopen_breaker_breaker();
        let control = $exports.halfopen_breaker_control();
        Ok(match &$op.call {
            Call::Acquire { caller } => breaker.call_acquire(store, name, caller)$(.$await)??.map(Answer::Decision),
            Call::Report { permit, outcome, took } => {
                breaker.call_report(store, name, *permit, *outcome, *took)$(.$await)??.map(Answer::Receipt)
            }
            Call::ReportTally { permit, tally } => {
                breaker.call_report_tally(store, name, *permit, *tally)$(.$await)??.map(Answer::Receipt)
            }
            Call::Renew { permit } => breaker.call_renew(store, name, *permit)$(.$await)??.map(Answer::Receipt),
            Call::Release { permit } => breaker.call_release(store, name, *permit)$(.$await)??.map(Answer::Receipt),
            Call::Inspect => control.call_inspect(store, name)$(.$await)??.map(Answer::Inspection),
            Call::Policy => control.call_policy(store, name)$(.$await)??.map(Answer::Policy),
            Call::Configure { policy } => {
                control.call_configure(store, name, **policy)$(.$await)??.map(Answer::Receipt)
            }
            Call::Force { mode, lasting, note } => {
                control.call_force(store, name, *mode, *lasting, note)$(.$await)??.map(Answer::Receipt)
            }
            Call::Reset => control.call_reset(store, name)$(.$await)??.map(Answer::Receipt),
            Call::Forget => control.call_forget(store, name)$(.$await)??.map(Answer::Receipt),
            Call::Prune { idle } => control.call_prune(store, name, *idle)$(.$await)??.map(Answer::Pruned),
        })
    }};
}

pub(crate) fn invoke(exports: &bindings::Component, store: impl AsContextMut, op: &Op) -> Invoked {
    invoke!(exports, store, op)
}

#[cfg(feature = "plugin")]
pub(crate) async fn invoke_async<T: Send + 'static>(
    exports: &bindings::in_async::Component,
    store: impl AsContextMut<Data = T>,
    op: &Op,
) -> Invoked {
    invoke!(exports, store, op, await)
}
