//! The stripe of a counter that a thread counts in.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of stripes of a counter: threads that run at the same time should have one each.
pub(super) fn stripes() -> usize {
    static STRIPES: OnceLock<usize> = OnceLock::new();
    *STRIPES.get_or_init(|| std::thread::available_parallelism().map_or(4, |n| n.get()).min(32))
}

/// This thread's stripe.
#[inline]
pub(super) fn stripe() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static STRIPE: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    match STRIPE.get() {
        usize::MAX => {
            let own = NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff;
            STRIPE.set(own);
            own
        }
        own => own,
    }
}
