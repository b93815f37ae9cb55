use halfopen_contract::engine::{Input, ProposedWrite};
use halfopen_guest::contract::{CommitOutcome, Snapshot, StorageError};
use halfopen_guest::step::Ports;

/// The functions that an operation imports: they show the snapshot, and hold what is committed. The rules load once and
/// commit at most once, based on what they have loaded: so no commit is stale.
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
}

impl Ports for RecordPorts<'_> {
    fn load(&mut self, _: &str) -> Result<Snapshot, StorageError> {
        let snapshot = self.input.snapshot;
        Ok(Snapshot { version: snapshot.version, data: snapshot.data.clone() })
    }

    fn commit(
        &mut self,
        _: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[String],
    ) -> Result<CommitOutcome, StorageError> {
        self.write =
            Some(ProposedWrite { commits: 1, data: data.map(<[u8]>::to_vec), transitions: transitions.to_vec() });
        Ok(CommitOutcome::Committed(based_on.saturating_add(1)))
    }

    fn now(&mut self) -> u64 {
        self.input.now
    }

    fn next(&mut self) -> u64 {
        self.input.entropy.next()
    }
}
