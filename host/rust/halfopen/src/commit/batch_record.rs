use halfopen_contract::cas::Settled;
use halfopen_contract::engine::Evaluation;
use halfopen_contract::store::{Key, Snapshot, StoreError, Write};

/// A record in the course of a batch: as the store has it, with what the batch writes on top.
pub(super) struct BatchRecord {
    /// The record as the next operation sees it.
    pub snapshot: Snapshot,
    pub writes: Vec<MergedWrite>,
}

/// The writes of operations on one record as one, and the operations whose answers rest on it.
pub(super) struct MergedWrite {
    based_on: u64,
    version: u64,
    data: Option<Vec<u8>>,
    transitions: Vec<String>,
    /// The index of each operation in the batch, and its result once the write is durable.
    pub waiters: Vec<(usize, Settled)>,
}

impl BatchRecord {
    /// A record that nothing was written to yet.
    pub fn new(snapshot: Snapshot) -> Self {
        BatchRecord { snapshot, writes: Vec::new() }
    }

    /// Adds an evaluation. The result comes back where it rests on no write; otherwise it waits for the write.
    pub fn add(&mut self, index: usize, evaluation: Evaluation) -> Result<Option<Settled>, StoreError> {
        let Evaluation { answer, write } = evaluation;
        let based_on = self.snapshot.version;
        let Some(write) = write else {
            let settled = Settled { answer, version: based_on, transitions: Vec::new() };
            let Some(last) = self.writes.last_mut() else { return Ok(Some(settled)) };
            last.waiters.push((index, settled));
            return Ok(None);
        };
        let version = based_on.checked_add(write.commits).ok_or_else(|| StoreError::Corrupt {
            place: "record".to_owned(),
            why: "the store gives it a version above which there is none".to_owned(),
        })?;
        self.snapshot.version = version;
        self.snapshot.data.clone_from(&write.data);
        let settled = Settled { answer, version, transitions: write.transitions.clone() };
        match self.writes.last_mut() {
            // A removal takes the history with it, so a write after it stands by itself.
            Some(last) if last.data.is_some() => {
                last.version = version;
                last.data = write.data;
                last.transitions.extend(write.transitions);
                last.waiters.push((index, settled));
            }
            _ => self.writes.push(MergedWrite {
                based_on,
                version,
                data: write.data,
                transitions: write.transitions,
                waiters: vec![(index, settled)],
            }),
        }
        Ok(None)
    }
}

impl MergedWrite {
    /// The write as a store takes it.
    pub fn as_write<'a>(&'a self, key: Key<'a>, history: usize) -> Write<'a> {
        Write {
            key,
            based_on: self.based_on,
            version: self.version,
            data: self.data.as_deref(),
            transitions: &self.transitions,
            history,
        }
    }
}

#[cfg(test)]
mod tests;
