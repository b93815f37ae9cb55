//! The commands of operators.

mod control;
mod history;
mod policy;
mod status;

pub use self::control::{force, forget, prune, reset};
pub use self::history::history;
pub use self::policy::policy;
pub use self::status::status;
