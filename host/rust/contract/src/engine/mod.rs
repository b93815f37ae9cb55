//! An operation on one record, and the engine that evaluates it.
//!
//! An engine is a pure function: record, operation, time and randomness in; answer, and perhaps a write, out. Crate
//! `halfopen-component` runs the component, crate `halfopen-native` the same rules linked in.

mod operation;

pub use operation::{Answer, Operation, Request};

use crate::entropy::Entropy;
use crate::error::BreakerError;
use crate::store::Snapshot;
use std::sync::Arc;

/// All that an operation depends on.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The operation, and its dependency.
    pub request: &'a Request,
    /// The record of the dependency.
    pub snapshot: &'a Snapshot,
    /// The instant, in ms since the Unix epoch, read after the record was.
    pub now: u64,
    /// The randomness.
    pub entropy: &'a Arc<Entropy>,
}

/// The result of an operation on a snapshot of its record.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The answer, once the write, if there is one, is durable.
    pub answer: Answer,
    /// What is to be written; none where the record stays.
    pub write: Option<ProposedWrite>,
}

/// A write that rests on the snapshot that was evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProposedWrite {
    /// How far it raises the version: the number of commits of the engine, at least 1.
    pub commits: u64,
    /// The new bytes of the record; none removes it.
    pub data: Option<Vec<u8>>,
    /// The transitions, in order, as JSON.
    pub transitions: Vec<String>,
}

/// Evaluates operations. Nothing of an evaluation reaches a store.
pub trait Engine: Send + Sync + 'static {
    /// Evaluates one operation on one record.
    ///
    /// # Errors
    /// [`BreakerError`]: the rules refuse the operation, or the engine failed.
    fn evaluate(&self, input: &Input<'_>) -> Result<Evaluation, BreakerError>;

    /// The policy of every dependency without one of its own, as JSON with all its keys.
    fn default_policy(&self) -> &str;
}
