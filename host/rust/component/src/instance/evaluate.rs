use halfopen_contract::engine::{Answer, Evaluation, Input};
use halfopen_contract::types::Error;
use halfopen_contract::{BreakerError, EngineError};
use wasmtime::{StoreContextMut, Trap};

use super::exports::{Exports, Returned};
use super::imports::ImportsView;
use super::prepared::Prepared;
use crate::error::InstantiateError;

/// An instance. It belongs to the wasmtime store in which it was made.
pub(crate) struct Instance {
    /// Boxed: an instance moves into and out of a pool at each operation.
    exports: Box<Exports>,
    is_spent: bool,
}

impl Instance {
    /// Makes an instance, and sets its default policy; returns that with all its keys.
    pub fn new<T: ImportsView>(
        prepared: &Prepared<T>,
        mut store: StoreContextMut<'_, T>,
        default_policy: &str,
    ) -> Result<(Instance, String), InstantiateError> {
        let instance = prepared.instance_pre.instantiate(&mut store).map_err(not_made)?;
        let exports = prepared.exports.load(&mut store, &instance).map_err(not_made)?;
        let default_policy = set(exports.set_default_policy(&mut store, default_policy))?;
        Ok((Instance::with(exports), default_policy))
    }

    /// The same in async code.
    pub async fn new_async<T: ImportsView>(
        prepared: &Prepared<T>,
        mut store: StoreContextMut<'_, T>,
        default_policy: &str,
    ) -> Result<(Instance, String), InstantiateError> {
        let instance = prepared.instance_pre.instantiate_async(&mut store).await.map_err(not_made)?;
        let exports = prepared.exports.load(&mut store, &instance).map_err(not_made)?;
        let default_policy = set(exports.set_default_policy_async(&mut store, default_policy).await)?;
        Ok((Instance::with(exports), default_policy))
    }

    fn with(exports: Exports) -> Instance {
        Instance { exports: Box::new(exports), is_spent: false }
    }

    /// Whether it cannot be entered any more: it has failed, or was left in the middle of a call.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Evaluates an operation. Nothing of it reaches a store of records.
    pub fn evaluate<T: ImportsView>(
        &mut self,
        mut store: StoreContextMut<'_, T>,
        input: &Input<'_>,
    ) -> Result<Evaluation, BreakerError> {
        self.begin(&mut store, input)?;
        let returned = self.exports.call(&mut store, input.request);
        self.end(&mut store, input, returned)
    }

    /// The same in async code.
    pub async fn evaluate_async<T: ImportsView>(
        &mut self,
        mut store: StoreContextMut<'_, T>,
        input: &Input<'_>,
    ) -> Result<Evaluation, BreakerError> {
        self.begin(&mut store, input)?;
        let returned = self.exports.call_async(&mut store, input.request).await;
        self.end(&mut store, input, returned)
    }

    /// The instance counts as spent until the call has ended: one that is left in the middle stays so.
    fn begin<T: ImportsView>(
        &mut self,
        store: &mut StoreContextMut<'_, T>,
        input: &Input<'_>,
    ) -> Result<(), EngineError> {
        if std::mem::replace(&mut self.is_spent, true) {
            return Err(EngineError::Spent);
        }
        store.data_mut().imports().begin(input);
        Ok(())
    }

    fn end<T: ImportsView>(
        &mut self,
        store: &mut StoreContextMut<'_, T>,
        input: &Input<'_>,
        returned: Returned<Answer>,
    ) -> Result<Evaluation, BreakerError> {
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

fn set(returned: Returned<String>) -> Result<String, InstantiateError> {
    match returned {
        Ok(Ok(policy)) => Ok(policy),
        Ok(Err(Error::InvalidPolicy(faults))) => Err(InstantiateError::InvalidPolicy(faults)),
        Ok(Err(error)) => Err(InstantiateError::Setup(EngineError::Broken {
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
