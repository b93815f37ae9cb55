//! A suite that checks any [`Store`] against what it owes its callers.
//!
//! Each [`Obligation`] has a name and a check that fails with a message which says what was broken and how. The suite
//! works in namespaces of its own, with names drawn at random, and removes them afterwards, so it may be run on a store
//! that is in use.
//!
//! ```
//! use std::sync::Arc;
//! use halfopen::conformance;
//! use halfopen::store::{MemoryStore, Store};
//!
//! let store = Arc::new(MemoryStore::new());
//! // Called often: each time it gives a way to the same data, as another process would have it.
//! let open = || -> Arc<dyn Store> { store.clone() };
//! assert_eq!(conformance::check(&open), []);
//! ```

mod concurrency;
mod durability;
mod history;
mod names;
mod records;
mod stream;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::store::{CommitOutcome, Key, Snapshot, Store, StoreError, Write};
use crate::wire::{State, Transition, TransitionReason};

/// Opens a store anew: each time another way to the same data.
pub type Open<'a> = dyn Fn() -> Arc<dyn Store> + Sync + 'a;

/// One thing that a store owes its callers.
#[derive(Clone, Copy)]
pub struct Obligation {
    /// Its name.
    pub name: &'static str,
    check: fn(&Subject<'_>) -> Result<(), String>,
}

/// An obligation that a store does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The name of the obligation.
    pub obligation: &'static str,
    /// What was seen, and what should have been.
    pub what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.obligation, self.what)
    }
}

impl fmt::Debug for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Obligation").field(&self.name).finish()
    }
}

impl Obligation {
    /// Checks a store against this obligation.
    ///
    /// # Errors
    /// [`Broken`]: what was seen, and what should have been.
    pub fn check(&self, open: &Open<'_>) -> Result<(), Broken> {
        let subject =
            Subject { open, space: format!("conformance {:016x}", fastrand::u64(..)), used: AtomicBool::new(false) };
        let broken = |what| Broken { obligation: self.name, what };
        let result = catch_unwind(AssertUnwindSafe(|| (self.check)(&subject)))
            .unwrap_or_else(|_| Err("the store panicked; it owes a StoreError".to_owned()));
        if subject.used.load(Ordering::Relaxed) {
            let _ = catch_unwind(AssertUnwindSafe(|| subject.clean_up()));
        }
        result.map_err(broken)
    }
}

/// All obligations.
pub fn obligations() -> Vec<Obligation> {
    let mut all = at_once();
    all.push(durability::STAYS);
    all
}

fn at_once() -> Vec<Obligation> {
    [records::ALL, names::ALL, history::ALL, stream::ALL, concurrency::ALL, durability::ALL].concat()
}

/// Checks a store against all obligations; those that it does not meet. That takes some seconds: one of the obligations is
/// that a record stays while nobody touches it.
pub fn check(open: &Open<'_>) -> Vec<Broken> {
    thread::scope(|scope| {
        let stays = scope.spawn(|| durability::STAYS.check(open));
        let mut broken: Vec<Broken> = at_once().iter().filter_map(|obligation| obligation.check(open).err()).collect();
        broken.extend(stays.join().ok().and_then(Result::err));
        broken
    })
}

/// What a check works on.
struct Subject<'a> {
    open: &'a Open<'a>,
    space: String,
    used: AtomicBool,
}

impl Subject<'_> {
    fn open(&self) -> Arc<dyn Store> {
        (self.open)()
    }

    /// One of this check's own namespaces.
    fn space(&self) -> &str {
        self.used.store(true, Ordering::Relaxed);
        &self.space
    }

    fn key<'k>(&'k self, dependency: &'k str) -> Key<'k> {
        Key { namespace: self.space(), dependency }
    }

    fn clean_up(&self) {
        let store = self.open();
        for suffix in ["", ":b", " ", "2"] {
            let _ = store.remove_namespace(&format!("{}{suffix}", self.space));
        }
    }
}

/// A store's error where there should be none.
fn fine<T>(result: Result<T, StoreError>) -> Result<T, String> {
    result.map_err(|error| format!("it failed: {error}"))
}

fn load(store: &dyn Store, key: Key<'_>) -> Result<Snapshot, String> {
    fine(store.load(key)).map_err(|what| format!("load: {what}"))
}

/// A write that must be done.
fn put(store: &dyn Store, key: Key<'_>, based_on: u64, data: Option<&[u8]>) -> Result<(), String> {
    put_with(store, key, based_on, data, &[], 1_000)
}

fn put_with(
    store: &dyn Store,
    key: Key<'_>,
    based_on: u64,
    data: Option<&[u8]>,
    transitions: &[Transition],
    history: usize,
) -> Result<(), String> {
    let write = Write { key, based_on, version: based_on + 1, data, transitions, history };
    match fine(store.commit(&[write]))?.as_slice() {
        [CommitOutcome::Committed] => Ok(()),
        other => Err(format!("a write based on the present version {based_on} of {key:?} came to {other:?}")),
    }
}

/// A record must be so.
fn expect(store: &dyn Store, key: Key<'_>, version: u64, data: Option<&[u8]>, when: &str) -> Result<(), String> {
    let found = load(store, key)?;
    if found.version == version && found.data.as_deref() == data {
        return Ok(());
    }
    Err(format!(
        "{when}, {key:?} should have version {version} and data {:?}, and has version {} and data {:?}",
        data.map(short),
        found.version,
        found.data.as_deref().map(short)
    ))
}

fn short(data: &[u8]) -> String {
    let start: String = data.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    if data.len() > 16 { format!("{start}.. ({} bytes)", data.len()) } else { start }
}

/// The `n`th of a chain of transitions; each differs from all others.
fn transition(n: u64) -> Transition {
    let (from, to, reason) = match n % 3 {
        0 => (State::Closed, State::Open, TransitionReason::FailureRate),
        1 => (State::Open, State::HalfOpen, TransitionReason::ProbeDue),
        _ => (State::HalfOpen, State::Closed, TransitionReason::Other(format!("reason \"{n}\" of a later version"))),
    };
    Transition { from, to, at: 1_700_000_000_000 + n, epoch: n, reason }
}

fn transitions(numbers: std::ops::Range<u64>) -> Vec<Transition> {
    numbers.map(transition).collect()
}

#[cfg(test)]
mod tests;
