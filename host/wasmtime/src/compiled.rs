//! Compiled code: made once a process, and kept in a file for the next process.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use wasmtime::component::Component as Code;
use wasmtime::component::types::ComponentItem;

use crate::bindings::ComponentPre;
use crate::code_cache;
use crate::engine::runtime;
use crate::error::ComponentError;
use crate::instance::{Guest, linker};
use crate::world::WORLD;

pub(crate) struct Compiled {
    code: Code,
    pre: OnceLock<Result<ComponentPre<Guest>, ComponentError>>,
}

/// Compiles a component, unless this process or an earlier one has.
pub(crate) fn compile(place: &str, bytes: &[u8], sha256: &[u8; 32]) -> Result<Arc<Compiled>, ComponentError> {
    type Known = Vec<([u8; 32], Weak<Compiled>)>;
    static KNOWN: Mutex<Known> = Mutex::new(Vec::new());
    // Held while compiling: who asks for the same component meanwhile gets it sooner by waiting.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|(_, compiled)| compiled.strong_count() > 0);
    if let Some(compiled) = known.iter().find(|(hash, _)| hash == sha256).and_then(|(_, compiled)| compiled.upgrade()) {
        return Ok(compiled);
    }
    let engine = &runtime()?.engine;
    let code = match code_cache::load(engine, sha256) {
        Some(code) => code,
        None => {
            let code = Code::new(engine, bytes).map_err(|error| ComponentError::NotAComponent {
                place: place.to_owned(),
                why: format!("{error:#}"),
            })?;
            code_cache::save(engine, sha256, &code);
            code
        }
    };
    let compiled = Arc::new(Compiled { code, pre: OnceLock::new() });
    known.push((*sha256, Arc::downgrade(&compiled)));
    Ok(compiled)
}

impl Compiled {
    pub fn imports(&self) -> Vec<String> {
        imports_of(&self.code)
    }

    pub fn exports(&self) -> Vec<String> {
        exports_of(&self.code)
    }

    pub fn pre(
        &self,
        check: impl FnOnce() -> Result<(), ComponentError>,
        place: &str,
    ) -> Result<ComponentPre<Guest>, ComponentError> {
        let prepare = || {
            check()?;
            linker(self.code.engine())
                .and_then(|linker| linker.instantiate_pre(&self.code))
                .and_then(ComponentPre::new)
                .map_err(|error| ComponentError::OtherWorld {
                    place: place.to_owned(),
                    wanted: WORLD.to_owned(),
                    why: format!("{error:#}"),
                })
        };
        self.pre.get_or_init(prepare).clone()
    }
}

pub(crate) fn imports_of(code: &Code) -> Vec<String> {
    let engine = code.engine();
    let ty = code.component_type();
    listed(engine, ty.imports(engine).map(|(name, item)| (name, item.ty)))
}

pub(crate) fn exports_of(code: &Code) -> Vec<String> {
    let engine = code.engine();
    let ty = code.component_type();
    listed(engine, ty.exports(engine).map(|(name, item)| (name, item.ty)))
}

fn listed<'a>(engine: &wasmtime::Engine, items: impl Iterator<Item = (&'a str, ComponentItem)>) -> Vec<String> {
    let mut names = Vec::new();
    for (name, item) in items {
        let before = names.len();
        if let ComponentItem::ComponentInstance(instance) = item {
            let functions = instance.exports(engine).filter(|(_, item)| !matches!(item.ty, ComponentItem::Type(_)));
            names.extend(functions.map(|(function, _)| format!("{name}#{function}")));
        }
        if names.len() == before {
            names.push(name.to_owned());
        }
    }
    names.sort();
    names
}
