//! The atomics of the lock-free parts, in one place so that a model checker's can stand in for them.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};
