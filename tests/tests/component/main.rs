//! The component: it is the core, it asks for nothing but what the contract names, and where another takes its place that
//! misbehaves, the host serves on.

mod agreement;
mod facts;
mod hostile;
mod record_bytes;
