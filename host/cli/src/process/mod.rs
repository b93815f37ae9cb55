//! The command that `run` starts, and the signals that the program gets.

mod command;
pub mod signals;
mod supervisor;
#[cfg(test)]
mod tests;

pub use command::{CommandError, Ended, TimeLimit};
pub use supervisor::{Interruptible, Supervisor};
