//! Engine 1: the component in this process's own wasmtime engine.

mod component_engine;
mod limits;

pub use component_engine::{ComponentEngine, ComponentEngineError};
pub use limits::Limits;
