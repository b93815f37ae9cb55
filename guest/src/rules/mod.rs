//! The rules: one module for each operation, on top of the [`Evaluation`] of a record at an instant.

mod acquire;
mod backoff;
mod control;
mod evaluation;
mod inspect;
mod ramp;
mod report;
mod stale;
mod trip;

pub use acquire::acquire;
pub use control::{configure, force, forget, prune, reset};
pub use evaluation::{Effect, Evaluation};
pub use inspect::{inspect, policy};
pub use report::{renew, report, report_tally};
