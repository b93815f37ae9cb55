//! Runs a batch of operations and makes what they wrote durable in one commit.

use crate::draft::{Draft, Held};
use crate::error::BreakerError;
use crate::imports::Change;
use crate::instance::Ran;
use crate::least_lease::LeastLease;
use crate::op::{Answer, Op};
use crate::pool::{Loan, Pool};
use crate::store::{CommitOutcome, Key, Locked, Snapshot, Store, StoreError, Write};

pub(crate) type Settled = Result<Held, BreakerError>;

/// What operations run on.
pub(crate) struct Ground<'a> {
    pub records: Records<'a>,
    pub pool: &'a Pool,
}

/// The records of a namespace.
#[derive(Clone, Copy)]
pub(crate) struct Records<'a> {
    pub store: &'a dyn Store,
    pub namespace: &'a str,
    pub history: usize,
}

/// What an operation came to on a look at the record.
pub(crate) enum Tried {
    /// It is settled: it wrote nothing, or failed.
    Settled(Settled),
    /// It wants to write.
    Wants(Wanted),
}

/// What an operation wants to write, the record that it decided on, and its answer once that is done.
pub(crate) struct Wanted {
    pub view: Snapshot,
    change: Change,
    answer: Answer,
}

/// What became of what an operation wanted to write.
pub(crate) enum CameTo {
    /// It is settled.
    Settled(Settled),
    /// Nothing: others have written since it looked. The record as it is now, where that is known.
    Lost(Option<Snapshot>),
}

/// An operation of a batch, and the last look at its record.
pub(crate) struct Asked<'a> {
    pub op: &'a Op,
    pub view: Option<Snapshot>,
}

/// What became of a batch.
pub(crate) struct Done {
    /// In the order of the operations.
    pub came_to: Vec<CameTo>,
    /// Whether the store kept others out.
    pub locked: bool,
}

impl<'a> Records<'a> {
    fn key<'b>(&'b self, op: &'b Op) -> Key<'b> {
        Key { namespace: self.namespace, dependency: &op.dependency }
    }

    /// Asked each time: a store that is opened later says it later.
    fn judge(&self, op: &Op, ran: Ran) -> Ran {
        LeastLease::on(self.store).judge(op, ran)
    }

    /// A plain look at the record of an operation.
    pub fn look(&self, op: &Op) -> Result<Snapshot, StoreError> {
        self.store.load(self.key(op))
    }

    /// What an operation that ran on a view of its record comes to. Most write nothing and end here.
    pub fn weigh(&self, op: &Op, view: &Snapshot, ran: Ran) -> Tried {
        match self.judge(op, ran) {
            Ran::Refused(error) => Tried::Settled(Err(op.explain(error))),
            Ran::Fault(fault) => Tried::Settled(Err(fault.into())),
            Ran::Done(answer, None) => {
                Tried::Settled(Ok(Held { answer, transitions: Vec::new(), version: view.version }))
            }
            Ran::Done(answer, Some(change)) => Tried::Wants(Wanted { view: view.clone(), change, answer }),
        }
    }

    /// Writes what one operation wants, if nobody has written since it looked.
    pub fn write(&self, op: &Op, wanted: Wanted) -> CameTo {
        let Wanted { view, change, answer } = wanted;
        let write = Write {
            key: self.key(op),
            based_on: view.version,
            version: view.version + change.commits,
            data: change.data.as_deref(),
            transitions: &change.transitions,
            history: self.history,
        };
        match self.store.commit(&[write]).map(|mut outcomes| outcomes.pop()) {
            Ok(Some(CommitOutcome::Committed)) => {
                let version = view.version + change.commits;
                CameTo::Settled(Ok(Held { answer, transitions: change.transitions, version }))
            }
            Ok(Some(CommitOutcome::Stale(present))) => CameTo::Lost(Some(present)),
            Ok(None) => CameTo::Lost(None),
            Err(error) => CameTo::Settled(Err(error.into())),
        }
    }
}

impl Ground<'_> {
    /// Runs an operation on the record as it is known to be.
    pub fn decide(&self, op: &Op, view: &Snapshot) -> Tried {
        let ran = match self.pool.lend() {
            Ok(mut loan) => loan.run(op, view),
            Err(fault) => Ran::Fault(fault),
        };
        self.records.weigh(op, view, ran)
    }

    /// Runs operations one after the other, each on what those before it wrote, and commits.
    pub fn run(&self, batch: &[Asked<'_>]) -> Done {
        let mut came_to: Vec<Option<CameTo>> = batch.iter().map(|_| None).collect();
        let mut locked = false;
        // An instance first: nobody waits for one with the store locked.
        match self.pool.lend() {
            Ok(mut loan) => {
                let result = match self.records.store.lock() {
                    Ok(Some(lock)) => {
                        locked = true;
                        self.locked(batch, &mut loan, &mut came_to, lock)
                    }
                    Ok(None) => self.racing(batch, &mut loan, &mut came_to),
                    Err(error) => Err(error),
                };
                if let Err(error) = result {
                    fail(&mut came_to, &error.into());
                }
            }
            Err(fault) => fail(&mut came_to, &fault.into()),
        }
        Done { came_to: came_to.into_iter().map(|came_to| came_to.unwrap_or(CameTo::Lost(None))).collect(), locked }
    }

    fn locked(
        &self,
        batch: &[Asked<'_>],
        loan: &mut Loan<'_>,
        came_to: &mut [Option<CameTo>],
        mut locked: Box<dyn Locked + '_>,
    ) -> Result<(), StoreError> {
        let drafts = self.drafts(batch, loan, came_to, |asked| locked.load(self.records.key(asked.op)));
        let writes = self.writes(&drafts);
        if writes.is_empty() {
            return Ok(());
        }
        let outcomes = locked.commit(&writes)?;
        drop(writes);
        // Also where a store's lock does not hold what it promises, nothing is answered that was not written.
        locked.finish()?;
        settle(drafts, outcomes, came_to);
        Ok(())
    }

    fn racing(
        &self,
        batch: &[Asked<'_>],
        loan: &mut Loan<'_>,
        came_to: &mut [Option<CameTo>],
    ) -> Result<(), StoreError> {
        let mut drafts = self.drafts(batch, loan, came_to, |asked| {
            // The newest that anyone has seen: the commit says whether it still holds.
            let views = batch.iter().filter(|other| other.op.dependency == asked.op.dependency);
            match views.filter_map(|other| other.view.as_ref()).max_by_key(|view| (view.version, view.at)) {
                Some(view) => Ok(view.clone()),
                None => self.records.store.load(self.records.key(asked.op)),
            }
        });
        // A second write of one record rests on the first, which may lose its race, and each is judged for itself.
        drafts.iter_mut().for_each(|(_, draft)| draft.writes.truncate(1));
        drafts.retain(|(_, draft)| !draft.writes.is_empty());
        let mut drafts = drafts.into_iter().peekable();
        while drafts.peek().is_some() {
            let part: Vec<_> = drafts.by_ref().take(self.records.store.max_records().max(1)).collect();
            let outcomes = self.records.store.commit(&self.writes(&part))?;
            settle(part, outcomes, came_to);
        }
        Ok(())
    }

    /// Runs all. What failed, and what rests on nothing unwritten, is settled then.
    fn drafts<'b>(
        &self,
        batch: &'b [Asked<'_>],
        loan: &mut Loan<'_>,
        came_to: &mut [Option<CameTo>],
        mut look: impl FnMut(&Asked<'_>) -> Result<Snapshot, StoreError>,
    ) -> Vec<(&'b Op, Draft)> {
        let mut drafts: Vec<(&Op, Draft)> = Vec::new();
        for (place, asked) in batch.iter().enumerate() {
            let op = asked.op;
            let known = drafts.iter().position(|(other, _)| other.dependency == op.dependency);
            let index = match known {
                Some(index) => index,
                None => match look(asked) {
                    Ok(base) => {
                        drafts.push((op, Draft::new(base)));
                        drafts.len() - 1
                    }
                    Err(error) => {
                        came_to[place] = Some(CameTo::Settled(Err(error.into())));
                        continue;
                    }
                },
            };
            let draft = &mut drafts[index].1;
            let settled = match self.records.judge(op, loan.run(op, &draft.view)) {
                Ran::Done(answer, change) => draft.take(place, answer, change).map(Ok),
                Ran::Refused(error) => Some(Err(op.explain(error))),
                Ran::Fault(fault) => Some(Err(fault.into())),
            };
            came_to[place] = settled.map(CameTo::Settled);
        }
        drafts
    }

    fn writes<'b>(&'b self, drafts: &'b [(&Op, Draft)]) -> Vec<Write<'b>> {
        let of_draft = |(op, draft): &'b (&Op, Draft)| {
            draft.writes.iter().map(move |pending| pending.write(self.records.key(op), self.records.history))
        };
        drafts.iter().flat_map(of_draft).collect()
    }
}

/// Settles what was written; the rest has lost its race.
fn settle(drafts: Vec<(&Op, Draft)>, outcomes: Vec<CommitOutcome>, came_to: &mut [Option<CameTo>]) {
    let pending = drafts.into_iter().flat_map(|(_, draft)| draft.writes);
    for (pending, outcome) in pending.zip(outcomes) {
        for (place, held) in pending.riders {
            came_to[place] = Some(match &outcome {
                CommitOutcome::Committed => CameTo::Settled(Ok(held)),
                CommitOutcome::Stale(present) => CameTo::Lost(Some(present.clone())),
            });
        }
    }
}

fn fail(came_to: &mut [Option<CameTo>], error: &BreakerError) {
    for open in came_to.iter_mut().filter(|came_to| came_to.is_none()) {
        *open = Some(CameTo::Settled(Err(error.clone())));
    }
}
