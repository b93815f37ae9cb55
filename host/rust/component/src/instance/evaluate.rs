use halfopen_contract::engine::{Evaluation, Input};
use halfopen_contract::types::Error;
use halfopen_contract::{BreakerError, EngineError};
use wasmtime::component::InstancePre;
use wasmtime::{StoreContextMut, Trap};

use super::exports::Exports;
use super::imports::ImportsView;
use crate::calls::Calls;
use crate::error::InstantiateError;

/// An instance. It belongs to the wasmtime store in which it was made.
pub(crate) struct Instance {
    /// Boxed: an instance moves into and out of a pool at each operation.
    exports: Box<Exports>,
    /// Whether it cannot be entered any more: it has failed, or was left in the middle of a call.
    pub is_spent: bool,
}

impl Instance {
    /// Makes an instance, and sets its default policy; returns that with all its keys.
    pub async fn new<T: ImportsView>(
        calls: Calls,
        pre: &InstancePre<T>,
        store: &mut StoreContextMut<'_, T>,
        default_policy: &str,
    ) -> Result<(Instance, String), InstantiateError> {
        let instance = calls.instantiate(pre, store).await.map_err(not_made)?;
        let exports = Box::new(Exports::of(&instance, store).map_err(not_made)?);
        let default_policy = set(calls.call(&exports.set_default_policy, store, (default_policy,)).await)?;
        Ok((Instance { exports, is_spent: false }, default_policy))
    }

    /// Evaluates an operation. Nothing of it reaches a store of records.
    pub async fn evaluate<T: ImportsView>(
        &mut self,
        calls: Calls,
        store: &mut StoreContextMut<'_, T>,
        input: &Input<'_>,
    ) -> Result<Evaluation, BreakerError> {
        // Until the call has ended: an instance that is left in the middle of one stays spent.
        if std::mem::replace(&mut self.is_spent, true) {
            return Err(EngineError::Spent.into());
        }
        store.data_mut().imports().begin(input);
        let returned = self.exports.call(calls, store, input.request).await;
        let write = store.data_mut().imports().end();
        let result = returned.map_err(|error| engine_error(&error))?;
        self.is_spent = false;
        match result {
            Ok(answer) => Ok(Evaluation { answer, write }),
            // Whatever it committed before is dropped.
            Err(error) => Err(BreakerError::refused(&input.request.dependency, error)),
        }
    }
}

fn not_made(error: wasmtime::Error) -> InstantiateError {
    match engine_error(&error) {
        EngineError::Broken { why } => InstantiateError::Store { why },
        error => InstantiateError::Setup(error),
    }
}

fn set(returned: wasmtime::Result<(Result<String, Error>,)>) -> Result<String, InstantiateError> {
    match returned {
        Ok((Ok(policy),)) => Ok(policy),
        Ok((Err(Error::InvalidPolicy(faults)),)) => Err(InstantiateError::InvalidPolicy(faults)),
        Ok((Err(error),)) => Err(InstantiateError::Setup(EngineError::Broken {
            why: format!("it refused the default policy with {error:?}"),
        })),
        Err(error) => Err(InstantiateError::Setup(engine_error(&error))),
    }
}

fn engine_error(error: &wasmtime::Error) -> EngineError {
    match error.downcast_ref::<Trap>() {
        Some(trap @ (Trap::Interrupt | Trap::OutOfFuel)) => EngineError::Stopped { why: trap.to_string() },
        Some(Trap::CannotEnterComponent) => EngineError::Spent,
        Some(trap) => EngineError::Trapped { why: trap.to_string() },
        None => EngineError::Broken { why: format!("{error:#}") },
    }
}
