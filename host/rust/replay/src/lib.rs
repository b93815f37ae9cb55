//! Replay files of the halfopen circuit breaker: sequences of steps against any host.
