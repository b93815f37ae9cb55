//! Stores: the trait [`Store`], the stores of this build, and [`open`] for their addresses.

mod lazy_store;
mod open;

pub use halfopen_contract::store::*;

/// The store in etcd.
#[cfg(feature = "etcd")]
pub use halfopen_etcd as etcd;
/// The store in PostgreSQL.
#[cfg(feature = "postgres")]
pub use halfopen_postgres as postgres;
/// The store in a SQLite file.
#[cfg(feature = "sqlite")]
pub use halfopen_sqlite as sqlite;

pub(crate) use lazy_store::LazyStore;
pub use open::{open, open_to_read};
