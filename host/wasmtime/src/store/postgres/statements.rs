//! The statements, in the words of a schema.

use tokio_postgres::types::Type;

/// One of the statements that a store runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    Find,
    Load,
    Replace,
    Write,
    List,
    History,
    Transitions,
    Position,
    RemoveNamespace,
    Compact,
}

impl Statement {
    pub const ALL: [Statement; 10] = [
        Statement::Find,
        Statement::Load,
        Statement::Replace,
        Statement::Write,
        Statement::List,
        Statement::History,
        Statement::Transitions,
        Statement::Position,
        Statement::RemoveNamespace,
        Statement::Compact,
    ];

    /// The types of its parameters.
    pub fn types(self) -> &'static [Type] {
        match self {
            Statement::Find | Statement::Load => &[Type::BYTEA, Type::BYTEA],
            Statement::Replace => &[Type::BYTEA, Type::BYTEA, Type::INT8, Type::INT8, Type::BYTEA, Type::INT8],
            Statement::Write => &[
                Type::INT8_ARRAY,
                Type::BYTEA_ARRAY,
                Type::BYTEA_ARRAY,
                Type::INT8_ARRAY,
                Type::INT8_ARRAY,
                Type::BYTEA_ARRAY,
                Type::INT8_ARRAY,
                Type::INT8_ARRAY,
                Type::TEXT_ARRAY,
                Type::TEXT_ARRAY,
                Type::INT8_ARRAY,
                Type::INT8_ARRAY,
                Type::BYTEA_ARRAY,
                Type::BOOL,
            ],
            Statement::List | Statement::Position | Statement::RemoveNamespace | Statement::Compact => &[Type::BYTEA],
            Statement::History => &[Type::BYTEA, Type::BYTEA, Type::INT8],
            Statement::Transitions => &[Type::BYTEA, Type::INT8, Type::INT8],
        }
    }

    fn text(self) -> &'static str {
        match self {
            // A record that is there, as nearly all are, at the price of a bare `SELECT`. The clock is read after the record,
            // so that nothing in it is dated later.
            Statement::Find => {
                "SELECT version, data, clock_timestamp() FROM {schema}.record WHERE namespace = $1 AND dependency = $2"
            }
            // One row, whatever there is; the floor is only looked up where there is no record.
            Statement::Load => {
                "SELECT coalesce(r.version, (SELECT floor FROM {schema}.namespace WHERE namespace = $1), 0), r.data,
                     clock_timestamp()
                 FROM (VALUES (1)) AS one (row)
                 LEFT JOIN {schema}.record AS r ON r.namespace = $1 AND r.dependency = $2"
            }
            // What most commits are: one write, of a record that is there, without transitions. It answers as `write` does,
            // and with nothing where that has to judge, as another has written since. What is acknowledged is durable, as
            // there.
            Statement::Replace => {
                "UPDATE {schema}.record SET
                     version = $4, data = $5, commits = substr(int8send($6) || commits, 1, 512)
                 WHERE namespace = $1 AND dependency = $2 AND version = $3
                 RETURNING 0::smallint,
                     CASE WHEN current_setting('synchronous_commit') = 'off'
                         THEN set_config('synchronous_commit', 'on', true) END"
            }
            Statement::Write => {
                "SELECT came_to, present, held, now
                 FROM {schema}.write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
            }
            Statement::List => {
                "SELECT dependency FROM {schema}.record WHERE namespace = $1 AND data IS NOT NULL ORDER BY dependency"
            }
            Statement::History => {
                "SELECT from_state, to_state, at, epoch, reason FROM {schema}.transition
                 WHERE namespace = $1 AND dependency = $2 ORDER BY number DESC LIMIT $3"
            }
            Statement::Transitions => {
                "SELECT from_state, to_state, at, epoch, reason, position, dependency FROM {schema}.transition
                 WHERE namespace = $1 AND position > $2 ORDER BY position LIMIT $3"
            }
            Statement::Position => "SELECT position FROM {schema}.namespace WHERE namespace = $1",
            Statement::RemoveNamespace => "SELECT {schema}.remove_namespace($1)",
            Statement::Compact => "SELECT {schema}.compact($1)",
        }
    }
}

/// All statements for one schema.
#[derive(Debug)]
pub(super) struct Texts {
    /// The name of the schema, as it is.
    pub name: String,
    schema: String,
    texts: [String; Statement::ALL.len()],
}

impl Texts {
    pub fn new(name: &str) -> Texts {
        let schema = quoted(name);
        let texts = Statement::ALL.map(|statement| filled(statement.text(), &schema));
        Texts { name: name.to_owned(), schema, texts }
    }

    pub fn of(&self, statement: Statement) -> &str {
        &self.texts[statement as usize]
    }

    /// A text with the schema in its place.
    pub fn fill(&self, text: &str) -> String {
        filled(text, &self.schema)
    }
}

fn filled(text: &str, schema: &str) -> String {
    text.replace("{schema}", schema)
}

/// A name as SQL writes one.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_of_any_name_is_a_name_and_no_more() {
        let texts = Texts::new("a\"; DROP TABLE b; --");
        assert!(texts.of(Statement::RemoveNamespace).contains("\"a\"\"; DROP TABLE b; --\".remove_namespace($1)"));
    }

    #[test]
    fn every_statement_has_its_own_text() {
        let texts = Texts::new("s");
        for statement in Statement::ALL {
            assert_eq!(texts.of(statement), texts.fill(statement.text()));
            assert_eq!(texts.of(statement).matches('$').count() > 0, !statement.types().is_empty());
        }
    }
}
