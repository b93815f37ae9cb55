//! An instance of the component: runs one exported call at a time on a view of the record.

use std::sync::Arc;

use wasmtime::component::Linker;
use wasmtime::{ResourceLimiter, Store, Trap};

use crate::bindings::{Component as Exports, ComponentPre};
use crate::builder::Limits;
use crate::clock::Clock;
use crate::engine::{Runtime, ticks};
use crate::entropy::Entropy;
use crate::error::ComponentFault;
use crate::imports::{self, Change, Imports};
use crate::invoke::invoke;
use crate::op::{Answer, Op};
use crate::shortage;
use crate::store::Snapshot;
use crate::wire::{self, Policy};

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

/// The host's side of an instance.
pub(crate) struct Guest {
    imports: Imports,
    /// How many bytes of memory the instance may have.
    memory: usize,
    /// How many it has, in all its memories.
    memory_taken: usize,
    memory_denied: bool,
}

/// Why no instance could be made.
pub(crate) enum MakeError {
    InvalidPolicy(Vec<wire::PolicyFault>),
    Fault(ComponentFault),
}

impl Instance {
    pub fn make(blueprint: &Blueprint) -> Result<Instance, MakeError> {
        let limits = blueprint.limits;
        let Limits { memory, .. } = limits;
        let imports = Imports::new(blueprint.clock.clone(), blueprint.entropy.clone(), memory, None);
        let guest = Guest { imports, memory, memory_taken: 0, memory_denied: false };
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
            Ok(Err(other)) => Err(MakeError::Fault(ComponentFault::refused_default_policy(&other))),
            Err(error) => Err(MakeError::Fault(fault(&error, store.data(), limits))),
        }
    }

    /// Runs an exported call on a view of the record. Nothing of it reaches a store.
    pub fn run(&mut self, op: &Op, view: &Snapshot) -> Ran {
        let guest = self.store.data_mut();
        guest.memory_denied = false;
        guest.imports.begin(&op.dependency, view);
        self.store.set_epoch_deadline(ticks(self.limits.call));
        let running = self.runtime.running();
        let result = invoke(&self.exports, &mut self.store, op);
        drop(running);
        let change = self.store.data_mut().imports.end();
        match result {
            Ok(Ok(answer)) => Ran::Done(answer, change),
            Ok(Err(error)) => Ran::Refused(error),
            Err(error) => Ran::Fault(fault(&error, self.store.data(), self.limits)),
        }
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
    imports::link(&mut linker, |guest: &mut Guest| &mut guest.imports)?;
    Ok(linker)
}

#[cfg(test)]
mod tests;
