//! Options, results, lists and strings as the component model lays them out in memory.
//!
//! Rust leaves the layout of its own `Option`, `Result`, `Vec` and `String` open. Built from these types, the types of the
//! contract are handed to a host, and taken from it, as they are: no code takes them apart and puts them together again.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;
use core::ptr;

/// An `option` of the contract.
#[repr(C, u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Maybe<T> {
    /// Nothing.
    None,
    /// Something.
    Some(T),
}

impl<T> Maybe<T> {
    /// The same as an `Option`.
    pub fn get(self) -> Option<T> {
        match self {
            Maybe::None => None,
            Maybe::Some(value) => Some(value),
        }
    }
}

impl<T> From<Option<T>> for Maybe<T> {
    fn from(option: Option<T>) -> Maybe<T> {
        match option {
            None => Maybe::None,
            Some(value) => Maybe::Some(value),
        }
    }
}

impl<T: PartialEq> PartialEq<Option<T>> for Maybe<T> {
    fn eq(&self, other: &Option<T>) -> bool {
        match (self, other) {
            (Maybe::None, None) => true,
            (Maybe::Some(one), Some(another)) => one == another,
            _ => false,
        }
    }
}

/// A `result` of the contract.
#[repr(C, u8)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<T, E> {
    /// It went well.
    Ok(T),
    /// It did not.
    Err(E),
}

impl<T, E> Reply<T, E> {
    /// The same as a `Result`.
    pub fn get(self) -> Result<T, E> {
        match self {
            Reply::Ok(value) => Ok(value),
            Reply::Err(error) => Err(error),
        }
    }
}

/// A `list` of the contract. It owns its items.
#[repr(C)]
pub struct List<T> {
    /// Means nothing in an empty list: a host may put anything there.
    start: *mut T,
    len: usize,
}

// SAFETY: a list owns its items, as a `Box<[T]>` does.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: a shared list gives out shared items only, as a `Box<[T]>` does.
unsafe impl<T: Sync> Sync for List<T> {}

impl<T> List<T> {
    /// An empty list.
    pub const EMPTY: List<T> = List { start: ptr::null_mut(), len: 0 };

    /// A list of items that a host put into memory.
    ///
    /// # Safety
    ///
    /// The memory is `len` valid items long, was allocated for just them, and belongs to nobody else.
    pub unsafe fn from_raw_parts(start: *mut T, len: usize) -> List<T> {
        List { start, len }
    }

    fn items(&self) -> *mut [T] {
        let start = if self.len == 0 { ptr::dangling_mut() } else { self.start };
        ptr::slice_from_raw_parts_mut(start, self.len)
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        // SAFETY: the items are those of a `Box<[T]>`, or a host allocated them as one would have been, and nothing else
        // owns them.
        drop(unsafe { Box::from_raw(self.items()) });
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the list owns the items; they live, unchanged, as long as it is borrowed.
        unsafe { &*self.items() }
    }
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List::EMPTY
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> List<T> {
        let items = Box::leak(items.into_boxed_slice());
        List { start: items.as_mut_ptr(), len: items.len() }
    }
}

impl<T: Clone> Clone for List<T> {
    fn clone(&self) -> List<T> {
        self.to_vec().into()
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(to)
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &List<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for List<T> {}

/// A `string` of the contract.
#[repr(transparent)]
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text(List<u8>);

impl Text {
    /// A string that a host put into memory.
    ///
    /// # Safety
    ///
    /// The memory holds `len` bytes of UTF-8, was allocated for just them, and belongs to nobody else.
    pub unsafe fn from_raw_parts(start: *mut u8, len: usize) -> Text {
        // SAFETY: the caller sees to it.
        Text(unsafe { List::from_raw_parts(start, len) })
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        // SAFETY: the bytes are those of a `str`, or of a string from a host, which the component model keeps to UTF-8.
        unsafe { str::from_utf8_unchecked(&self.0) }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.as_bytes().to_vec().into())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(to)
    }
}
