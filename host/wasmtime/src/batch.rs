//! Runs a batch of operations and makes what they wrote durable in one commit.

use std::time::Duration;

use crate::draft::{Draft, Held};
use crate::error::BreakerError;
use crate::instance::{Change, Ran};
use crate::op::{Answer, Op};
use crate::pool::{Loan, Pool};
use crate::store::{CommitOutcome, Key, Locked, Snapshot, Store, StoreError, Write};

/// How often a batch is run again where the store cannot lock others out. Of those who race, one wins each time.
const ROUNDS: u32 = 24;

pub(crate) type Settled = Result<Held, BreakerError>;

/// What operations run on.
pub(crate) struct Ground<'a> {
    pub store: &'a dyn Store,
    pub pool: &'a Pool,
    pub namespace: &'a str,
    pub history: usize,
}

/// What an operation came to on a plain look at the store.
pub(crate) enum Tried {
    /// It is settled: it wrote nothing, or failed.
    Settled(Settled),
    /// It wants to write.
    Wants(Wanted),
}

/// What an operation wants to write, and its answer once that is done.
pub(crate) struct Wanted {
    based_on: u64,
    change: Change,
    answer: Answer,
}

impl<'a> Ground<'a> {
    fn key<'b>(&'b self, op: &'b Op) -> Key<'b> {
        Key { namespace: self.namespace, dependency: &op.dependency }
    }

    /// A plain look at the record of an operation.
    pub fn look(&self, op: &Op) -> Result<Snapshot, StoreError> {
        self.store.load(self.key(op))
    }

    /// Runs an operation on a look at its record. Most write nothing and end here.
    pub fn attempt(&self, op: &Op, view: &Snapshot) -> Tried {
        let ran = match self.pool.lend() {
            Ok(mut loan) => loan.run(op, view),
            Err(fault) => Ran::Fault(fault),
        };
        match ran {
            Ran::Refused(error) => Tried::Settled(Err(op.explain(error))),
            Ran::Fault(fault) => Tried::Settled(Err(fault.into())),
            Ran::Done(answer, None) => {
                Tried::Settled(Ok(Held { answer, transitions: Vec::new(), version: view.version }))
            }
            Ran::Done(answer, Some(change)) => Tried::Wants(Wanted { based_on: view.version, change, answer }),
        }
    }

    /// Writes what one operation wants, if nobody has written since it looked; otherwise it is none.
    pub fn write(&self, op: &Op, wanted: Wanted) -> Option<Settled> {
        let Wanted { based_on, change, answer } = wanted;
        let write = Write {
            key: self.key(op),
            based_on,
            version: based_on + change.commits,
            data: change.data.as_deref(),
            transitions: &change.transitions,
            history: self.history,
        };
        match self.store.commit(&[write]) {
            Ok(outcomes) if outcomes == [CommitOutcome::Committed] => {
                Some(Ok(Held { answer, transitions: change.transitions, version: based_on + change.commits }))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error.into())),
        }
    }

    /// Runs operations one after the other, each on what those before it wrote, and commits.
    pub fn run(&self, ops: &[&Op]) -> Vec<Settled> {
        let mut settled: Vec<Option<Settled>> = ops.iter().map(|_| None).collect();
        // An instance first: nobody waits for one with the store locked.
        match self.pool.lend() {
            Ok(mut loan) => self.rounds(ops, &mut loan, &mut settled),
            Err(fault) => fail(&mut settled, &fault.into()),
        }
        let contended = |op: &&Op| Err(BreakerError::Contended { dependency: op.dependency.to_string() });
        settled.into_iter().zip(ops).map(|(settled, op)| settled.unwrap_or_else(|| contended(op))).collect()
    }

    fn rounds(&self, ops: &[&Op], loan: &mut Loan<'_>, settled: &mut [Option<Settled>]) {
        for round in 0..ROUNDS {
            let result = match self.store.lock() {
                Ok(Some(locked)) => self.locked(ops, loan, settled, locked),
                Ok(None) => self.racing(ops, loan, settled),
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                fail(settled, &error.into());
            }
            if settled.iter().all(Option::is_some) {
                return;
            }
            std::thread::sleep(Duration::from_micros(fastrand::u64(..100 * u64::from(round + 1))));
        }
    }

    fn locked(
        &self,
        ops: &[&Op],
        loan: &mut Loan<'_>,
        settled: &mut [Option<Settled>],
        mut locked: Box<dyn Locked + '_>,
    ) -> Result<(), StoreError> {
        let drafts = self.drafts(ops, loan, settled, |key| locked.load(key));
        let writes = self.writes(&drafts);
        if writes.is_empty() {
            return Ok(());
        }
        let outcomes = locked.commit(&writes)?;
        drop(writes);
        // Also where a store's lock does not hold what it promises, nothing is answered that was not written.
        locked.finish()?;
        settle(drafts, outcomes, settled);
        Ok(())
    }

    fn racing(&self, ops: &[&Op], loan: &mut Loan<'_>, settled: &mut [Option<Settled>]) -> Result<(), StoreError> {
        let drafts = self.drafts(ops, loan, settled, |key| self.store.load(key));
        let writes = self.writes(&drafts);
        if writes.is_empty() {
            return Ok(());
        }
        let outcomes = self.store.commit(&writes)?;
        drop(writes);
        settle(drafts, outcomes, settled);
        Ok(())
    }

    /// Runs all that is not settled yet. What failed, and what rests on nothing unwritten, is settled then.
    fn drafts<'b>(
        &self,
        ops: &[&'b Op],
        loan: &mut Loan<'_>,
        settled: &mut [Option<Settled>],
        mut load: impl FnMut(Key<'_>) -> Result<Snapshot, StoreError>,
    ) -> Vec<(&'b Op, Draft)> {
        let mut drafts: Vec<(&Op, Draft)> = Vec::new();
        for (place, op) in ops.iter().enumerate().filter(|(place, _)| settled[*place].is_none()).collect::<Vec<_>>() {
            let known = drafts.iter().position(|(other, _)| other.dependency == op.dependency);
            let index = match known {
                Some(index) => index,
                None => match load(self.key(op)) {
                    Ok(base) => {
                        drafts.push((op, Draft::new(base)));
                        drafts.len() - 1
                    }
                    Err(error) => {
                        settled[place] = Some(Err(error.into()));
                        continue;
                    }
                },
            };
            let draft = &mut drafts[index].1;
            settled[place] = match loan.run(op, &draft.view) {
                Ran::Done(answer, change) => draft.take(place, answer, change).map(Ok),
                Ran::Refused(error) => Some(Err(op.explain(error))),
                Ran::Fault(fault) => Some(Err(fault.into())),
            };
        }
        drafts
    }

    fn writes<'b>(&'b self, drafts: &'b [(&Op, Draft)]) -> Vec<Write<'b>> {
        let of_draft = |(op, draft): &'b (&Op, Draft)| {
            draft.writes.iter().map(move |pending| pending.write(self.key(op), self.history))
        };
        drafts.iter().flat_map(of_draft).collect()
    }
}

/// Settles what was written; what lost its race stays open for the next round.
fn settle(drafts: Vec<(&Op, Draft)>, outcomes: Vec<CommitOutcome>, settled: &mut [Option<Settled>]) {
    let pending = drafts.into_iter().flat_map(|(_, draft)| draft.writes);
    for (pending, outcome) in pending.zip(outcomes) {
        if outcome == CommitOutcome::Committed {
            for (place, held) in pending.riders {
                settled[place] = Some(Ok(held));
            }
        }
    }
}

fn fail(settled: &mut [Option<Settled>], error: &BreakerError) {
    for open in settled.iter_mut().filter(|settled| settled.is_none()) {
        *open = Some(Err(error.clone()));
    }
}
