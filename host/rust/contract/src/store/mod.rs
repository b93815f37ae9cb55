//! The trait [`Store`], and the store in memory.
//!
//! A store knows nothing of breakers. It keeps a record of bytes for a pair of namespace and dependency, replaces it by
//! compare-and-set, and keeps the transitions that came with it. What it owes its callers is written at [`Store`], and the
//! suite in [`conformance`](crate::conformance) (feature `conformance`) checks any store against it.
//!
//! # A store of your own
//!
//! 1. See whether the engine qualifies. It needs a compare-and-set (or transactions) on one record, reads that show what was
//!    last committed, and records that stay until they are removed. An eventually consistent key-value store (Workers KV is
//!    the known example), a cache that evicts, or an engine that acknowledges writes it may lose must not hold leases: two
//!    callers would probe at once, or a trip would be forgotten.
//! 2. Implement [`Store`]. `load` and `commit` are the heart; where the engine can lock other writers out cheaply, lend that as
//!    [`Store::lock`], and operations that would lose a race wait instead. Where the engine has a clock of its own, give it
//!    with each load ([`Snapshot::at`]), and all hosts go by it.
//! 3. Keep the version of what was removed: for each pair, or one for its namespace, as [`Store::compact`] says.
//! 4. Give each failure its [`StoreError`], with what was wrong, where, and what to do. Bound every wait. Never guess whether
//!    a commit was done: read back.
//! 5. Let [`conformance::check`](crate::conformance::check) judge it, with a closure that opens it anew each time, as
//!    another process would; it names each obligation that is not met. `examples/swap_store.rs` does so in 50 lines.
//! 6. Hand it over: `HostBuilder::store` of crate `halfopen`.

mod error;
mod memory;

use std::time::Duration;

pub use error::StoreError;
pub use memory::MemoryStore;

/// The newest transitions of removed records that the stream of a namespace keeps, at most.
pub const FORGOTTEN: usize = 1_000;

/// The namespace and the dependency of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    /// The namespace. Any text.
    pub namespace: &'a str,
    /// The dependency. Any text: the component judges names, a store does not.
    pub dependency: &'a str,
}

/// A record at a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Its version. That of a missing record is the highest ever given for it, or higher; 0 in a namespace that was
    /// never written.
    pub version: u64,
    /// Its bytes; none where it is missing.
    pub data: Option<Vec<u8>>,
    /// The store's own clock at the load, in ms since the Unix epoch; none where the store has no clock.
    pub at: Option<u64>,
}

/// A compare-and-set.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// Which record.
    pub key: Key<'a>,
    /// The version that it must have.
    pub based_on: u64,
    /// The version that it gets; above `based_on`.
    pub version: u64,
    /// Its new bytes; none removes it, and its history with it, and keeps the version.
    pub data: Option<&'a [u8]>,
    /// What is added to its history, in order: JSON texts that a store keeps unread. Those of a removal are shown by the
    /// stream of the namespace alone, which keeps the newest [`FORGOTTEN`] of them.
    pub transitions: &'a [String],
    /// How many transitions of the record to keep at most: the newest.
    pub history: usize,
}

/// What a [`Write`] came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// It is done.
    Committed,
    /// Another has written since: the record as it is now. Nothing of this write was done.
    Stale(Snapshot),
}

/// A position in the stream of transitions of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cursor {
    /// Before the oldest that is kept.
    Start,
    /// After the newest there is at this moment.
    End,
    /// Where a page ended; the number is the store's own.
    After(u64),
}

/// A transition and the dependency whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The dependency.
    pub dependency: String,
    /// The transition, as JSON.
    pub transition: String,
}

/// Some transitions of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// In the order in which they were committed.
    pub transitions: Vec<Observed>,
    /// Where the next page begins; always a [`Cursor::After`].
    pub next: Cursor,
}

/// Where the records are.
///
/// # Obligations
///
/// 1. **A load shows what was last committed**, by whomever, from the moment that commit returned: never an older state.
/// 2. **A commit compares and sets.** A [`Write`] is done only while its `based_on` is the version of the record;
///    otherwise it is [`Stale`](CommitOutcome::Stale) with the record as it is. Of any number of concurrent writes on one
///    version exactly one is done.
/// 3. **Writes of one commit** are judged in order, each for itself; a later one sees what an earlier one did. Record and
///    transitions of a write become visible together.
/// 4. **What was committed stays**, through a crash of the process (and of the machine, unless the store says otherwise).
///    On an error none of the writes is done. A commit whose acknowledgement was lost is resolved by reading back; where
///    that cannot be had in time it is [`InDoubt`](StoreError::InDoubt), and never a guess.
/// 5. **Versions never repeat** for a pair, not even after it was removed, alone or with its namespace. A missing record
///    has the highest version ever given for it, or a higher one; 0 in a namespace that was never written.
/// 6. **Pairs stay apart.** Namespace and dependency are compared byte for byte and never joined: any two pairs that
///    differ in any byte of either are two records, whatever characters they hold.
/// 7. **History** is in order, holds the newest transitions, as many as the last write said, and goes when the record is
///    removed. The transitions of a removal are in the stream of the namespace and in no history.
/// 8. **Failing is typed.** A store never panics, whatever it finds, and reports each failure as a [`StoreError`].
pub trait Store: Send + Sync + 'static {
    /// Reads a record.
    ///
    /// # Errors
    /// Those of the store.
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError>;

    /// Does each of the writes whose record has the version it is based on; the outcomes are in the order of the writes.
    ///
    /// # Errors
    /// Those of the store; then none of the writes is done.
    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError>;

    /// Locks other writers out, where the store can: operations that would otherwise lose a race do their loads and
    /// commits inside, and then [`finish`](Locked::finish).
    ///
    /// # Errors
    /// Those of the store, a lock that could not be had in time among them.
    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        Ok(None)
    }

    /// How many records the writes of one [`commit`](Store::commit) may speak of at most; at least 1. Unbounded unless a
    /// store says otherwise.
    fn max_records(&self) -> usize {
        usize::MAX
    }

    /// How far the clocks that [`Snapshot::at`] is read from may be apart, where there is more than one; none where all
    /// processes read one clock. A host then refuses leases shorter than twice that.
    fn max_skew(&self) -> Option<Duration> {
        None
    }

    /// The dependencies of a namespace that have a record, sorted by their bytes.
    ///
    /// # Errors
    /// Those of the store.
    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError>;

    /// The newest transitions of a record, at most `limit`, oldest first.
    ///
    /// # Errors
    /// Those of the store.
    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError>;

    /// The transitions of a namespace after a position, at most `limit`, in the order of their commits. Those that have
    /// left the history since are left out. Once a position was given out, nothing comes to be seen before it: who reads on
    /// from page to page, while others write, passes none by.
    ///
    /// # Errors
    /// Those of the store.
    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError>;

    /// Removes all records of a namespace, with their history.
    ///
    /// # Errors
    /// Those of the store.
    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError>;

    /// Drops what is kept of removed records, where the store keeps anything of each. From then on whatever is missing in
    /// the namespace has a version that is as high as any of theirs, or higher. A store that keeps nothing of each has
    /// nothing to do.
    ///
    /// # Errors
    /// Those of the store.
    fn compact(&self, _namespace: &str) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A store that is locked against other writers. Dropped without [`finish`](Locked::finish), nothing is done.
pub trait Locked {
    /// Reads a record, with what was committed inside.
    ///
    /// # Errors
    /// Those of the store.
    fn load(&mut self, key: Key<'_>) -> Result<Snapshot, StoreError>;

    /// Like [`Store::commit`], but durable and visible to others only after [`finish`](Locked::finish).
    ///
    /// # Errors
    /// Those of the store.
    fn commit(&mut self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError>;

    /// Makes what was committed inside durable and ends the lock.
    ///
    /// # Errors
    /// Those of the store; then nothing of it is done.
    fn finish(self: Box<Self>) -> Result<(), StoreError>;
}

impl<S: Store + ?Sized> Store for std::sync::Arc<S> {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        (**self).load(key)
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        (**self).commit(writes)
    }

    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        (**self).lock()
    }

    fn max_records(&self) -> usize {
        (**self).max_records()
    }

    fn max_skew(&self) -> Option<Duration> {
        (**self).max_skew()
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        (**self).list(namespace)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        (**self).history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        (**self).transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        (**self).remove_namespace(namespace)
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        (**self).compact(namespace)
    }
}
