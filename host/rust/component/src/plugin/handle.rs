//! A handle on an instance of the component in a platform's wasmtime store, and the way of an operation through it.

use std::time::Duration;

use futures_timer::Delay;
use halfopen_contract::BreakerError;
use halfopen_contract::cas::{CasLoop, Step};
use halfopen_contract::engine::{Answer, Evaluation, Input, Operation, Request};
use halfopen_contract::store::Snapshot;
use halfopen_contract::time::{Clock, Reading};
use halfopen_contract::types::Decision;
use wasmtime::{AsContextMut, StoreContextMut};

use super::context::{PluginView, Shared};
use super::pre::PluginPre;
use crate::error::InstantiateError;
use crate::events;
use crate::instance::Instance;
use crate::spawn_blocking::spawn_blocking;

/// The number of acquires that are repeated because the lease had expired when the answer arrived, at most.
const LATE_PROBES: u32 = 3;

/// The breakers of a namespace, through an instance of the component in a wasmtime store of the platform.
///
/// It belongs to the wasmtime store in which it was made; with another it panics, as all of wasmtime does.
pub struct Plugin {
    instance: Instance,
}

/// A [`Plugin`] for async calls.
pub struct AsyncPlugin {
    instance: Instance,
}

impl<T: PluginView> PluginPre<T> {
    /// Makes an instance in a wasmtime store, and sets its default policy.
    ///
    /// # Errors
    /// [`InstantiateError`].
    pub fn instantiate(&self, mut store: impl AsContextMut<Data = T>) -> Result<Plugin, InstantiateError> {
        let mut store = store.as_context_mut();
        let shared = store.data_mut().plugin().shared().clone();
        let (instance, policy) = Instance::new(&self.prepared, store, &shared.default_policy)?;
        check_default_policy(&shared, &policy)?;
        Ok(Plugin { instance })
    }

    /// Makes an instance for async calls in a wasmtime store, and sets its default policy.
    ///
    /// # Errors
    /// [`InstantiateError`].
    pub async fn instantiate_async(
        &self,
        mut store: impl AsContextMut<Data = T>,
    ) -> Result<AsyncPlugin, InstantiateError> {
        let mut store = store.as_context_mut();
        let shared = store.data_mut().plugin().shared().clone();
        let (instance, policy) = Instance::new_async(&self.prepared, store, &shared.default_policy).await?;
        check_default_policy(&shared, &policy)?;
        Ok(AsyncPlugin { instance })
    }
}

fn check_default_policy(shared: &Shared, policy: &str) -> Result<(), InstantiateError> {
    match shared.records().default_policy_fault(policy) {
        Some(fault) => Err(InstantiateError::InvalidPolicy(vec![fault])),
        None => Ok(()),
    }
}

impl Shared {
    /// The input of an evaluation; the time of the record's store goes before the platform's clock.
    fn input<'a>(&'a self, request: &'a Request, snapshot: &'a Snapshot) -> Input<'a> {
        let now = snapshot.at.unwrap_or_else(|| self.clock.now());
        Input { request, snapshot, now, entropy: &self.entropy }
    }
}

/// Whether an answer grants a lease that has expired since the request.
fn is_late(answer: &Answer, requested: Reading, clock: &dyn Clock) -> bool {
    matches!(answer, Answer::Decision(Decision::Probe(probe)) if requested.has_expired(probe.expires_in, clock))
}

/// The error of an acquire whose leases had all expired when the answer arrived.
fn too_late(request: &Request) -> BreakerError {
    BreakerError::Other(format!(
        "a probe of {:?} was granted, and its lease had expired before the answer arrived; give it a longer lease_ms",
        request.dependency
    ))
}

impl Plugin {
    /// Whether every further operation answers [`EngineError::Spent`](halfopen_contract::EngineError::Spent): drop the wasmtime store, and make another.
    pub fn is_spent(&self) -> bool {
        self.instance.is_spent()
    }

    /// Performs an operation: the typed operations of this handle in one.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn perform<T: PluginView>(
        &mut self,
        mut store: impl AsContextMut<Data = T>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        let mut store = store.as_context_mut();
        let shared = store.data_mut().plugin().shared().clone();
        if !matches!(request.operation, Operation::Acquire { .. }) {
            return self.run_cas_loop(&mut store, &shared, request);
        }
        for _ in 0..LATE_PROBES {
            let requested = Reading::now(&*shared.clock);
            let answer = self.run_cas_loop(&mut store, &shared, request)?;
            if !is_late(&answer, requested, &*shared.clock) {
                return Ok(answer);
            }
        }
        Err(too_late(request))
    }

    fn run_cas_loop<T: PluginView>(
        &mut self,
        store: &mut StoreContextMut<'_, T>,
        shared: &Shared,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        let records = shared.records();
        let mut cas_loop = CasLoop::new(request);
        let mut step = Step::Load(Duration::ZERO);
        let settled = loop {
            step = match step {
                Step::Load(pause) => {
                    std::thread::sleep(pause);
                    cas_loop.loaded(records.load(request))
                }
                Step::Evaluate(snapshot) => {
                    let evaluation = self.evaluate(store, shared, request, &snapshot);
                    cas_loop.evaluated(snapshot, evaluation)
                }
                Step::Commit(pending) => cas_loop.committed(records.commit(request, pending)),
                Step::Done(settled) => break settled,
            };
        };
        events::settled(&shared.namespace, &request.dependency, &settled);
        settled.map(|settled| settled.answer)
    }

    fn evaluate<T: PluginView>(
        &mut self,
        store: &mut StoreContextMut<'_, T>,
        shared: &Shared,
        request: &Request,
        snapshot: &Snapshot,
    ) -> Result<Evaluation, BreakerError> {
        let evaluation = self.instance.evaluate(store.as_context_mut(), &shared.input(request, snapshot))?;
        let policy = match shared.policy_check(request, &evaluation) {
            Some((request, written)) => {
                self.instance.evaluate(store.as_context_mut(), &shared.input(&request, &written))
            }
            None => Err(unchecked(request)),
        };
        shared.records().check_lease(request, &evaluation, |_| policy)?;
        Ok(evaluation)
    }
}

impl AsyncPlugin {
    /// Whether every further operation answers [`EngineError::Spent`](halfopen_contract::EngineError::Spent): drop the wasmtime store, and make another.
    pub fn is_spent(&self) -> bool {
        self.instance.is_spent()
    }

    /// Performs an operation: the typed operations of this handle in one.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub async fn perform<T: PluginView>(
        &mut self,
        mut store: impl AsContextMut<Data = T>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        let mut store = store.as_context_mut();
        let shared = store.data_mut().plugin().shared().clone();
        if !matches!(request.operation, Operation::Acquire { .. }) {
            return self.run_cas_loop(&mut store, &shared, request).await;
        }
        for _ in 0..LATE_PROBES {
            let requested = Reading::now(&*shared.clock);
            let answer = self.run_cas_loop(&mut store, &shared, request).await?;
            if !is_late(&answer, requested, &*shared.clock) {
                return Ok(answer);
            }
        }
        Err(too_late(request))
    }

    async fn run_cas_loop<T: PluginView>(
        &mut self,
        store: &mut StoreContextMut<'_, T>,
        shared: &std::sync::Arc<Shared>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        let mut cas_loop = CasLoop::new(request);
        let mut step = Step::Load(Duration::ZERO);
        let settled = loop {
            let (records, sent) = (shared.clone(), request.clone());
            step = match step {
                Step::Load(pause) => {
                    if !pause.is_zero() {
                        Delay::new(pause).await;
                    }
                    cas_loop.loaded(spawn_blocking(move || records.records().load(&sent)).await)
                }
                Step::Evaluate(snapshot) => {
                    let evaluation = self.evaluate(store, shared, request, &snapshot).await;
                    cas_loop.evaluated(snapshot, evaluation)
                }
                Step::Commit(pending) => {
                    cas_loop.committed(spawn_blocking(move || records.records().commit(&sent, pending)).await)
                }
                Step::Done(settled) => break settled,
            };
        };
        events::settled(&shared.namespace, &request.dependency, &settled);
        settled.map(|settled| settled.answer)
    }

    async fn evaluate<T: PluginView>(
        &mut self,
        store: &mut StoreContextMut<'_, T>,
        shared: &Shared,
        request: &Request,
        snapshot: &Snapshot,
    ) -> Result<Evaluation, BreakerError> {
        let input = shared.input(request, snapshot);
        let evaluation = self.instance.evaluate_async(store.as_context_mut(), &input).await?;
        let policy = match shared.policy_check(request, &evaluation) {
            Some((request, written)) => {
                let input = shared.input(&request, &written);
                self.instance.evaluate_async(store.as_context_mut(), &input).await
            }
            None => Err(unchecked(request)),
        };
        shared.records().check_lease(request, &evaluation, |_| policy)?;
        Ok(evaluation)
    }
}

/// The answer where the skew of the store's clocks has become known between two reads of it: the caller may try again.
fn unchecked(request: &Request) -> BreakerError {
    BreakerError::Contended { dependency: request.dependency.to_string() }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("is_spent", &self.is_spent()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for AsyncPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncPlugin").field("is_spent", &self.is_spent()).finish_non_exhaustive()
    }
}
