//! A circuit breaker for callers that share a dependency and nothing else: one probe at a time, under a lease that expires.
