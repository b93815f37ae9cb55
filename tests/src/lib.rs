//! What the tests share.

pub mod breakers;
pub mod gone;
pub mod harness;
pub mod herd;
pub mod privileges;
pub mod process;
pub mod program;
pub mod proxy;
pub mod scenarios;
pub mod stores;
pub mod tap;
pub mod tree;

/// The Rust in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
