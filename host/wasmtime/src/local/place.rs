//! Which cell a thread counts in.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many cells a dependency has: threads that run at the same time should find one each.
pub(super) fn stripes() -> usize {
    static STRIPES: OnceLock<usize> = OnceLock::new();
    *STRIPES.get_or_init(|| std::thread::available_parallelism().map_or(4, |n| n.get()).min(32))
}

/// This thread's cell.
#[inline]
pub(super) fn place() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static PLACE: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    match PLACE.get() {
        usize::MAX => {
            let own = NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff;
            PLACE.set(own);
            own
        }
        own => own,
    }
}
