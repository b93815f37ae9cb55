//! The history of a record: order, bound, removal.

use super::subject::{Checked, Subject, transition};
use crate::store::Write;

pub(super) fn order(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.expect_history("a", 100, [], "before any write")?;
    // The order is that of the commits, whatever the texts say.
    store.put_with("a", 0, [5, 1, u64::MAX], 100)?;
    store.put_with("a", 1, [], 100)?;
    store.put_with("a", 2, [0, 3, 1], 100)?;
    store.expect_history("a", 100, [5, 1, u64::MAX, 0, 3, 1], "after six transitions in two commits")?;
    store.expect_history("a", 2, [3, 1], "with a limit of two")?;
    store.expect_history("a", 0, [], "with a limit of none")?;
    store.expect_history("a", usize::MAX, [5, 1, u64::MAX, 0, 3, 1], "without a limit")
}

pub(super) fn bound(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    for n in 0..10 {
        store.put_with("a", n, [n], 4)?;
    }
    store.expect_history("a", 100, 6..10, "after ten transitions, at most four kept")?;
    store.put_with("a", 10, 10..16, 4)?;
    store.expect_history("a", 100, 12..16, "after six at once, at most four kept")?;
    store.put_with("a", 11, [16], 2)?;
    store.expect_history("a", 100, 15..17, "after the bound was lowered to two")?;
    store.put_with("a", 12, [17], usize::MAX)?;
    store.expect_history("a", 100, 15..18, "after the bound was lifted")?;
    store.put_with("a", 13, [18], 0)?;
    store.expect_history("a", 100, [], "after a transition with a bound of none")
}

pub(super) fn removal(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.put_with("a", 0, 0..3, 10)?;
    store.remove("a", 1)?;
    store.expect_history("a", 100, [], "after the record was removed")?;
    store.put_with("a", 2, [7], 10)?;
    store.expect_history("a", 100, [7], "after the record was written again")?;
    store.remove_namespace(&store.namespace)?;
    store.expect_history("a", 100, [], "after the namespace was removed")?;
    // Removed and written again in one commit.
    let version = store.snapshot("a")?.version;
    store.put_with("a", version, 0..3, 10)?;
    let again = [transition(9)];
    store.commit(&[
        store.write("a", version + 1, None),
        Write { transitions: &again, ..store.write("a", version + 2, Some(b"w")) },
    ])?;
    store.expect_history("a", 100, [9], "after it was removed and written again in one commit")
}
