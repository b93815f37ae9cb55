//! A handle on an instance of the component in a platform's wasmtime store, and the way of an operation through it.

use std::sync::Arc;
use std::time::Duration;

use halfopen_contract::cas::{CasLoop, Step};
use halfopen_contract::engine::{Answer, Evaluation, Input, Request};
use halfopen_contract::store::Snapshot;
use halfopen_contract::time::Reading;
use halfopen_contract::types::Decision;
use halfopen_contract::{BreakerError, events};
use wasmtime::{AsContextMut, StoreContextMut};

use super::context::{PluginView, Shared};
use super::pre::PluginPre;
use crate::calls::{Calls, plain};
use crate::error::InstantiateError;
use crate::instance::Instance;

/// The number of acquires that are repeated because the lease had expired when the answer arrived, at most.
const LATE_PROBES: u32 = 3;

/// The breakers of a namespace, through an instance of the component in a wasmtime store of the platform.
///
/// It belongs to the wasmtime store in which it was made; with another it panics, as all of wasmtime does.
pub struct Plugin {
    instance: Instance,
}

impl<T: PluginView> PluginPre<T> {
    /// Makes an instance in a wasmtime store, and sets its default policy.
    ///
    /// # Errors
    /// [`InstantiateError`].
    pub fn instantiate(&self, mut store: impl AsContextMut<Data = T>) -> Result<Plugin, InstantiateError> {
        plain(Plugin::new(Calls::Plain, self, store.as_context_mut()))
    }

    /// [`instantiate`](PluginPre::instantiate) for async calls.
    ///
    /// # Errors
    /// [`InstantiateError`].
    pub async fn instantiate_async(&self, mut store: impl AsContextMut<Data = T>) -> Result<Plugin, InstantiateError> {
        Plugin::new(Calls::Async, self, store.as_context_mut()).await
    }
}

impl Plugin {
    /// Performs an operation: the typed operations of this handle in one.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn perform<T: PluginView>(
        &mut self,
        mut store: impl AsContextMut<Data = T>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        plain(self.run(Calls::Plain, store.as_context_mut(), request))
    }

    /// [`perform`](Plugin::perform) for async calls.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub async fn perform_async<T: PluginView>(
        &mut self,
        mut store: impl AsContextMut<Data = T>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        self.run(Calls::Async, store.as_context_mut(), request).await
    }

    /// Whether every further operation answers [`EngineError::Spent`](halfopen_contract::EngineError::Spent): drop the
    /// wasmtime store, and make another.
    pub fn is_spent(&self) -> bool {
        self.instance.is_spent
    }

    pub(super) async fn new<T: PluginView>(
        calls: Calls,
        pre: &PluginPre<T>,
        mut store: StoreContextMut<'_, T>,
    ) -> Result<Plugin, InstantiateError> {
        let shared = store.data_mut().plugin().shared.clone();
        let (instance, policy) = Instance::new(calls, &pre.pre, &mut store, &shared.default_policy).await?;
        match shared.records.default_policy_fault(&policy) {
            Some(fault) => Err(InstantiateError::InvalidPolicy(vec![fault])),
            None => Ok(Plugin { instance }),
        }
    }

    /// Performs an operation. A probe whose lease has expired when the answer arrives is lost, and asked for again.
    pub(super) async fn run<T: PluginView>(
        &mut self,
        calls: Calls,
        mut store: StoreContextMut<'_, T>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        let shared = store.data_mut().plugin().shared.clone();
        for _ in 0..LATE_PROBES {
            let requested = Reading::now(&*shared.clock);
            match self.run_cas_loop(calls, &mut store, &shared, request).await? {
                Answer::Decision(Decision::Probe(probe)) if requested.has_expired(probe.expires_in, &*shared.clock) => {
                }
                answer => return Ok(answer),
            }
        }
        Err(BreakerError::Other(format!(
            "a probe of {:?} was granted, and its lease had expired before the answer arrived; give it a longer lease_ms",
            request.dependency
        )))
    }

    async fn run_cas_loop<T: PluginView>(
        &mut self,
        calls: Calls,
        store: &mut StoreContextMut<'_, T>,
        shared: &Arc<Shared>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        let mut cas_loop = CasLoop::new(request);
        let mut step = Step::Load(Duration::ZERO);
        let settled = loop {
            step = match step {
                Step::Load(pause) => {
                    calls.sleep(pause).await;
                    let (shared, request) = (shared.clone(), request.clone());
                    cas_loop.loaded(calls.block(move || shared.records.load(&request)).await)
                }
                Step::Evaluate(snapshot) => {
                    let evaluation = self.evaluate(calls, store, shared, request, &snapshot).await;
                    cas_loop.evaluated(snapshot, evaluation)
                }
                Step::Commit(pending) => {
                    let (shared, request) = (shared.clone(), request.clone());
                    cas_loop.committed(calls.block(move || shared.records.commit(&request, pending)).await)
                }
                Step::Done(settled) => break settled,
            };
        };
        events::settled(&shared.records.namespace, &request.dependency, &settled);
        settled.map(|settled| settled.answer)
    }

    async fn evaluate<T: PluginView>(
        &mut self,
        calls: Calls,
        store: &mut StoreContextMut<'_, T>,
        shared: &Shared,
        request: &Request,
        snapshot: &Snapshot,
    ) -> Result<Evaluation, BreakerError> {
        // The clock of the records' store goes before the platform's.
        let now = snapshot.at.unwrap_or_else(|| shared.clock.now());
        let input = Input { request, snapshot, now, entropy: &shared.entropy };
        let evaluation = self.instance.evaluate(calls, store, &input).await?;
        let policy = match shared.records.policy_check(request, &evaluation) {
            Some((request, snapshot)) => {
                let input = Input { request: &request, snapshot: &snapshot, ..input };
                Some(self.instance.evaluate(calls, store, &input).await?.answer)
            }
            None => None,
        };
        shared.records.check_lease(&evaluation.answer, policy.as_ref())?;
        Ok(evaluation)
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("is_spent", &self.is_spent()).finish_non_exhaustive()
    }
}
