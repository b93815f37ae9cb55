//! A handle on an instance of the component in a platform's wasmtime store, and the way of an operation through it.

use std::sync::Arc;
use std::time::Duration;

use halfopen_contract::BreakerError;
use halfopen_contract::cas::{CasLoop, Step};
use halfopen_contract::engine::{Answer, Evaluation, Input, Request};
use halfopen_contract::store::Snapshot;
use halfopen_contract::time::Reading;
use halfopen_contract::types::Decision;
use wasmtime::StoreContextMut;

use super::context::{PluginView, Shared};
use super::pre::PluginPre;
use crate::calls::Calls;
use crate::error::InstantiateError;
use crate::events;
use crate::instance::Instance;

/// The number of acquires that are repeated because the lease had expired when the answer arrived, at most.
const LATE_PROBES: u32 = 3;

/// An instance and its way to the records, for plain or for async calls.
pub(super) struct Handle {
    instance: Instance,
    calls: Calls,
}

impl Handle {
    pub async fn new<T: PluginView>(
        calls: Calls,
        pre: &PluginPre<T>,
        mut store: StoreContextMut<'_, T>,
    ) -> Result<Handle, InstantiateError> {
        let shared = store.data_mut().plugin().shared().clone();
        let (instance, policy) = Instance::new(calls, &pre.pre, &mut store, &shared.default_policy).await?;
        match shared.records().default_policy_fault(&policy) {
            Some(fault) => Err(InstantiateError::InvalidPolicy(vec![fault])),
            None => Ok(Handle { instance, calls }),
        }
    }

    pub fn is_spent(&self) -> bool {
        self.instance.is_spent
    }

    /// Performs an operation. A probe whose lease has expired when the answer arrives is lost, and asked for again.
    pub async fn perform<T: PluginView>(
        &mut self,
        mut store: StoreContextMut<'_, T>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        let shared = store.data_mut().plugin().shared().clone();
        for _ in 0..LATE_PROBES {
            let requested = Reading::now(&*shared.clock);
            match self.run_cas_loop(&mut store, &shared, request).await? {
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
        store: &mut StoreContextMut<'_, T>,
        shared: &Arc<Shared>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        let mut cas_loop = CasLoop::new(request);
        let mut step = Step::Load(Duration::ZERO);
        let settled = loop {
            step = match step {
                Step::Load(pause) => {
                    self.calls.sleep(pause).await;
                    let (shared, request) = (shared.clone(), request.clone());
                    cas_loop.loaded(self.calls.block(move || shared.records().load(&request)).await)
                }
                Step::Evaluate(snapshot) => {
                    let evaluation = self.evaluate(store, shared, request, &snapshot).await;
                    cas_loop.evaluated(snapshot, evaluation)
                }
                Step::Commit(pending) => {
                    let (shared, request) = (shared.clone(), request.clone());
                    cas_loop.committed(self.calls.block(move || shared.records().commit(&request, pending)).await)
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
        // The clock of the records' store goes before the platform's.
        let now = snapshot.at.unwrap_or_else(|| shared.clock.now());
        let input = Input { request, snapshot, now, entropy: &shared.entropy };
        let evaluation = self.instance.evaluate(store, &input).await?;
        let policy = match shared.policy_check(request, &evaluation) {
            Some((request, written)) => {
                let input = Input { request: &request, snapshot: &written, ..input };
                self.instance.evaluate(store, &input).await
            }
            // Where the skew of the store's clocks becomes known just now, the caller tries again.
            None => Err(BreakerError::Contended { dependency: request.dependency.to_string() }),
        };
        shared.records().check_lease(request, &evaluation, |_| policy)?;
        Ok(evaluation)
    }
}
