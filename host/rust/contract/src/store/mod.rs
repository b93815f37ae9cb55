//! The trait [`Store`], and the store in memory.
//!
//! A store knows nothing of breakers. It keeps a record of bytes for a pair of namespace and dependency, replaces the
//! record by compare-and-set, and keeps the transitions that came with the write. [`Store`] lists its obligations, and the
//! suite in [`conformance`](crate::conformance) (feature `conformance`) checks any store against them.
//!
//! # A store of your own
//!
//! 1. Check that the engine qualifies. It needs a compare-and-set (or transactions) on one record, reads that return the
//!    last commit, and records that stay until they are removed. An eventually consistent key-value store (Workers KV, for
//!    example), a cache that evicts, or an engine that acknowledges writes and may lose them must not hold leases: two
//!    callers would probe at once, or a trip would be lost.
//! 2. Implement [`Store`]. `load` and `commit` are the heart. Where the engine can lock out other writers cheaply, return
//!    that lock from [`Store::lock`]: operations then wait instead of losing a race. Where the engine has a clock of its
//!    own, return its time with each load ([`Snapshot::at`]), and all hosts use it.
//! 3. Keep the version of each removed record, as [`Store::compact`] describes.
//! 4. Return the [`StoreError`] that fits each failure, with the place, the reason and the remedy. Bound every wait. Never
//!    guess whether a commit was done: read back.
//! 5. Run [`conformance::check`](crate::conformance::check) with a closure that opens the store again each time, as
//!    another process would. It names each obligation that the store does not meet.
//! 6. Pass the store to `HostBuilder::store` of crate `halfopen`.

mod address;
mod error;
mod memory;
pub mod parameter;
mod record;
mod stream;
mod traits;

pub use address::{AddressError, OpenError, masked};
pub use error::{Place, StoreError};
pub use memory::MemoryStore;
pub use record::{CommitOutcome, Key, REMOVED, Snapshot, Write};
pub use stream::{Cursor, FORGOTTEN, Observed, Page};
pub use traits::{Locked, Store};
