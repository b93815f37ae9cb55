//! The commands of operators.

mod act;
mod doctor;
mod history;
mod list;
mod names;
mod policy;
mod prune;
mod status;

pub use self::act::{force, forget, reset};
pub use self::doctor::doctor;
pub use self::history::history;
pub use self::list::list;
pub use self::policy::policy;
pub use self::prune::prune;
pub use self::status::status;
