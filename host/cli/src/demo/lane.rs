//! The three ways in which the same callers go about the same dependency.

use serde::{Deserialize, Serialize};

/// A way of calling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Nothing in between: whoever wants to call, calls.
    Bare,
    /// A breaker in the memory of each worker process, which knows nothing of the others.
    InProcess,
    /// halfopen: one breaker for all of them, in one SQLite file.
    Shared,
}

impl Lane {
    pub const ALL: [Lane; 3] = [Lane::Bare, Lane::InProcess, Lane::Shared];

    /// What the demo calls it.
    pub fn name(self) -> &'static str {
        match self {
            Lane::Bare => "no breaker",
            Lane::InProcess => "a breaker in each process",
            Lane::Shared => "halfopen",
        }
    }
}

/// One of something for each lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PerLane<T> {
    bare: T,
    in_process: T,
    shared: T,
}

impl<T: Clone> PerLane<T> {
    /// The same for each.
    #[cfg(test)]
    pub fn each(value: T) -> Self {
        PerLane { bare: value.clone(), in_process: value.clone(), shared: value }
    }
}

impl<T> PerLane<T> {
    pub fn get(&self, lane: Lane) -> &T {
        match lane {
            Lane::Bare => &self.bare,
            Lane::InProcess => &self.in_process,
            Lane::Shared => &self.shared,
        }
    }

    pub fn get_mut(&mut self, lane: Lane) -> &mut T {
        match lane {
            Lane::Bare => &mut self.bare,
            Lane::InProcess => &mut self.in_process,
            Lane::Shared => &mut self.shared,
        }
    }
}
