//! The tests of the rules, in one program: it is what each mutant of the rules has to survive.

mod answers;
mod common;
mod last_failure;
mod policies;
mod properties;
mod prune;
mod records;
mod scenarios;
mod stale_reasons;
mod transitions;
mod unsound_records;
