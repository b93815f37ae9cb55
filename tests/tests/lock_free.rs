//! The lock-free parts of local admission, through every interleaving of a few threads (loom).

mod atomic {
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
}

#[allow(dead_code)]
#[path = "../../host/wasmtime/src/local/cells.rs"]
mod cells;
#[allow(dead_code)]
#[path = "../../host/wasmtime/src/local/sequence.rs"]
mod sequence;

use atomic::{AtomicU64, Ordering};
use cells::Cells;
use loom::sync::Arc;
use loom::thread;
use sequence::Sequence;

#[test]
fn words_are_never_torn_and_never_go_back() {
    // Every interleaving takes minutes; two switches of thread are enough to tear a word, or to go back.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let sequence = Arc::new(Sequence::new([0, 0]));
        let writer = sequence.clone();
        let writer = thread::spawn(move || writer.write([1, 1]));
        let mut last = 0;
        for _ in 0..2 {
            if let Some([one, other]) = sequence.read() {
                assert_eq!(one, other);
                assert!(one >= last);
                last = one;
            }
        }
        writer.join().unwrap();
        assert_eq!(sequence.read(), Some([1, 1]));
    });
}

#[test]
fn a_success_is_taken_out_once_and_in_its_generation() {
    loom::model(|| {
        let cells = Arc::new(Cells::new(1, 0));
        let adder = cells.clone();
        let adder = thread::spawn(move || (u64::from(adder.add(0, 0, false)), u64::from(adder.add(0, 1, false))));
        let other = cells.clone();
        let other = thread::spawn(move || u64::from(other.add(0, 0, false)));
        let drained = cells.drain(0);
        let of_first = drained.plain + cells.turn(1).plain;
        let (first, second) = adder.join().unwrap();
        assert_eq!(of_first, first + other.join().unwrap());
        assert_eq!(cells.turn(2).plain, second);
    });
}

/// Who counts looks for a timer afterwards; who hands over takes the timer away before. One of them sees the other.
#[test]
fn nothing_is_counted_that_nobody_will_hand_over() {
    loom::model(|| {
        let (cells, timer) = (Arc::new(Cells::new(1, 0)), Arc::new(AtomicU64::new(1)));
        let counting = (cells.clone(), timer.clone());
        let counter = thread::spawn(move || {
            let (cells, timer) = counting;
            assert!(cells.add(0, 0, false));
            timer.load(Ordering::SeqCst) == 0
        });
        timer.store(0, Ordering::SeqCst);
        let taken = cells.drain(0);
        let would_set_a_timer = counter.join().unwrap();
        assert!(taken.plain == 1 || would_set_a_timer);
    });
}
