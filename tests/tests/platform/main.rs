//! What a platform may rely on when it offers the breaker to its tenants' plugins.

mod asynchronous;
mod composed;
mod herd;
mod hostile;
mod leases;
mod limits;
mod outage;
mod platform;
