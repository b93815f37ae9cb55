//! An instance of the component: runs one exported call at a time on a view of the record.

use std::sync::Arc;

use wasmtime::component::{HasSelf, Linker, WasmStr};
use wasmtime::{ResourceLimiter, Store, StoreContextMut, Trap};

use crate::bindings::halfopen::breaker::{clock, entropy, storage};
use crate::bindings::{Component as Exports, ComponentPre};
use crate::builder::Limits;
use crate::clock::Clock;
use crate::engine::{Runtime, ticks};
use crate::entropy::Entropy;
use crate::error::ComponentFault;
use crate::op::{Answer, Call, Op};
use crate::shortage;
use crate::store::Snapshot;
use crate::wire::{self, Policy, StorageError, Transition};

/// What an instance is made from.
#[derive(Clone)]
pub(crate) struct Blueprint {
    pub runtime: &'static Runtime,
    pub pre: ComponentPre<Guest>,
    pub limits: Limits,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<Entropy>,
    pub default_policy: Policy,
}

/// An instance with its store. After a fault it must not be used again.
pub(crate) struct Instance {
    runtime: &'static Runtime,
    store: Store<Guest>,
    exports: Exports,
    limits: Limits,
}

/// What an exported call wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// How many commits it made, one after the other; each raises the version by one.
    pub commits: u64,
    /// The record after the last of them; none where that removed it.
    pub data: Option<Vec<u8>>,
    pub transitions: Vec<Transition>,
}

/// How an exported call ended.
#[derive(Debug)]
pub(crate) enum Ran {
    /// It returned ok; what it wrote has yet to be made durable.
    Done(Answer, Option<Change>),
    /// It returned an error; whatever it committed is dropped.
    Refused(wire::Error),
    /// The component failed.
    Fault(ComponentFault),
}

/// The host's side of an instance: the view that the call sees, and what it wrote.
pub(crate) struct Guest {
    clock: Arc<dyn Clock>,
    entropy: Arc<Entropy>,
    dependency: Option<Arc<str>>,
    view: Snapshot,
    change: Option<Change>,
    /// How many bytes of memory the instance may have.
    memory: usize,
    /// How many it has, in all its memories.
    memory_taken: usize,
    memory_denied: bool,
    /// How many bytes the call has handed over to be written.
    written: usize,
}

/// Why no instance could be made.
pub(crate) enum MakeError {
    InvalidPolicy(Vec<wire::PolicyFault>),
    Fault(ComponentFault),
}

impl Instance {
    pub fn make(blueprint: &Blueprint) -> Result<Instance, MakeError> {
        let limits = blueprint.limits;
        let guest = Guest {
            clock: blueprint.clock.clone(),
            entropy: blueprint.entropy.clone(),
            dependency: None,
            view: Snapshot::default(),
            change: None,
            memory: limits.memory,
            memory_taken: 0,
            memory_denied: false,
            written: 0,
        };
        let mut store = Store::new(&blueprint.runtime.engine, guest);
        store.limiter(|guest| guest);
        // What it passes to the host at once is no larger than what it may have: pointers can overlap.
        store.set_hostcall_fuel(limits.memory);
        store.set_epoch_deadline(ticks(limits.call));
        let running = blueprint.runtime.running();
        let exports = match blueprint.pre.instantiate(&mut store) {
            Ok(exports) => exports,
            Err(error) => {
                let short = shortage::of_open_files().map(|why| ComponentFault::Exhausted { why: why.to_owned() });
                return Err(MakeError::Fault(short.unwrap_or_else(|| fault(&error, store.data(), limits))));
            }
        };
        let set = exports.halfopen_breaker_setup().call_set_default_policy(&mut store, blueprint.default_policy);
        drop(running);
        match set {
            Ok(Ok(_)) => Ok(Instance { runtime: blueprint.runtime, store, exports, limits }),
            Ok(Err(wire::Error::InvalidPolicy(faults))) => Err(MakeError::InvalidPolicy(faults)),
            Ok(Err(other)) => Err(MakeError::Fault(ComponentFault::Broken {
                why: format!("it refused the default policy with {other:?}"),
            })),
            Err(error) => Err(MakeError::Fault(fault(&error, store.data(), limits))),
        }
    }

    /// Runs an exported call on a view of the record. Nothing of it reaches a store.
    pub fn run(&mut self, op: &Op, view: &Snapshot) -> Ran {
        let guest = self.store.data_mut();
        guest.dependency = Some(op.dependency.clone());
        guest.view.version = view.version;
        guest.view.at = view.at;
        guest.view.data.clone_from(&view.data);
        guest.change = None;
        guest.written = 0;
        guest.memory_denied = false;
        self.store.set_epoch_deadline(ticks(self.limits.call));
        let running = self.runtime.running();
        let result = self.call(op);
        drop(running);
        match result {
            Ok(Ok(answer)) => Ran::Done(answer, self.store.data_mut().change.take()),
            Ok(Err(error)) => Ran::Refused(error),
            Err(error) => Ran::Fault(fault(&error, self.store.data(), self.limits)),
        }
    }

    fn call(&mut self, op: &Op) -> wasmtime::Result<Result<Answer, wire::Error>> {
        let store = &mut self.store;
        let breaker = self.exports.halfopen_breaker_breaker();
        let control = self.exports.halfopen_breaker_control();
        let name = &*op.dependency;
        Ok(match &op.call {
            Call::Acquire { caller } => breaker.call_acquire(store, name, caller)?.map(Answer::Decision),
            Call::Report { permit, outcome, took } => {
                breaker.call_report(store, name, *permit, *outcome, *took)?.map(Answer::Receipt)
            }
            Call::ReportTally { permit, tally } => {
                breaker.call_report_tally(store, name, *permit, *tally)?.map(Answer::Receipt)
            }
            Call::Renew { permit } => breaker.call_renew(store, name, *permit)?.map(Answer::Receipt),
            Call::Release { permit } => breaker.call_release(store, name, *permit)?.map(Answer::Receipt),
            Call::Inspect => control.call_inspect(store, name)?.map(Answer::Inspection),
            Call::Policy => control.call_policy(store, name)?.map(Answer::Policy),
            Call::Configure { policy } => control.call_configure(store, name, **policy)?.map(Answer::Receipt),
            Call::Force { mode, lasting, note } => {
                control.call_force(store, name, *mode, *lasting, note)?.map(Answer::Receipt)
            }
            Call::Reset => control.call_reset(store, name)?.map(Answer::Receipt),
            Call::Forget => control.call_forget(store, name)?.map(Answer::Receipt),
            Call::Prune { idle } => control.call_prune(store, name, *idle)?.map(Answer::Pruned),
        })
    }

    #[cfg(test)]
    fn built_in_policy(&mut self) -> Policy {
        self.exports.halfopen_breaker_setup().call_built_in_policy(&mut self.store).unwrap()
    }
}

fn fault(error: &wasmtime::Error, guest: &Guest, limits: Limits) -> ComponentFault {
    if guest.memory_denied {
        return ComponentFault::OutOfMemory { limit: limits.memory };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => ComponentFault::TimedOut { limit: limits.call },
        Some(trap) => ComponentFault::Trapped { why: trap.to_string() },
        None => ComponentFault::Broken { why: format!("{error:#}") },
    }
}

impl Guest {
    fn is_about(&self, dependency: &str) -> Result<(), StorageError> {
        match &self.dependency {
            Some(own) if **own == *dependency => Ok(()),
            _ => Err(StorageError::Denied("a call reads and writes the record of its own dependency only".to_owned())),
        }
    }

    /// The version, with what the call has committed so far.
    fn version(&self) -> u64 {
        self.view.version + self.change.as_ref().map_or(0, |change| change.commits)
    }

    fn snapshot(&self) -> storage::Snapshot {
        let data = self.change.as_ref().map_or(&self.view.data, |change| &change.data);
        storage::Snapshot { version: self.version(), data: data.clone() }
    }

    fn commit(
        &mut self,
        based_on: u64,
        data: Option<Vec<u8>>,
        transitions: Vec<Transition>,
    ) -> Result<storage::CommitOutcome, StorageError> {
        if based_on != self.version() {
            return Ok(storage::CommitOutcome::Stale(self.snapshot()));
        }
        if self.change.as_ref().is_some_and(|change| change.data.is_none()) {
            // A removal takes the history with it; one write cannot say that and have a history of its own.
            return Err(StorageError::Denied("a call that has removed its record writes no more".to_owned()));
        }
        let size = |transition: &Transition| size_of_val(transition) + transition.reason.as_str().len();
        self.written += data.as_ref().map_or(0, Vec::len) + transitions.iter().map(size).sum::<usize>();
        if self.written > self.memory {
            return Err(StorageError::Denied("a call writes no more than its instance may have of memory".to_owned()));
        }
        let change = self.change.get_or_insert_default();
        change.commits += 1;
        change.data = data;
        change.transitions.extend(transitions);
        Ok(storage::CommitOutcome::Committed(self.version()))
    }
}

impl clock::Host for Guest {
    fn now(&mut self) -> u64 {
        self.view.at.unwrap_or_else(|| self.clock.now())
    }
}

impl entropy::Host for Guest {
    fn next(&mut self) -> u64 {
        self.entropy.next()
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let taken = self.memory_taken.saturating_add(desired.saturating_sub(current));
        let allowed = taken <= self.memory;
        if allowed {
            self.memory_taken = taken;
        }
        self.memory_denied |= !allowed;
        Ok(allowed)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= 10_000)
    }

    /// Core instances: a component of ours has five.
    fn instances(&self) -> usize {
        100
    }

    fn tables(&self) -> usize {
        100
    }
}

/// Gives the component what it may import.
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    clock::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest)?;
    entropy::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest)?;
    // By hand: the generated ones copy each name out of the component's memory, where it only has to be compared.
    let mut storage = linker.instance("halfopen:breaker/storage@0.1.0")?;
    storage.func_wrap("load", |store: StoreContextMut<'_, Guest>, (dependency,): (WasmStr,)| {
        let about = store.data().is_about(&dependency.to_str(&store)?);
        Ok((about.map(|()| store.data().snapshot()),))
    })?;
    storage.func_wrap(
        "commit",
        |mut store: StoreContextMut<'_, Guest>, (dependency, based_on, data, made): Commit| {
            let about = store.data().is_about(&dependency.to_str(&store)?);
            Ok((about.and_then(|()| store.data_mut().commit(based_on, data, made)),))
        },
    )?;
    Ok(linker)
}

/// What `commit` is called with.
type Commit = (WasmStr, u64, Option<Vec<u8>>, Vec<Transition>);

#[cfg(test)]
mod tests;
