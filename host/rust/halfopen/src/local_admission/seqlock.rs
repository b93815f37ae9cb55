//! A sequence lock over a few words: any number of threads read it, without a lock and without writing.

use super::atomic::{AtomicU64, Ordering, fence};

/// `N` words that are read as they were written together.
pub(crate) struct SeqLock<const N: usize> {
    /// Odd while a writer is at it.
    number: AtomicU64,
    words: [AtomicU64; N],
}

impl<const N: usize> SeqLock<N> {
    /// A lock over these words.
    pub fn new(words: [u64; N]) -> Self {
        SeqLock { number: AtomicU64::new(0), words: words.map(AtomicU64::new) }
    }

    /// The words; none where a writer was met. A reader does not wait for it.
    #[inline(always)]
    pub fn read(&self) -> Option<[u64; N]> {
        self.read_first().filter(|(_, number)| number.is_multiple_of(2)).map(|(words, _)| words)
    }

    /// The first words, and the number of the write that they are of; while that is odd, the write is not over.
    #[inline(always)]
    pub fn read_first<const FEW: usize>(&self) -> Option<([u64; FEW], u64)> {
        const { assert!(FEW <= N, "there are fewer words") };
        let before = self.number.load(Ordering::Acquire);
        let words = std::array::from_fn(|at| self.words[at].load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let after = self.number.load(Ordering::Relaxed);
        (before == after).then_some((words, before))
    }

    /// Writes the words. One thread at a time: the caller holds the lock of the writers.
    pub fn write(&self, words: [u64; N]) {
        let number = self.number.load(Ordering::Relaxed);
        self.number.store(number.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        for (word, value) in self.words.iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
        self.number.store(number.wrapping_add(2), Ordering::Release);
    }
}
