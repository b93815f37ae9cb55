//! Runs operations until their answers are durable: load, evaluate, commit, and again after a lost race.
//!
//! - [`Executor`] does one step: it loads a record, evaluates an operation on it, commits a write.
//! - [`Runner`] does them in the order that the compare-and-set loop says.
//! - [`Group`](group::Group) shares a commit between the operations that wait for one; [`Batch`](batch::Batch) evaluates
//!   them, [`BatchRecord`](batch_record::BatchRecord) merges what they write to one record.

mod batch;
mod batch_record;
mod executor;
mod group;
mod runner;

pub(crate) use executor::Executor;
pub(crate) use runner::Runner;

#[cfg(test)]
mod tests;
