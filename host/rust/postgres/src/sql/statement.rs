use tokio_postgres::types::Type;

/// A statement of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Statement {
    Load,
    Write,
    List,
    Namespaces,
    History,
    Transitions,
    Position,
    RemoveNamespace,
    Compact,
}

impl Statement {
    /// The SQL, with `{schema}` for the name of the schema, and the types of the parameters.
    pub fn definition(self) -> (&'static str, &'static [Type]) {
        match self {
            // Always one row. The floor is read only where there is no record. The clock is read after the record, so that
            // nothing in the record has a later date.
            Statement::Load => (
                "SELECT coalesce(r.version, (SELECT floor FROM {schema}.namespace WHERE namespace = $1), 0), r.data,
                     clock_timestamp()
                 FROM (VALUES (1)) AS one (row)
                 LEFT JOIN {schema}.record AS r ON r.namespace = $1 AND r.dependency = $2",
                &[Type::BYTEA, Type::BYTEA],
            ),
            Statement::Write => (
                "SELECT version_now, data_now, clock, outcome
                 FROM {schema}.write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                &[
                    Type::INT8_ARRAY,
                    Type::BYTEA_ARRAY,
                    Type::BYTEA_ARRAY,
                    Type::INT8_ARRAY,
                    Type::INT8_ARRAY,
                    Type::BYTEA_ARRAY,
                    Type::INT8_ARRAY,
                    Type::INT8_ARRAY,
                    Type::BYTEA_ARRAY,
                    Type::BOOL,
                ],
            ),
            Statement::List => (
                "SELECT dependency FROM {schema}.record WHERE namespace = $1 AND data IS NOT NULL ORDER BY dependency",
                &[Type::BYTEA],
            ),
            Statement::Namespaces => {
                ("SELECT DISTINCT namespace FROM {schema}.record WHERE data IS NOT NULL ORDER BY namespace", &[])
            }
            Statement::History => (
                "SELECT transition FROM {schema}.transition
                 WHERE namespace = $1 AND dependency = $2 AND number IS NOT NULL ORDER BY number DESC LIMIT $3",
                &[Type::BYTEA, Type::BYTEA, Type::INT8],
            ),
            Statement::Transitions => (
                "SELECT transition, dependency, position FROM {schema}.transition
                 WHERE namespace = $1 AND position > $2 ORDER BY position LIMIT $3",
                &[Type::BYTEA, Type::INT8, Type::INT8],
            ),
            Statement::Position => ("SELECT position FROM {schema}.namespace WHERE namespace = $1", &[Type::BYTEA]),
            Statement::RemoveNamespace => ("SELECT {schema}.remove_namespace($1)", &[Type::BYTEA]),
            Statement::Compact => ("SELECT {schema}.compact($1)", &[Type::BYTEA]),
        }
    }
}

/// A name as SQL writes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
