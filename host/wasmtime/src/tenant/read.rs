//! Reads what a plugin passes: nothing longer than need be comes out of its memory.

use std::sync::Arc;

use wasmtime::StoreContext;
use wasmtime::component::WasmStr;

use crate::op::{Call, Op};
use crate::wire::{Error, Mode};

/// The most bytes of a text that are passed on. How long each may be is for the component to say: this is beyond all.
const LONGEST: usize = 1_024;

/// Why there is no call to answer.
pub(super) enum Refusal {
    /// The plugin is told so.
    Told(Error),
    /// The plugin passes what is none of the contract's types, and traps.
    Trap(wasmtime::Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Told(error)
    }
}

impl From<wasmtime::Error> for Refusal {
    fn from(error: wasmtime::Error) -> Self {
        Refusal::Trap(error)
    }
}

/// The memory that the arguments of a call are in.
pub(super) struct Arguments<'a, T: 'static>(pub StoreContext<'a, T>);

impl<T> Arguments<'_, T> {
    /// A call on a dependency.
    pub fn op(&self, dependency: WasmStr, call: Call) -> Result<Op, Refusal> {
        let dependency = self.text(dependency, |length| Error::InvalidDependency(too_long(length)))?;
        Ok(Op { dependency, call })
    }

    pub fn acquire(&self, dependency: WasmStr, caller: WasmStr) -> Result<Op, Refusal> {
        self.op(dependency, Call::Acquire { caller: self.other("caller", caller)? })
    }

    pub fn force(&self, dependency: WasmStr, mode: Mode, lasting: Option<u64>, note: WasmStr) -> Result<Op, Refusal> {
        let note = (*self.other("note", note)?).into();
        self.op(dependency, Call::Force { mode, lasting, note })
    }

    fn other(&self, name: &str, text: WasmStr) -> Result<Arc<str>, Refusal> {
        self.text(text, |length| Error::InvalidArgument(format!("{name}: {}", too_long(length))))
    }

    fn text(&self, text: WasmStr, too_long: impl FnOnce(usize) -> Error) -> Result<Arc<str>, Refusal> {
        let text = text.to_str(&self.0)?;
        if text.len() > LONGEST {
            return Err(too_long(text.len()).into());
        }
        Ok(text.as_ref().into())
    }
}

fn too_long(length: usize) -> String {
    format!("it is {length} bytes long, and nothing beyond {LONGEST} is looked at")
}
