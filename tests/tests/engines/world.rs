//! An engine with a record for each dependency, a clock and randomness.

use std::collections::HashMap;
use std::sync::Arc;

use halfopen_contract::BreakerError;
use halfopen_contract::engine::{Answer, Engine, Evaluation, Input, Operation, Request};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::Snapshot;
use halfopen_contract::types::{Decision, Permit};

use crate::draw::Deed;

pub struct World<'a> {
    engine: &'a dyn Engine,
    entropy: Arc<Entropy>,
    now: u64,
    records: HashMap<String, Snapshot>,
    permits: Vec<Permit>,
}

impl<'a> World<'a> {
    pub fn new(engine: &'a dyn Engine, seed: u64) -> Self {
        let entropy = Arc::new(Entropy::new(Some(seed)));
        World { engine, entropy, now: 0, records: HashMap::new(), permits: Vec::new() }
    }

    /// The bytes of a record.
    pub fn record(&self, dependency: &str) -> Option<&[u8]> {
        self.records.get(dependency)?.data.as_deref()
    }

    /// Does a step; none where it has no answer. All that the engine returns is returned, and its write is done.
    pub fn run(&mut self, deed: &Deed) -> Option<Result<Evaluation, BreakerError>> {
        match deed {
            Deed::Clock(now) => self.now = *now,
            Deed::Later(ms) => self.now = self.now.saturating_add(*ms),
            Deed::Damage(dependency, bytes) => {
                let record = self.records.entry(dependency.clone()).or_default();
                record.version += 1;
                record.data = Some(bytes.clone());
            }
            Deed::Operation { dependency, operation, given } => {
                let mut operation = operation.clone();
                let given = given.and_then(|back| self.permits.iter().rev().nth(back));
                if let (Some(permit), Some(given)) = (permit_of(&mut operation), given) {
                    *permit = *given;
                }
                return Some(self.evaluate(dependency, operation));
            }
        }
        None
    }

    fn evaluate(&mut self, dependency: &str, operation: Operation) -> Result<Evaluation, BreakerError> {
        let request = Request { dependency: dependency.into(), operation };
        let record = self.records.entry(dependency.to_owned()).or_default();
        let input = Input { request: &request, snapshot: record, now: self.now, entropy: &self.entropy };
        let evaluation = self.engine.evaluate(&input)?;
        if let Some(write) = &evaluation.write {
            record.version += write.commits;
            record.data.clone_from(&write.data);
        }
        self.permits.extend(permit_in(&evaluation.answer));
        Ok(evaluation)
    }
}

fn permit_of(operation: &mut Operation) -> Option<&mut Permit> {
    match operation {
        Operation::Report { permit, .. }
        | Operation::ReportTally { permit, .. }
        | Operation::Renew { permit }
        | Operation::Release { permit } => Some(permit),
        _ => None,
    }
}

fn permit_in(answer: &Answer) -> Option<Permit> {
    match answer {
        Answer::Decision(Decision::Proceed(admission)) => Some(admission.permit),
        Answer::Decision(Decision::Probe(probe)) => Some(probe.permit),
        Answer::Decision(Decision::Defer(deferral)) => deferral.admission.map(|admission| admission.permit),
        _ => None,
    }
}
