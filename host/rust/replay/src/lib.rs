#![doc = include_str!("../README.md")]

mod answer;
mod expect;
mod json;
mod run;
mod scenario;
mod target;

pub use run::{Failure, Replay, ReplayError, StepAnswer, Summary};
pub use scenario::{Scenario, ScenarioError};
pub use target::{Setup, Target};
