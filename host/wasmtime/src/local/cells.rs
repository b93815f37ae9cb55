//! Counters of successes that scale over processors: each thread counts in a cell of its own, or nearly so.
//!
//! Each counter carries the generation that it counts for. A generation is one epoch of the record as this process knows
//! it; when that changes, what was admitted under the older one can no longer be counted here: [`Cells::add`] refuses.

use super::atomic::{AtomicU64, Ordering};

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Successes that were not slow.
    pub plain: u64,
    /// Successes that were.
    pub slow: u64,
}

impl Counted {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        *self == Counted::default()
    }
}

/// One cell. Two cache lines wide, since processors fetch them in pairs.
#[repr(align(128))]
struct Cell {
    plain: AtomicU64,
    slow: AtomicU64,
}

/// The counters of one dependency.
pub(crate) struct Cells {
    cells: Box<[Cell]>,
}

/// The upper half of a counter is its generation, the lower half the number.
pub(crate) const NUMBER: u64 = u32::MAX as u64;

fn tagged(generation: u32, number: u64) -> u64 {
    u64::from(generation) << 32 | number
}

impl Cells {
    /// So many cells, rounded up to a power of two, counting for a generation.
    pub fn new(cells: usize, generation: u32) -> Self {
        let cell =
            || Cell { plain: AtomicU64::new(tagged(generation, 0)), slow: AtomicU64::new(tagged(generation, 0)) };
        Cells { cells: (0..cells.next_power_of_two()).map(|_| cell()).collect() }
    }

    /// One cell that has counted all it can.
    #[cfg(test)]
    pub fn full(generation: u32) -> Self {
        let cells = Cells::new(1, generation);
        cells.cells[0].plain.store(tagged(generation, NUMBER), Ordering::SeqCst);
        cells
    }

    /// Counts a success; false where another generation is counted by now.
    #[inline]
    pub fn add(&self, place: usize, generation: u32, slow: bool) -> bool {
        let cell = &self.cells[place & (self.cells.len() - 1)];
        add(if slow { &cell.slow } else { &cell.plain }, generation)
    }

    /// Takes out what was counted in a generation.
    pub fn drain(&self, generation: u32) -> Counted {
        debug_assert!(self.cells.iter().all(|cell| cell.plain.load(Ordering::SeqCst) >> 32 == u64::from(generation)));
        // The generation stays: whoever changes it holds the same lock. Also where a counter is 0 it is written, so that
        // whoever counts after this sees all that was done before it.
        self.sum(|counter| counter.fetch_and(!NUMBER, Ordering::SeqCst) & NUMBER)
    }

    /// Whether nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.sum(|counter| counter.load(Ordering::SeqCst) & NUMBER).is_empty()
    }

    /// Begins another generation. What was counted in the last one comes back.
    pub fn turn(&self, generation: u32) -> Counted {
        self.sum(|counter| counter.swap(tagged(generation, 0), Ordering::SeqCst) & NUMBER)
    }

    fn sum(&self, take: impl Fn(&AtomicU64) -> u64) -> Counted {
        self.cells.iter().fold(Counted::default(), |sum, cell| Counted {
            plain: sum.plain + take(&cell.plain),
            slow: sum.slow + take(&cell.slow),
        })
    }
}

#[inline]
fn add(counter: &AtomicU64, generation: u32) -> bool {
    let mut current = counter.load(Ordering::Relaxed);
    while current >> 32 == u64::from(generation) {
        // Where it is full, what comes on top says nothing new.
        let next = tagged(generation, (current & NUMBER).saturating_add(1).min(NUMBER));
        match counter.compare_exchange_weak(current, next, Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(newer) => current = newer,
        }
    }
    false
}
