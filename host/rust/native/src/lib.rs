#![doc = include_str!("../README.md")]

mod convert;
mod engine;
mod ports;

pub use engine::NativeEngine;
