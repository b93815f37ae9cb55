//! Text that the program writes.

pub mod output;
pub mod table;
pub mod text;
