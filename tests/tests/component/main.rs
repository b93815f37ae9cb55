//! The component: its imports are those of the contract, and where a component misbehaves the host serves on.

mod facts;
mod hostile;
