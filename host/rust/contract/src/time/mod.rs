//! The time, as a host reads it, and the pauses between retries.

mod backoff;
mod clock;
mod manual_clock;
mod system_clock;

pub use backoff::Backoff;
pub use clock::{Clock, Reading};
pub use manual_clock::ManualClock;
pub use system_clock::SystemClock;
