//! `halfopen status`: the state of the dependencies.

mod command;
mod detail;
mod entries;
mod overview;
mod screen;

pub use self::command::status;
