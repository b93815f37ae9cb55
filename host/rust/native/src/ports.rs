use halfopen_contract::engine::{Input, ProposedWrite};
use halfopen_guest::contract::{CommitOutcome, Snapshot, StorageError};
use halfopen_guest::step::Ports;

/// The functions that an operation imports: they show the snapshot, and hold what is committed.
pub struct RecordPorts<'a> {
    input: &'a Input<'a>,
    write: Option<ProposedWrite>,
}

impl<'a> RecordPorts<'a> {
    pub fn new(input: &'a Input<'a>) -> Self {
        RecordPorts { input, write: None }
    }

    /// What the operation committed.
    pub fn into_write(self) -> Option<ProposedWrite> {
        self.write
    }

    /// The record, with what was committed so far.
    fn snapshot(&self) -> Snapshot {
        let (commits, data) = match &self.write {
            Some(write) => (write.commits, &write.data),
            None => (0, &self.input.snapshot.data),
        };
        Snapshot { version: self.input.snapshot.version.saturating_add(commits), data: data.clone() }
    }
}

impl Ports for RecordPorts<'_> {
    fn load(&mut self, _: &str) -> Result<Snapshot, StorageError> {
        Ok(self.snapshot())
    }

    fn commit(
        &mut self,
        _: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[String],
    ) -> Result<CommitOutcome, StorageError> {
        let present = self.snapshot();
        if based_on != present.version {
            return Ok(CommitOutcome::Stale(present));
        }
        if self.write.as_ref().is_some_and(|write| write.data.is_none()) {
            // A removal takes the history with it: one write cannot remove a record and add to its history.
            return Err(StorageError::Denied("an operation that has removed its record writes no more".to_owned()));
        }
        let write = self.write.get_or_insert_default();
        write.commits += 1;
        write.data = data.map(<[u8]>::to_vec);
        write.transitions.extend_from_slice(transitions);
        Ok(CommitOutcome::Committed(based_on.saturating_add(1)))
    }

    fn now(&mut self) -> u64 {
        self.input.now
    }

    fn next(&mut self) -> u64 {
        self.input.entropy.next()
    }
}
