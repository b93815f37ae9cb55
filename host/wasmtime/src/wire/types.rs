//! The types under the name of their interface, with what generated bindings expect of one.

#![allow(dead_code)] // The generated code names them also where this crate does not call it.

#[allow(unused_imports)] // The generated code names some of them.
pub use super::*;

use wasmtime::component::{HasData, Linker};

/// The interface has no functions.
pub trait Host {}

impl<T: ?Sized> Host for T {}

/// The interface has no functions.
pub trait HostWithStore<T: ?Sized>: HasData {}

impl<T: ?Sized, D: HasData + ?Sized> HostWithStore<T> for D {}

/// Declares the interface; it has no functions.
pub fn add_to_linker<T: 'static, D: HasData>(
    linker: &mut Linker<T>,
    _host: fn(&mut T) -> D::Data<'_>,
) -> wasmtime::Result<()> {
    linker.instance("halfopen:breaker/types@0.1.0").map(|_| ())
}
