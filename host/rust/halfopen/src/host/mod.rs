//! A host: a store, a clock and an engine, for all breakers of a namespace.

mod builder;
mod handle;
mod prune;

pub use builder::HostBuilder;
pub use handle::Host;
pub use prune::Pruned;

#[cfg(test)]
mod async_tests;
#[cfg(test)]
mod tests;
