//! Text that the program writes.

pub mod output;
pub mod progress;
pub mod table;
pub mod text;
