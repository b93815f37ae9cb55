//! A record in the course of a batch: what the store has, and what the batch means to write on top.

use crate::imports::Change;
use crate::op::Answer;
use crate::store::{Key, Snapshot, Write};
use crate::wire::Transition;

/// An answer that may not be given yet, and the transitions that go with it.
#[derive(Debug)]
pub(crate) struct Held {
    pub answer: Answer,
    pub transitions: Vec<Transition>,
    /// The version of the record that the answer rests on, with what the operation itself wrote.
    pub version: u64,
}

/// A record in the course of a batch.
pub(crate) struct Draft {
    /// What the next operation sees.
    pub view: Snapshot,
    pub writes: Vec<Pending>,
}

/// A write that the batch means to make, and the operations whose answers rest on it, by their place in the batch.
pub(crate) struct Pending {
    pub based_on: u64,
    pub version: u64,
    pub data: Option<Vec<u8>>,
    pub transitions: Vec<Transition>,
    pub riders: Vec<(usize, Held)>,
}

impl Draft {
    pub fn new(base: Snapshot) -> Self {
        Draft { view: base, writes: Vec::new() }
    }

    /// Takes in what an operation answered and wrote. An answer that rests on nothing unwritten comes back.
    pub fn take(&mut self, place: usize, answer: Answer, change: Option<Change>) -> Option<Held> {
        let Some(change) = change else {
            let held = Held { answer, transitions: Vec::new(), version: self.view.version };
            return match self.writes.last_mut() {
                Some(pending) => {
                    pending.riders.push((place, held));
                    None
                }
                None => Some(held),
            };
        };
        let based_on = self.view.version;
        let version = based_on + change.commits;
        self.view.version = version;
        self.view.data.clone_from(&change.data);
        let held = Held { answer, transitions: change.transitions.clone(), version };
        match self.writes.last_mut() {
            // A removal takes the history with it, so what follows it is a write of its own.
            Some(pending) if pending.data.is_some() => {
                pending.version = version;
                pending.data = change.data;
                pending.transitions.extend(change.transitions);
                pending.riders.push((place, held));
            }
            _ => self.writes.push(Pending {
                based_on,
                version,
                data: change.data,
                transitions: change.transitions,
                riders: vec![(place, held)],
            }),
        }
        None
    }
}

impl Pending {
    pub fn write<'a>(&'a self, key: Key<'a>, history: usize) -> Write<'a> {
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
mod tests {
    use super::*;
    use crate::wire::{State, TransitionReason};

    fn answer() -> Answer {
        Answer::Receipt(crate::wire::Receipt {
            verdict: crate::wire::Verdict::Applied,
            state: State::Closed,
            next_due: None,
            transitions: Vec::new(),
        })
    }

    fn change(data: Option<&[u8]>) -> Option<Change> {
        let transition =
            Transition { from: State::Closed, to: State::Open, at: 1, epoch: 1, reason: TransitionReason::Forced };
        Some(Change { commits: 1, data: data.map(<[u8]>::to_vec), transitions: vec![transition] })
    }

    #[test]
    fn operations_on_one_record_become_one_write() {
        let mut draft = Draft::new(Snapshot { version: 7, data: None, at: None });
        assert!(draft.take(0, answer(), change(Some(b"a"))).is_none());
        assert!(draft.take(1, answer(), change(Some(b"b"))).is_none());
        let [pending] = draft.writes.as_slice() else { panic!("{} writes", draft.writes.len()) };
        assert_eq!((pending.based_on, pending.version), (7, 9));
        assert_eq!(pending.data.as_deref(), Some(&b"b"[..]));
        assert_eq!((pending.transitions.len(), pending.riders.len()), (2, 2));
        assert_eq!(draft.view.version, 9);
    }

    #[test]
    fn what_follows_a_removal_is_a_write_of_its_own() {
        let mut draft = Draft::new(Snapshot::default());
        draft.take(0, answer(), change(Some(b"a")));
        draft.take(1, answer(), change(None));
        draft.take(2, answer(), change(Some(b"b")));
        let versions: Vec<_> = draft.writes.iter().map(|p| (p.based_on, p.version, p.data.is_some())).collect();
        assert_eq!(versions, [(0, 2, false), (2, 3, true)]);
    }

    #[test]
    fn an_answer_that_saw_a_neighbours_write_waits_for_it() {
        let mut draft = Draft::new(Snapshot::default());
        assert!(draft.take(0, answer(), None).is_some(), "nothing unwritten was seen");
        draft.take(1, answer(), change(Some(b"a")));
        assert!(draft.take(2, answer(), None).is_none(), "the answer rests on a write that is not durable");
        assert_eq!(draft.writes[0].riders.len(), 2);
    }
}
