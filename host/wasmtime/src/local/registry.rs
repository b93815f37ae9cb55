//! What a host knows of its dependencies, by name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Local;

/// From so many dependencies on, those that nobody holds and nothing is due of are let go: a stream of ever new names must
/// not fill the memory.
pub(crate) const MANY: usize = 4_096;

pub(crate) struct Registry {
    shelf: Mutex<Shelf>,
    many: usize,
}

#[derive(Default)]
struct Shelf {
    locals: HashMap<Arc<str>, Arc<Local>>,
    /// The number of entries at which it is cleared out next.
    clear_at: usize,
}

impl Registry {
    /// `many` stands in for [`MANY`].
    pub fn new(many: usize) -> Self {
        Registry { shelf: Mutex::default(), many }
    }

    /// What is known of a dependency: the same for all who ask.
    pub fn of(&self, dependency: &str) -> Arc<Local> {
        let mut shelf = self.shelf();
        if let Some(local) = shelf.locals.get(dependency) {
            return local.clone();
        }
        if shelf.locals.len() >= shelf.clear_at.max(self.many) {
            // Nobody can come by one meanwhile but through here.
            shelf.locals.retain(|_, local| Arc::strong_count(local) > 1 || local.has_counts());
            shelf.clear_at = shelf.locals.len() * 2;
        }
        let name: Arc<str> = dependency.into();
        let local = Arc::new(Local::new(name.clone()));
        shelf.locals.insert(name, local.clone());
        local
    }

    /// All that are known.
    pub fn all(&self) -> Vec<Arc<Local>> {
        self.shelf().locals.values().cloned().collect()
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_has_one_state_and_what_nobody_holds_goes() {
        let registry = Registry::new(MANY);
        let held = registry.of("held");
        assert!(Arc::ptr_eq(&held, &registry.of("held")));
        for number in 0..3 * MANY {
            registry.of(&format!("passing {number}"));
        }
        assert!(registry.all().len() <= MANY + 1, "{} are kept", registry.all().len());
        assert!(Arc::ptr_eq(&held, &registry.of("held")));
    }
}
