//! A platform offers the halfopen circuit breaker to the plugins of its tenants.
