//! The three ways in which callers call the dependency.

use serde::{Deserialize, Serialize};

/// A way of calling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Without a breaker: each caller calls.
    Bare,
    /// A breaker in the memory of each worker process.
    InProcess,
    /// halfopen: one breaker for all callers, in one SQLite file.
    Shared,
}

impl Lane {
    pub const ALL: [Lane; 3] = [Lane::Bare, Lane::InProcess, Lane::Shared];

    /// The name in the demo's output.
    pub fn name(self) -> &'static str {
        match self {
            Lane::Bare => "no breaker",
            Lane::InProcess => "a breaker in each process",
            Lane::Shared => "halfopen",
        }
    }
}

/// A value for each lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PerLane<T> {
    bare: T,
    in_process: T,
    shared: T,
}

impl<T: Clone> PerLane<T> {
    /// The same value for each lane.
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
