//! Connections, and the executor that runs operations on them.

mod executor;
mod session;

pub(crate) use executor::{Effect, Executor};
