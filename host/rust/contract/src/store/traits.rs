use std::time::Duration;

use super::{CommitOutcome, Cursor, Key, Page, Place, Snapshot, StoreError, Write};

/// The place of the records.
///
/// # Obligations
///
/// 1. **A load returns the last commit** of any process, from the moment that commit returned: never an older state.
/// 2. **A commit compares and sets.** A [`Write`] is done only while its `based_on` is the version of the record;
///    otherwise it is [`Stale`](CommitOutcome::Stale) with the record as it is. Of any number of concurrent writes on one
///    version exactly one is done.
/// 3. **Writes of one commit** are evaluated in order, each for itself; a later one sees the result of an earlier one.
///    Record and transitions of a write become visible together.
/// 4. **A commit stays**, through a crash of the process (and of the machine, unless the store's documentation says
///    otherwise). On an error none of the writes is done. A commit whose acknowledgement was lost is resolved by reading
///    back; where that is not possible in time, the error is [`InDoubt`](StoreError::InDoubt), never a guess.
/// 5. **Versions never repeat** for a pair, not even after the record was removed, alone or with its namespace. A missing
///    record has the highest version that it ever had, or a higher one; 0 in a namespace that was never written.
/// 6. **Pairs stay apart.** Namespace and dependency are compared byte for byte and never joined: two pairs that differ in
///    any byte of either are two records, whatever characters they hold. A removal changes no other record's version, also
///    where that record is missing.
/// 7. **History** is in order, holds the newest transitions, at most as many as the last write allows, and goes when the
///    record is removed. The transitions of a removal are in no history. The stream of the namespace shows them until
///    [`FORGOTTEN`](super::FORGOTTEN) newer ones have come or the namespace is removed, also when the record is written
///    again.
/// 8. **Failures are typed.** A store never panics, whatever it finds, and reports each failure as a [`StoreError`].
pub trait Store: Send + Sync + 'static {
    /// Reads a record.
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError>;

    /// Does each of the writes whose record has the version it is based on; the outcomes are in the order of the writes.
    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError>;

    /// A lock that keeps other writers out, where the store has one: operations that would otherwise lose a race load and
    /// commit inside, and then [`finish`](Locked::finish).
    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        Ok(None)
    }

    /// The number of different records in one [`commit`](Store::commit), at most; at least 1. Unbounded by default.
    fn max_records(&self) -> usize {
        usize::MAX
    }

    /// The largest difference between the clocks that [`Snapshot::at`] is read from, where there are several; none where
    /// all processes read one clock. A host refuses leases shorter than twice that.
    fn max_skew(&self) -> Option<Duration> {
        None
    }

    /// The dependencies of a namespace that have a record, sorted by their bytes.
    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError>;

    /// The namespaces that have a record, sorted by their bytes.
    ///
    /// # Errors
    /// [`StoreError::Other`] from a store that does not list them, as by default.
    fn namespaces(&self) -> Result<Vec<String>, StoreError> {
        Err(Place("in use".to_owned()).other("it does not list its namespaces"))
    }

    /// The newest transitions of a record, at most `limit`, oldest first.
    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError>;

    /// The transitions of a namespace after a position, at most `limit`, in the order of their commits. Transitions that
    /// have left the history since are left out. No transition becomes visible before a position that was returned: a
    /// reader that goes from page to page, while others write, misses none.
    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError>;

    /// Removes all records of a namespace, with their history, and the transitions of removals.
    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError>;

    /// Drops the versions of removed records, all but the [`REMOVED`](super::REMOVED) highest of the namespace, where the
    /// store keeps one for each record. Each missing record without a version of its own then has the highest that was
    /// dropped.
    fn compact(&self, _namespace: &str) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A store that is locked against other writers. Dropped without [`finish`](Locked::finish), it discards its commits.
pub trait Locked {
    /// Reads a record, with the commits inside the lock.
    fn load(&mut self, key: Key<'_>) -> Result<Snapshot, StoreError>;

    /// Like [`Store::commit`], but durable and visible outside only after [`finish`](Locked::finish).
    fn commit(&mut self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError>;

    /// Makes the commits inside durable and ends the lock. On an error none of them is done.
    fn finish(self: Box<Self>) -> Result<(), StoreError>;
}
