//! Randomness for jitter and ramps. It protects no secret.

use std::sync::{Mutex, PoisonError};

/// One sequence for all instances of a host, so that a seed makes it repeatable whichever instance draws.
pub(crate) struct Entropy(Mutex<Box<Next>>);

type Next = dyn FnMut() -> u64 + Send;

impl Entropy {
    pub fn new(seed: Option<u64>) -> Self {
        let mut rng = seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        Entropy::of(move || rng.u64(..))
    }

    /// From a source of the user's own.
    pub fn of(next: impl FnMut() -> u64 + Send + 'static) -> Self {
        Entropy(Mutex::new(Box::new(next)))
    }

    pub fn next(&self) -> u64 {
        (self.0.lock().unwrap_or_else(PoisonError::into_inner))()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (a, b) = (Entropy::new(Some(7)), Entropy::new(Some(7)));
        let drawn: Vec<u64> = (0..10).map(|_| a.next()).collect();
        assert_eq!(drawn, (0..10).map(|_| b.next()).collect::<Vec<_>>());
        assert_ne!(Entropy::new(Some(8)).next(), drawn[0]);
    }
}
