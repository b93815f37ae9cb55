//! Records of the halfopen circuit breaker in a SQLite file.
