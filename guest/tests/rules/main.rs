//! The tests of the rules, in one program: the mutants of the rules are run against it.

mod answers;
mod clock;
mod common;
mod last_failure;
mod policies;
mod properties;
mod prune;
mod records;
mod scenarios;
mod stale_reasons;
mod transitions;
mod trips;
mod unsound_records;
