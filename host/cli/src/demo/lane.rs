//! The three ways in which callers call the dependency.

/// A way of calling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Without a breaker: each caller calls.
    Bare,
    /// A breaker in the memory of each worker process.
    InProcess,
    /// One breaker for all callers, in one SQLite file.
    Shared,
}

impl Lane {
    /// All lanes, each at its own index.
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
