//! The keeper: a process between the program and its command.
//!
//! It starts the command, reaps it and its orphans, and kills all of them when the program is gone, however it ended. In a
//! group of its own, where the command has one too, it outlives a SIGKILL to the program's group.

mod handle;
mod message;
mod serve;

pub use handle::Keeper;
pub(super) use message::Response;
