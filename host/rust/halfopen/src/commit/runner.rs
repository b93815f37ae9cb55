use halfopen_contract::cas::{CasLoop, CommitResult, Settled, Step};
use halfopen_contract::engine::{Evaluation, Request};
use halfopen_contract::store::Snapshot;
use halfopen_contract::{BreakerError, events};

use super::executor::Executor;
use super::group::Group;
use crate::outage::StoreBackoff;

/// Runs the operations of a host.
pub(crate) struct Runner {
    pub executor: Executor,
    pub store_backoff: StoreBackoff,
    group: Group,
}

impl Runner {
    /// A runner that nothing has run on.
    pub fn new(executor: Executor, store_backoff: StoreBackoff) -> Self {
        Runner { executor, store_backoff, group: Group::default() }
    }

    /// Runs an operation; its answer is durable when this returns. `snapshot` is the record as it was read a moment ago,
    /// where it was. The record that the answer rests on comes back, where nothing was written.
    pub fn run(
        &self,
        request: &Request,
        snapshot: Option<Snapshot>,
    ) -> (Result<Settled, BreakerError>, Option<Snapshot>) {
        let (settled, snapshot) = self.run_untraced(request, snapshot);
        if settled.is_ok() {
            self.store_backoff.end();
        }
        events::settled(&self.executor.records.namespace, &request.dependency, &settled);
        (settled, snapshot)
    }

    fn run_untraced(
        &self,
        request: &Request,
        snapshot: Option<Snapshot>,
    ) -> (Result<Settled, BreakerError>, Option<Snapshot>) {
        // While a commit is being written, an evaluation that will be written after it would be out of date.
        let writes = request.operation.nearly_always_writes();
        let joined = if writes { self.group.join(&self.executor, request) } else { None };
        let snapshot = match joined {
            Some(CommitResult::Settled(settled)) => return (settled, None),
            Some(CommitResult::Lost(present)) => present,
            None => snapshot,
        };
        let snapshot = match snapshot.map_or_else(|| self.executor.records.load(request), Ok) {
            Ok(snapshot) => snapshot,
            Err(error) => return (Err(error.into()), None),
        };
        match self.executor.evaluate(request, &snapshot) {
            Ok(Evaluation { answer, write: None }) => {
                (Ok(Settled { answer, version: snapshot.version, transitions: Vec::new() }), Some(snapshot))
            }
            evaluation => {
                let mut cas_loop = CasLoop::new(request);
                let step = cas_loop.evaluated(snapshot, evaluation);
                (self.finish(request, cas_loop, step), None)
            }
        }
    }

    /// Does the steps of the compare-and-set loop until the operation is settled.
    fn finish(&self, request: &Request, mut cas_loop: CasLoop<'_>, mut step: Step) -> Result<Settled, BreakerError> {
        loop {
            step = match step {
                Step::Load(pause) => {
                    std::thread::sleep(pause);
                    cas_loop.loaded(self.executor.records.load(request))
                }
                Step::Evaluate(snapshot) => {
                    let evaluation = self.executor.evaluate(request, &snapshot);
                    cas_loop.evaluated(snapshot, evaluation)
                }
                Step::Commit(pending) => cas_loop.committed(self.group.commit(&self.executor, request, pending)),
                Step::Done(settled) => return settled,
            };
        }
    }
}
