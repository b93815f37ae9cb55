//! Randomness for jitter and ramps. It protects no secret.

use std::sync::{Mutex, PoisonError};

/// One sequence of random numbers for all operations of a host: a seed makes it repeatable.
#[derive(Debug)]
pub struct Entropy(Mutex<fastrand::Rng>);

impl Entropy {
    /// A seeded sequence, or a random one.
    pub fn new(seed: Option<u64>) -> Self {
        Entropy(Mutex::new(seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed)))
    }

    /// The next number, uniform over all of u64.
    pub fn next(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).u64(..)
    }
}

#[cfg(test)]
mod tests;
