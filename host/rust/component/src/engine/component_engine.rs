use std::sync::Arc;

use halfopen_contract::documents::Policy;
use halfopen_contract::engine::{Engine, Evaluation, Input};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::pool::Pool;
use halfopen_contract::time::SystemClock;
use halfopen_contract::types::PolicyFault;
use halfopen_contract::{BreakerError, EngineError, list_faults};
use wasmtime::component::{InstancePre, Linker};
use wasmtime::{AsContextMut, Store};

use super::limits::{LimitedStore, Limits, fd_limit_reached};
use crate::calls::{Calls, plain};
use crate::component::{Component, world};
use crate::error::{ComponentError, InstantiateError};
use crate::instance::{Imports, Instance, link};
use crate::runtime::{Running, engine, pool_size, ticks};

/// The component as an engine of hosts. It keeps a pool of instances; one evaluates one operation at a time.
///
/// An instance that has trapped, or that has reached a [limit](Limits), is discarded with its wasmtime store.
pub struct ComponentEngine {
    pre: InstancePre<LimitedStore>,
    limits: Limits,
    /// JSON; with all its keys once the first instance is made.
    default_policy: String,
    entropy: Arc<Entropy>,
    pool: Pool<PooledInstance>,
}

/// An instance and the wasmtime store that it lives in.
struct PooledInstance {
    store: Store<LimitedStore>,
    instance: Instance,
}

/// Why there is no engine.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ComponentEngineError {
    /// The component cannot be used.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The default policy has faults: all of them.
    #[error("the default policy is invalid: {}", list_faults(.0))]
    InvalidPolicy(Vec<PolicyFault>),
    /// The component failed while it was set up.
    #[error("the component could not be set up: {0}")]
    Engine(#[from] EngineError),
}

impl ComponentEngine {
    /// Compiles the component, unless an earlier process has, and makes the first instance. `default_policy` is the policy of
    /// every dependency without one of its own.
    ///
    /// # Errors
    /// [`ComponentEngineError`].
    pub fn new(
        component: &Component,
        limits: Limits,
        default_policy: &Policy,
    ) -> Result<ComponentEngine, ComponentEngineError> {
        let code = component.code()?;
        let mut linker = Linker::new(engine()?);
        world::check(component.place(), &code)?;
        let pre = link(&mut linker, Calls::Plain).and_then(|()| linker.instantiate_pre(&code));
        let pre = pre.map_err(|error| world::other_world(component.place(), format!("{error:#}")))?;
        let mut engine = ComponentEngine {
            pre,
            limits,
            default_policy: default_policy.to_string(),
            entropy: Arc::new(Entropy::new(None)),
            pool: Pool::new(pool_size()).limited(),
        };
        let (first, default_policy) = engine.instantiate()?;
        engine.pool.acquire().put_back(first);
        engine.default_policy = default_policy;
        Ok(engine)
    }

    fn instantiate(&self) -> Result<(PooledInstance, String), ComponentEngineError> {
        let imports = Imports::new(Arc::new(SystemClock), self.entropy.clone(), self.limits.memory, None);
        let mut store = Store::new(self.pre.engine(), LimitedStore::new(imports, self.limits));
        store.limiter(|data| data);
        // The bytes that it passes to the host at once are bounded like its memory: pointers can overlap.
        store.set_hostcall_fuel(self.limits.memory);
        store.set_epoch_deadline(ticks(self.limits.call));
        let running = Running::begin();
        let made = plain(Instance::new(Calls::Plain, &self.pre, &mut store.as_context_mut(), &self.default_policy));
        drop(running);
        match made {
            Ok((instance, default_policy)) => Ok((PooledInstance { store, instance }, default_policy)),
            Err(InstantiateError::InvalidPolicy(faults)) => Err(ComponentEngineError::InvalidPolicy(faults)),
            Err(InstantiateError::Setup(error)) => Err(store.data().explain(error).into()),
            Err(InstantiateError::Store { why }) => Err(match fd_limit_reached() {
                Some(why) => EngineError::Exhausted { why: why.to_owned() },
                None => store.data().explain(EngineError::Broken { why }),
            }
            .into()),
        }
    }
}

impl Engine for ComponentEngine {
    fn evaluate(&self, input: &Input<'_>) -> Result<Evaluation, BreakerError> {
        let mut slot = self.pool.acquire();
        let mut pooled = match slot.take() {
            Some(pooled) => pooled,
            None => self.instantiate().map(|(pooled, _)| pooled).map_err(|error| match error {
                ComponentEngineError::Engine(error) => error,
                other => EngineError::Broken { why: format!("a further instance could not be made: {other}") },
            })?,
        };
        pooled.store.data_mut().begin();
        pooled.store.set_epoch_deadline(ticks(self.limits.call));
        let running = Running::begin();
        let result = plain(pooled.instance.evaluate(Calls::Plain, &mut pooled.store.as_context_mut(), input));
        drop(running);
        if let Err(BreakerError::Engine(error)) = result {
            return Err(pooled.store.data().explain(error).into());
        }
        slot.put_back(pooled);
        result
    }

    fn default_policy(&self) -> &str {
        &self.default_policy
    }
}

impl std::fmt::Debug for ComponentEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ComponentEngine").field("limits", &self.limits).finish_non_exhaustive()
    }
}
