//! The program `halfopen` as its users meet it.

mod bench;
mod component;
mod demo;
mod help;
mod limits;
mod names;
mod operators;
mod outages;
mod policies;
mod processes;
mod replay;
mod run;
mod signals;
mod stores;
mod waiting;
