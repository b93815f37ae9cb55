//! The statements, the schema, and the rows that come back.

mod rows;
mod schema;
mod statement;

pub(crate) use rows::{CommitColumns, bigint, observed, outcome, position, snapshot, text};
pub(crate) use schema::{VERSION, ensure};
pub(crate) use statement::{Statement, quoted};
