//! Runs of scenarios.

mod clockless;
mod error;
mod replay;
mod stage;
mod steps;
mod summary;

pub use error::ReplayError;
pub use replay::Replay;
pub use summary::{Failure, StepAnswer, Summary};
