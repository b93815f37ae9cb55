//! The lock-free parts, by real threads. A model checker goes through their interleavings elsewhere (`tests/tests/lock_free.rs`).

use std::sync::atomic::{AtomicBool, AtomicU64};

use super::atomic::Ordering;
use super::seqlock::SeqLock;
use super::success_counter::{NUMBER, SuccessCounter, Successes};

#[test]
fn what_is_counted_is_taken_out_once() {
    let counter = SuccessCounter::new(3, 7);
    for place in 0..10 {
        assert!(counter.count(place, 7, place == 3));
    }
    assert_eq!(counter.drain(7), Successes { plain: 9, slow: 1 });
    assert!(counter.drain(7).is_empty());
    assert!(counter.count(0, 7, false));
    assert_eq!(counter.begin(8), Successes { plain: 1, slow: 0 });
}

#[test]
fn an_older_generation_is_not_counted() {
    let counter = SuccessCounter::new(2, 0);
    assert!(counter.count(0, 0, false));
    assert_eq!(counter.begin(1).plain, 1);
    assert!(!counter.count(0, 0, false));
    assert!(counter.drain(1).is_empty());
}

#[test]
fn a_full_counter_stays_full() {
    let counter = SuccessCounter::full(3);
    assert!(counter.count(0, 3, false));
    assert_eq!(counter.drain(3).plain, NUMBER);
    assert!(counter.count(0, 3, false), "it ran over into the generation");
}

#[test]
fn each_success_is_counted_once_and_in_its_generation() {
    let counter = SuccessCounter::new(4, 0);
    let (generation, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let added: [AtomicU64; 200] = std::array::from_fn(|_| AtomicU64::new(0));
    let taken: [AtomicU64; 200] = std::array::from_fn(|_| AtomicU64::new(0));
    std::thread::scope(|scope| {
        for place in 0..4 {
            let (counter, generation, stop, added) = (&counter, &generation, &stop, &added);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let now = generation.load(Ordering::Relaxed);
                    for slow in [false, true] {
                        if counter.count(place, now as u32, slow) {
                            added[now as usize].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
        let take = |of: u64, counted: Successes| {
            taken[of as usize].fetch_add(counted.plain + counted.slow, Ordering::Relaxed);
        };
        // Not before the threads are at it.
        while added[0].load(Ordering::Relaxed) < 4 {
            std::thread::yield_now();
        }
        for next in 1..200 {
            for _ in 0..20 {
                take(next - 1, counter.drain(next as u32 - 1));
                std::thread::yield_now();
            }
            take(next - 1, counter.begin(next as u32));
            generation.store(next, Ordering::Relaxed);
        }
        stop.store(true, Ordering::Relaxed);
    });
    taken[199].fetch_add(
        {
            let last = counter.begin(0);
            last.plain + last.slow
        },
        Ordering::Relaxed,
    );
    let numbers = |of: &[AtomicU64; 200]| of.iter().map(|number| number.load(Ordering::Relaxed)).collect::<Vec<_>>();
    assert_eq!(numbers(&added), numbers(&taken));
    assert!(numbers(&added).iter().sum::<u64>() > 0);
}

#[test]
fn words_are_read_as_they_were_written_together() {
    let seqlock = SeqLock::new([0_u64; 8]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = 0;
                while !stop.load(Ordering::Relaxed) {
                    let Some(words) = seqlock.read() else { continue };
                    assert!(words.iter().all(|word| *word == words[0]), "{words:?}");
                    assert!(words[0] >= last, "an older one after {last}: {words:?}");
                    last = words[0];
                }
            });
        }
        for number in 1..200_000 {
            seqlock.write([number; 8]);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(seqlock.read(), Some([199_999; 8]));
}
