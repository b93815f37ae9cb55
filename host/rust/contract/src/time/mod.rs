//! The time, as a host reads it, and the pauses between retries.

mod backoff;
mod clock;
mod reading;

pub use backoff::Backoff;
pub use clock::{Clock, ManualClock, SystemClock};
pub use reading::Reading;
