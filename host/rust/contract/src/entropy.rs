//! Randomness for jitter and ramps. It protects no secret.

use std::sync::{Mutex, PoisonError};

/// One sequence of random numbers for all operations of a host: a seed makes it repeatable.
pub struct Entropy(Mutex<Box<Next>>);

type Next = dyn FnMut() -> u64 + Send;

impl Entropy {
    /// A seeded sequence, or a random one.
    pub fn new(seed: Option<u64>) -> Self {
        let mut rng = seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        Entropy::from_fn(move || rng.u64(..))
    }

    /// The numbers that a function returns.
    pub fn from_fn(next: impl FnMut() -> u64 + Send + 'static) -> Self {
        Entropy(Mutex::new(Box::new(next)))
    }

    /// The next number, uniform over all of u64.
    pub fn next(&self) -> u64 {
        (self.0.lock().unwrap_or_else(PoisonError::into_inner))()
    }
}

impl std::fmt::Debug for Entropy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entropy").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
