//! What the checks share: a way to the store, writes that must be done, and expectations.

use std::error::Error;
use std::ops::Deref;
use std::sync::Arc;

use crate::store::{CommitOutcome, Key, Snapshot, Store, Write};

/// The result of a check, or of a part of one; an error says what the check saw, and what it expected.
pub type Checked<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Fails unless the condition holds.
pub(super) fn ensure(holds: bool, failure: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(failure().into()) }
}

/// Opens a store: each call returns another way to the same data.
pub type Open<'a> = dyn Fn() -> Arc<dyn Store> + Sync + 'a;

/// A store under check, and a namespace of the check's own.
pub struct Subject<'a> {
    open: &'a Open<'a>,
    namespace: String,
}

/// An opened store, in one namespace.
pub(super) struct Opened {
    store: Arc<dyn Store>,
    pub namespace: String,
}

/// Appended to the namespace of a check to name others.
pub(super) const OTHERS: [&str; 3] = [":b", " ", "2"];

impl<'a> Subject<'a> {
    pub(super) fn new(open: &'a Open<'a>) -> Self {
        Subject { open, namespace: format!("conformance {:016x}", fastrand::u64(..)) }
    }

    pub(super) fn open(&self) -> Opened {
        Opened { store: (self.open)(), namespace: self.namespace.clone() }
    }

    pub(super) fn clean_up(&self) {
        let opened = self.open();
        for suffix in [""].into_iter().chain(OTHERS) {
            let _ = opened.remove_namespace(&opened.other(suffix).namespace);
        }
    }
}

impl Deref for Opened {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        &*self.store
    }
}

impl Opened {
    /// The same store in another namespace.
    pub fn other(&self, suffix: &str) -> Opened {
        Opened { store: self.store.clone(), namespace: format!("{}{suffix}", self.namespace) }
    }

    pub fn key<'k>(&'k self, dependency: &'k str) -> Key<'k> {
        Key { namespace: &self.namespace, dependency }
    }

    pub fn snapshot(&self, dependency: &str) -> Checked<Snapshot> {
        Ok(self.load(self.key(dependency))?)
    }

    /// A write to the next version, without transitions.
    pub fn write<'k>(&'k self, dependency: &'k str, based_on: u64, data: Option<&'k [u8]>) -> Write<'k> {
        let version = based_on.saturating_add(1);
        Write { key: self.key(dependency), based_on, version, data, transitions: &[], history: 1_000 }
    }

    /// Commits one write.
    pub fn commit_one(&self, write: Write<'_>) -> Checked<CommitOutcome> {
        let mut outcomes = self.commit(&[write])?;
        match (outcomes.pop(), outcomes.as_slice()) {
            (Some(outcome), []) => Ok(outcome),
            _ => Err("a commit of one write has not one outcome".into()),
        }
    }

    /// Commits one write that must be done.
    pub fn must(&self, write: Write<'_>) -> Checked {
        let outcome = self.commit_one(write)?;
        ensure(outcome == CommitOutcome::Committed, || {
            format!("a write based on the present version {} of {:?} was {outcome:?}", write.based_on, write.key)
        })
    }

    /// Writes data that must be written.
    pub fn put(&self, dependency: &str, based_on: u64, data: &[u8]) -> Checked {
        self.must(self.write(dependency, based_on, Some(data)))
    }

    /// Writes data and transitions that must be written.
    pub fn put_with(
        &self,
        dependency: &str,
        based_on: u64,
        numbers: impl IntoIterator<Item = u64>,
        history: usize,
    ) -> Checked {
        let transitions: Vec<String> = numbers.into_iter().map(transition).collect();
        self.must(Write { transitions: &transitions, history, ..self.write(dependency, based_on, Some(b"x")) })
    }

    /// Removes a record; the removal must be done.
    pub fn remove(&self, dependency: &str, based_on: u64) -> Checked {
        self.must(self.write(dependency, based_on, None))
    }

    /// Commits one write that must be stale, and return the record as it is.
    pub fn must_be_stale(&self, write: Write<'_>) -> Checked {
        let outcome = self.commit_one(write)?;
        let found = self.snapshot(write.key.dependency)?;
        let returned =
            matches!(&outcome, CommitOutcome::Stale(now) if (now.version, &now.data) == (found.version, &found.data));
        ensure(returned, || {
            format!(
                "a write based on version {} of {:?}, which is {found:?}, was {outcome:?}",
                write.based_on, write.key
            )
        })
    }

    /// Expects a record at a version.
    pub fn expect(&self, dependency: &str, version: u64, data: Option<&[u8]>, when: &str) -> Checked {
        let found = self.snapshot(dependency)?;
        ensure(found.version == version && found.data.as_deref() == data, || {
            format!(
                "{when}, {dependency:?} should have version {version} and data {:?}, and has version {} and data {:?}",
                data.map(short),
                found.version,
                found.data.as_deref().map(short)
            )
        })
    }

    /// Expects the newest transitions of a record, given by their numbers.
    pub fn expect_history(
        &self,
        dependency: &str,
        limit: usize,
        wanted: impl IntoIterator<Item = u64>,
        when: &str,
    ) -> Checked {
        let found = self.history(self.key(dependency), limit)?;
        let found = found.iter().map(|text| number(text)).collect::<Checked<Vec<u64>>>()?;
        let wanted: Vec<u64> = wanted.into_iter().collect();
        ensure(found == wanted, || {
            format!("{when}, the history of {dependency:?} should be {wanted:?}, and is {found:?}")
        })
    }
}

fn short(data: &[u8]) -> String {
    let start: String = data.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    if data.len() > 16 { format!("{start}.. ({} bytes)", data.len()) } else { start }
}

/// A transition with a number. Some are texts that a store which reads them would change.
pub(super) fn transition(number: u64) -> String {
    match number % 3 {
        0 => format!(r#"{{"epoch":{number},"from":"closed","to":"open","at":5,"reason":"failure-rate"}}"#),
        1 => format!(r#"{{ "to" : "half-open", "from":"", "later": [1.0, "\u0000 \" \\ 'ä' 😀"], "epoch":{number} }}"#),
        _ => format!(r#"{{"epoch":{number},"note":"{}"}}"#, "long ".repeat(200)),
    }
}

/// The number of a transition, which must be unchanged.
pub(super) fn number(text: &str) -> Checked<u64> {
    let json: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let number = json.and_then(|json| json.get("epoch")?.as_u64());
    match number {
        Some(number) if transition(number) == text => Ok(number),
        _ => Err(format!("a transition came back changed: {text:?}").into()),
    }
}
