//! What the tests share.

pub mod breakers;
pub mod harness;
pub mod privileges;
pub mod process;
pub mod program;
