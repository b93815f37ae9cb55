#![doc = include_str!("../README.md")]

mod address;
mod busy;
mod connection;
mod error;
mod open;
mod options;
mod reading;
mod statements;
mod store;
mod system;
mod transaction;

pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
