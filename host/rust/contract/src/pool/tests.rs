use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::*;

#[test]
fn the_last_returned_object_comes_first() {
    let pool = Pool::new(2);
    let slots: Vec<_> = (0..3).map(|_| pool.acquire()).collect();
    for (number, mut slot) in slots.into_iter().enumerate() {
        assert_eq!(slot.take(), None);
        slot.put_back(number);
    }
    assert_eq!(pool.acquire().take(), Some(1), "two are kept");
    assert_eq!(pool.acquire().take(), Some(0), "the other was not put back");
    assert_eq!(pool.acquire().take(), None);
}

#[test]
fn no_more_objects_than_the_limit_are_in_use_at_once() {
    let pool: Pool<()> = Pool::new(2).limited();
    let (in_use, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let slot = pool.acquire();
                    most.fetch_max(in_use.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::yield_now();
                    in_use.fetch_sub(1, Ordering::SeqCst);
                    slot.put_back(());
                }
            });
        }
    });
    assert_eq!(most.into_inner(), 2);
}

#[test]
fn waiting_for_a_place_ends_at_the_given_instant() {
    let pool: Pool<()> = Pool::new(1).limited();
    let soon = || Instant::now() + Duration::from_millis(20);
    let slot = pool.acquire_until(soon());
    assert!(slot.is_some() && pool.acquire_until(soon()).is_none());
    drop(slot);
    assert!(pool.acquire_until(soon()).is_some());
}
