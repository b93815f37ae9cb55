//! An instance of the component in a platform's store, and how an operation runs in it.

use std::sync::Arc;
use std::time::Duration;

use futures_timer::Delay;
use wasmtime::{AsContextMut, StoreContextMut, Trap};

use super::context::Place;
use super::{PluginPre, PluginView};
use crate::acquire::{LATE, too_late};
use crate::bindings;
use crate::course::{Course, Todo};
use crate::elsewhere::Elsewhere;
use crate::error::{BreakerError, ComponentFault};
use crate::events;
use crate::instance::Ran;
use crate::invoke::{Invoked, invoke, invoke_async};
use crate::op::{Answer, Call, Op};
use crate::sent::Sent;
use crate::store::Snapshot;
use crate::wire::{self, Decision, PolicyFault};

/// The breakers of a namespace, through an instance of the component in a store of the platform.
///
/// It belongs to the store in which it was made; with another it panics, as all of wasmtime does.
pub struct Plugin {
    exports: bindings::Component,
    state: State,
}

/// A [`Plugin`] for async calls.
pub struct AsyncPlugin {
    exports: bindings::in_async::Component,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Sound,
    /// It has failed, or was left in the middle of a call.
    Spent,
}

/// Why no instance could be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InstantiateError {
    /// The store takes none: a limit of the platform, or async imports in a call that is not async.
    #[error("the store takes no instance of the component: {why}")]
    Store {
        /// What wasmtime says.
        why: String,
    },
    /// The component failed while it was set up. Nothing enters it any more; drop the store.
    #[error("the component could not be set up: {0}")]
    Setup(ComponentFault),
    /// The default policy of the context has fields out of range: all of them.
    #[error("the default policy is invalid: {}", crate::error::listed(.0))]
    InvalidPolicy(Vec<PolicyFault>),
}

impl<T: PluginView> PluginPre<T> {
    /// Makes an instance in a store, and sets its default policy.
    ///
    /// # Errors
    /// [`InstantiateError`].
    pub fn instantiate(&self, mut store: impl AsContextMut<Data = T>) -> Result<Plugin, InstantiateError> {
        let mut store = store.as_context_mut();
        let exports = self.plain.instantiate(&mut store).map_err(refused)?;
        let policy = store.data_mut().plugin().place().default_policy;
        set_up(exports.halfopen_breaker_setup().call_set_default_policy(&mut store, policy))?;
        Ok(Plugin { exports, state: State::Sound })
    }

    /// Makes an instance for async calls in a store, and sets its default policy.
    ///
    /// # Errors
    /// [`InstantiateError`].
    pub async fn instantiate_async(
        &self,
        mut store: impl AsContextMut<Data = T>,
    ) -> Result<AsyncPlugin, InstantiateError> {
        let mut store = store.as_context_mut();
        let exports = self.in_async.instantiate_async(&mut store).await.map_err(refused)?;
        let policy = store.data_mut().plugin().place().default_policy;
        set_up(exports.halfopen_breaker_setup().call_set_default_policy(&mut store, policy).await)?;
        Ok(AsyncPlugin { exports, state: State::Sound })
    }
}

fn refused(error: wasmtime::Error) -> InstantiateError {
    match fault(&error) {
        ComponentFault::Broken { why } => InstantiateError::Store { why },
        fault => InstantiateError::Setup(fault),
    }
}

fn set_up(set: wasmtime::Result<Result<wire::Policy, wire::Error>>) -> Result<(), InstantiateError> {
    match set {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(wire::Error::InvalidPolicy(faults))) => Err(InstantiateError::InvalidPolicy(faults)),
        Ok(Err(other)) => Err(InstantiateError::Setup(ComponentFault::refused_default_policy(&other))),
        Err(error) => Err(InstantiateError::Setup(fault(&error))),
    }
}

fn fault(error: &wasmtime::Error) -> ComponentFault {
    match error.downcast_ref::<Trap>() {
        Some(trap @ (Trap::Interrupt | Trap::OutOfFuel)) => ComponentFault::Stopped { why: trap.to_string() },
        Some(Trap::CannotEnterComponent) => ComponentFault::Spent,
        Some(trap) => ComponentFault::Trapped { why: trap.to_string() },
        None => ComponentFault::Broken { why: format!("{error:#}") },
    }
}

impl State {
    /// A call begins. Until it has ended the instance counts as spent, so that one that is left half-way stays so.
    fn begin<T: PluginView>(&mut self, store: &mut StoreContextMut<'_, T>, op: &Op, view: &Snapshot) {
        *self = State::Spent;
        store.data_mut().plugin().imports().begin(&op.dependency, view);
    }

    fn end<T: PluginView>(&mut self, store: &mut StoreContextMut<'_, T>, op: &Op, invoked: Invoked) -> Ran {
        let change = store.data_mut().plugin().imports().end();
        match invoked {
            Ok(result) => {
                *self = State::Sound;
                result.map_or_else(Ran::Refused, |answer| Ran::Done(answer, change))
            }
            Err(error) => {
                let fault = fault(&error);
                tracing::error!(%fault, dependency = &*op.dependency, "the component failed; its store is spent");
                Ran::Fault(fault)
            }
        }
    }

    fn check(self) -> Result<(), BreakerError> {
        match self {
            State::Sound => Ok(()),
            State::Spent => Err(ComponentFault::Spent.into()),
        }
    }
}

impl Plugin {
    /// Whether every further operation answers [`ComponentFault::Spent`]: drop the store, and make another.
    pub fn is_spent(&self) -> bool {
        self.state == State::Spent
    }

    pub(super) fn perform<T: PluginView>(
        &mut self,
        mut store: StoreContextMut<'_, T>,
        op: &Op,
    ) -> Result<Answer, BreakerError> {
        let place = store.data_mut().plugin().place().clone();
        if !matches!(op.call, Call::Acquire { .. }) {
            return self.settle(&mut store, &place, op);
        }
        for _ in 0..LATE {
            let sent = Sent::at(&*place.clock);
            match self.settle(&mut store, &place, op)? {
                Answer::Decision(Decision::Probe(probe)) if sent.too_long_ago(probe.expires_in, &*place.clock) => {}
                answer => return Ok(answer),
            }
        }
        Err(too_late(&op.dependency))
    }

    fn settle<T: PluginView>(
        &mut self,
        store: &mut StoreContextMut<'_, T>,
        place: &Arc<Place>,
        op: &Op,
    ) -> Result<Answer, BreakerError> {
        self.state.check()?;
        let records = place.records();
        let mut course = Course::new(op);
        let mut todo = Todo::Look(Duration::ZERO);
        let settled = loop {
            todo = match todo {
                Todo::Look(after) => {
                    std::thread::sleep(after);
                    course.looked(records.look(op))
                }
                Todo::Decide(view) => {
                    self.state.begin(store, op, &view);
                    let invoked = invoke(&self.exports, &mut *store, op);
                    let ran = self.state.end(store, op, invoked);
                    course.decided(records.weigh(op, &view, ran))
                }
                Todo::Write(wanted) => course.wrote(records.write(op, wanted)),
                Todo::Done(settled) => break settled,
            };
        };
        events::settled(&place.namespace, &op.dependency, &settled);
        settled.map(|held| held.answer)
    }
}

impl AsyncPlugin {
    /// Whether every further operation answers [`ComponentFault::Spent`]: drop the store, and make another.
    pub fn is_spent(&self) -> bool {
        self.state == State::Spent
    }

    pub(super) async fn perform<T: PluginView>(
        &mut self,
        mut store: StoreContextMut<'_, T>,
        op: &Op,
    ) -> Result<Answer, BreakerError> {
        let place = store.data_mut().plugin().place().clone();
        if !matches!(op.call, Call::Acquire { .. }) {
            return self.settle(&mut store, &place, op).await;
        }
        for _ in 0..LATE {
            let sent = Sent::at(&*place.clock);
            match self.settle(&mut store, &place, op).await? {
                Answer::Decision(Decision::Probe(probe)) if sent.too_long_ago(probe.expires_in, &*place.clock) => {}
                answer => return Ok(answer),
            }
        }
        Err(too_late(&op.dependency))
    }

    async fn settle<T: PluginView>(
        &mut self,
        store: &mut StoreContextMut<'_, T>,
        place: &Arc<Place>,
        op: &Op,
    ) -> Result<Answer, BreakerError> {
        self.state.check()?;
        let mut course = Course::new(op);
        let mut todo = Todo::Look(Duration::ZERO);
        let settled = loop {
            todo = match todo {
                Todo::Look(after) => {
                    if !after.is_zero() {
                        Delay::new(after).await;
                    }
                    let (place, op) = (place.clone(), op.clone());
                    course.looked(Elsewhere::run(move || place.records().look(&op)).await)
                }
                Todo::Decide(view) => {
                    self.state.begin(store, op, &view);
                    let invoked = invoke_async(&self.exports, &mut *store, op).await;
                    let ran = self.state.end(store, op, invoked);
                    course.decided(place.records().weigh(op, &view, ran))
                }
                Todo::Write(wanted) => {
                    let (place, op) = (place.clone(), op.clone());
                    course.wrote(Elsewhere::run(move || place.records().write(&op, wanted)).await)
                }
                Todo::Done(settled) => break settled,
            };
        };
        events::settled(&place.namespace, &op.dependency, &settled);
        settled.map(|held| held.answer)
    }
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
