//! The command that `run` starts, and the signals that the program gets.

mod command;
mod inherited;
mod keeper;
pub mod signals;
mod supervisor;
#[cfg(test)]
mod tests;
mod tree;

pub use command::{Ended, TimeLimit};
pub use keeper::Keeper;
pub use supervisor::{Interruptible, Supervisor};
