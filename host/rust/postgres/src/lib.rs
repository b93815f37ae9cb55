//! Records of the halfopen circuit breaker in PostgreSQL.
