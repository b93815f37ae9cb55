//! A suite that checks any [`Store`](crate::store::Store) against its obligations.
//!
//! Each [`Obligation`] has a name and a check; a check that fails says what it saw and what it expected. The suite works in
//! namespaces of its own, with random names, and removes them afterwards, so it may run on a store that is in use.
//!
//! ```
//! use std::sync::Arc;
//! use halfopen_contract::conformance;
//! use halfopen_contract::store::{MemoryStore, Store};
//!
//! let store = Arc::new(MemoryStore::new());
//! // Called often: each call opens the same data, as another process would.
//! let open = || -> Arc<dyn Store> { store.clone() };
//! assert_eq!(conformance::check(&open), []);
//! ```

mod concurrency;
mod history;
mod lock;
mod names;
mod records;
mod stream;
mod subject;
mod versions;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use self::subject::Open;
use self::subject::{Checked, Subject};

/// An obligation of a store.
#[derive(Clone, Copy, Debug)]
pub struct Obligation {
    /// The name.
    pub name: &'static str,
    check: fn(&Subject<'_>) -> Checked,
}

/// An obligation that a store does not meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{obligation}: {what}")]
pub struct Broken {
    /// The name of the obligation.
    pub obligation: &'static str,
    /// What the check saw, and what it expected.
    pub what: String,
}

fn obligation(name: &'static str, check: fn(&Subject<'_>) -> Checked) -> Obligation {
    Obligation { name, check }
}

/// All obligations. The last waits for some seconds.
pub fn obligations() -> Vec<Obligation> {
    vec![
        obligation("a load returns the last commit, also after reopening", records::last_commit),
        obligation("data comes back byte for byte", records::bytes),
        obligation("a stale write changes nothing and returns the record", records::stale),
        obligation("each write of a commit is evaluated for itself, in order", records::several),
        obligation("a version may rise by more than one", versions::leaps),
        obligation("versions go on after a removal", versions::removal),
        obligation("a removal leaves the versions of other records alone", versions::others),
        obligation("versions go on after compaction", versions::compaction),
        obligation("versions go on after a namespace is removed", versions::namespace_removal),
        obligation("namespace and dependency are never joined", names::joined),
        obligation("names are compared byte for byte", names::byte_for_byte),
        obligation("a list holds the records of its namespace, sorted by bytes", names::list),
        obligation("history is in order and comes back as it was written", history::order),
        obligation("history keeps the newest transitions", history::bound),
        obligation("a removal removes the history", history::removal),
        obligation("the stream shows each transition once, in commit order", stream::once),
        obligation("a position outlives the transitions before it, and reopening", stream::position),
        obligation("transitions of a removal are in the stream alone", stream::forgotten),
        obligation("the stream keeps the newest transitions of removals", stream::forgotten_bound),
        obligation("a reader of the stream misses no transition", stream::while_written),
        obligation("a lock shows its writes outside once finished, and never if dropped", lock::finished_or_dropped),
        obligation("a lock keeps other writers out", lock::excludes),
        obligation("of concurrent writes on one version exactly one is done", concurrency::one_wins),
        obligation("no acknowledged write is lost", concurrency::nothing_lost),
        obligation("a commit is visible whole or not at all", concurrency::whole),
        obligation("an untouched record stays", records::untouched),
    ]
}

/// Checks a store against all obligations; returns those that it does not meet. Takes some seconds: one obligation is
/// that a record stays while no caller uses it.
pub fn check(open: &Open<'_>) -> Vec<Broken> {
    obligations().iter().filter_map(|obligation| obligation.check(open).err()).collect()
}

impl Obligation {
    /// Checks a store against this obligation.
    ///
    /// # Errors
    /// [`Broken`]: what the check saw, and what it expected.
    pub fn check(&self, open: &Open<'_>) -> Result<(), Broken> {
        let subject = Subject::new(open);
        let result = catch_unwind(AssertUnwindSafe(|| (self.check)(&subject)));
        let _ = catch_unwind(AssertUnwindSafe(|| subject.clean_up()));
        let what = match result {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(failure)) => failure.to_string(),
            Err(_) => "the store panicked; it owes a StoreError".to_owned(),
        };
        Err(Broken { obligation: self.name, what })
    }
}

#[cfg(test)]
mod tests;
