//! What the component writes, to be written by others as well.

use std::sync::Arc;

use halfopen::store::MemoryStore;
use halfopen::{Breaker, Host, ManualClock, Policy};
use halfopen_tests::tap::{Tap, Written};

use crate::setting::{self, Result};

/// What the component writes in so many steps on one dependency.
pub fn recorded(
    policy: Policy,
    steps: usize,
    mut step: impl FnMut(&Breaker, &ManualClock) -> Result<()>,
) -> Result<Vec<Written>> {
    let tap = Arc::new(Tap::new(Arc::new(MemoryStore::default())));
    let clock = setting::clock();
    let builder = Host::builder().shared_store(tap.clone()).clock(clock.clone()).default_policy(policy);
    let breaker = builder.build()?.breaker("payments");
    for _ in 0..steps {
        step(&breaker, &clock)?;
    }
    Ok(tap.take())
}
