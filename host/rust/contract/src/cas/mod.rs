//! The compare-and-set loop: load the record, evaluate the operation, commit what it writes, and again after a lost race.
//!
//! [`CasLoop`] decides what comes next and does nothing itself, so that plain code, async code and a batch go the same way.
//! [`Records`] does the loads and commits.

mod cas_loop;
mod records;

pub use cas_loop::{CasLoop, Step};
pub use records::{CommitResult, PendingWrite, Records, Settled};
