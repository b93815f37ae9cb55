use halfopen_contract::BreakerError;
use halfopen_contract::cas::CommitResult;
use halfopen_contract::engine::Request;
use halfopen_contract::store::{CommitOutcome, Key, Locked, Snapshot, StoreError, Write};

use super::batch_record::BatchRecord;
use super::executor::Executor;

/// Operations whose writes go into one commit.
pub(super) struct Batch<'a> {
    executor: &'a Executor,
    members: &'a [Member<'a>],
    /// The result of each member; none while it is open.
    results: Vec<Option<CommitResult>>,
}

/// An operation of a batch, and its record as last seen.
pub(super) struct Member<'a> {
    pub request: &'a Request,
    pub snapshot: Option<Snapshot>,
}

/// The result of a batch.
pub(super) struct BatchResult {
    /// In the order of the members.
    pub results: Vec<CommitResult>,
    /// Whether the store was locked.
    pub locked: bool,
}

impl<'a> Batch<'a> {
    /// A batch that has not run.
    pub fn new(executor: &'a Executor, members: &'a [Member<'a>]) -> Self {
        Batch { executor, members, results: members.iter().map(|_| None).collect() }
    }

    /// Evaluates the operations one after the other, each on what those before it wrote, and commits.
    pub fn run(mut self) -> BatchResult {
        let executor = self.executor;
        let (done, locked) = match executor.records.store.lock() {
            Ok(Some(lock)) => (self.commit_locked(lock), true),
            Ok(None) => (self.commit_racing(), false),
            Err(error) => (Err(error), false),
        };
        if let Err(error) = done {
            for open in self.results.iter_mut().filter(|result| result.is_none()) {
                *open = Some(CommitResult::Settled(Err(BreakerError::Store(error.clone()))));
            }
        }
        let results = self.results.into_iter().map(|result| result.unwrap_or(CommitResult::Lost(None)));
        BatchResult { results: results.collect(), locked }
    }

    fn commit_locked(&mut self, mut lock: Box<dyn Locked + '_>) -> Result<(), StoreError> {
        let records = self.evaluate(|member| lock.load(self.executor.records.key(member.request)));
        let writes = self.writes(&records);
        if writes.is_empty() {
            return Ok(());
        }
        let outcomes = lock.commit(&writes)?;
        drop(writes);
        // No answer is given before its write is durable, whatever the store's lock promises.
        lock.finish()?;
        self.settle(records, outcomes);
        Ok(())
    }

    fn commit_racing(&mut self) -> Result<(), StoreError> {
        let (executor, members) = (self.executor, self.members);
        let mut records = self.evaluate(|member| {
            // The newest that any member has seen: the commit says whether it still holds.
            let same = members.iter().filter(|other| other.request.dependency == member.request.dependency);
            match same.filter_map(|other| other.snapshot.as_ref()).max_by_key(|seen| (seen.version, seen.at)) {
                Some(snapshot) => Ok(snapshot.clone()),
                None => executor.records.load(member.request),
            }
        });
        // A second write of one record rests on the first, which may lose its race, and each is judged for itself.
        records.iter_mut().for_each(|(_, record)| record.writes.truncate(1));
        records.retain(|(_, record)| !record.writes.is_empty());
        let mut records = records.into_iter().peekable();
        while records.peek().is_some() {
            let part: Vec<_> = records.by_ref().take(executor.records.store.max_records().max(1)).collect();
            let outcomes = executor.records.store.commit(&self.writes(&part))?;
            self.settle(part, outcomes);
        }
        Ok(())
    }

    /// Evaluates all members. Those that fail, and those that rest on no write, are settled by it.
    fn evaluate(
        &mut self,
        mut load: impl FnMut(&Member<'a>) -> Result<Snapshot, StoreError>,
    ) -> Vec<(&'a Request, BatchRecord)> {
        let mut records: Vec<(&Request, BatchRecord)> = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            let request = member.request;
            let known = records.iter().position(|(other, _)| other.dependency == request.dependency);
            let at = match known {
                Some(at) => at,
                None => match load(member) {
                    Ok(snapshot) => {
                        records.push((request, BatchRecord::new(snapshot)));
                        records.len() - 1
                    }
                    Err(error) => {
                        self.results[index] = Some(CommitResult::Settled(Err(error.into())));
                        continue;
                    }
                },
            };
            let record = &mut records[at].1;
            let evaluation = self.executor.evaluate(request, &record.snapshot);
            let settled = evaluation.and_then(|evaluation| Ok(record.add(index, evaluation)?)).transpose();
            self.results[index] = settled.map(CommitResult::Settled);
        }
        records
    }

    fn writes<'b>(&self, records: &'b [(&'b Request, BatchRecord)]) -> Vec<Write<'b>>
    where
        'a: 'b,
    {
        let (namespace, history) = (&*self.executor.records.namespace, self.executor.records.history);
        let of_record = |(request, record): &'b (&'b Request, BatchRecord)| {
            let key = Key { namespace, dependency: &request.dependency };
            record.writes.iter().map(move |write| write.as_write(key, history))
        };
        records.iter().flat_map(of_record).collect()
    }

    /// Settles the members whose writes are done; the others have lost their race.
    fn settle(&mut self, records: Vec<(&Request, BatchRecord)>, outcomes: Vec<CommitOutcome>) {
        let writes = records.into_iter().flat_map(|(_, record)| record.writes);
        for (write, outcome) in writes.zip(outcomes) {
            for (index, settled) in write.waiters {
                self.results[index] = Some(match &outcome {
                    CommitOutcome::Committed => CommitResult::Settled(Ok(settled)),
                    CommitOutcome::Stale(present) => CommitResult::Lost(Some(present.clone())),
                });
            }
        }
    }
}
