//! The program `halfopen` as its users meet it.

mod bench;
mod component;
mod demo;
mod fleet;
mod help;
mod json;
mod limits;
mod names;
mod operators;
mod outages;
mod policies;
mod processes;
mod reading;
mod replay;
mod run;
mod signals;
mod stores;
mod story;
mod typos;
mod waiting;
