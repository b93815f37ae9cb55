//! The lock-free parts of local admission, through every interleaving of a few threads (loom).

mod atomic {
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
}

#[allow(dead_code)]
#[path = "../../host/rust/halfopen/src/local_admission/seqlock.rs"]
mod seqlock;
#[allow(dead_code)]
#[path = "../../host/rust/halfopen/src/local_admission/success_counter.rs"]
mod success_counter;

use loom::sync::Arc;
use loom::thread;
use seqlock::SeqLock;
use success_counter::{Added, SuccessCounter};

#[test]
fn words_are_never_torn_and_never_go_back() {
    // Every interleaving takes minutes; two switches of thread are enough to tear a word, or to go back.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let seqlock = Arc::new(SeqLock::new([0, 0]));
        let writer = seqlock.clone();
        let writer = thread::spawn(move || writer.write([1, 1]));
        let mut last = 0;
        for _ in 0..2 {
            if let Some([one, other]) = seqlock.read() {
                assert_eq!(one, other);
                assert!(one >= last);
                last = one;
            }
        }
        writer.join().unwrap();
        assert_eq!(seqlock.read(), Some([1, 1]));
    });
}

#[test]
fn a_success_is_taken_out_once_and_in_its_generation() {
    loom::model(|| {
        let counter = Arc::new(SuccessCounter::new(1, 0));
        let adder = counter.clone();
        let adder = thread::spawn(move || (u64::from(adder.count(0, 0, false)), u64::from(adder.count(0, 1, false))));
        let other = counter.clone();
        let other = thread::spawn(move || u64::from(other.count(0, 0, false)));
        let drained = counter.drain(0);
        let of_first = drained.plain + counter.begin(1).plain;
        let (first, second) = adder.join().unwrap();
        assert_eq!(of_first, first + other.join().unwrap());
        assert_eq!(counter.begin(2).plain, second);
    });
}

#[test]
fn no_success_is_counted_without_a_timer_to_flush_it() {
    loom::model(|| {
        let counter = Arc::new(SuccessCounter::new(1, 0));
        counter.set_timer(1);
        let counting = counter.clone();
        let adder = thread::spawn(move || counting.add(0, 0, false));
        let flushed = counter.flush(0);
        let added = adder.join().unwrap();
        assert_ne!(added, Added::Refused);
        assert!(flushed.plain == 1 || added == Added::NeedsTimer);
    });
}
