//! The exit code of the program, for each error.

mod code;
mod failure;
mod of_error;

pub use self::code::{Code, help};
pub use self::failure::Failure;
pub use self::of_error::{code_of, of_open, of_store};
