use halfopen_contract::store::{FORGOTTEN, REMOVED};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::statement::quoted;

/// The version of the schema that this release makes and knows.
pub(crate) const VERSION: u64 = 1;

const SCHEMA: &str = include_str!("schema.sql");

/// The advisory lock of a process that makes the schema: "halfopen" in ASCII.
const LOCK: i64 = 0x6861_6c66_6f70_656e;

/// Makes the schema where it is missing, and returns its version. An existing schema needs no right to create.
pub(crate) async fn ensure(client: &mut Client, schema: &str) -> Result<u64, Error> {
    match version(client, schema).await? {
        Some(version) => Ok(version),
        None => create(client, schema).await,
    }
}

/// The version of the schema; none where there is no schema.
async fn version(client: &Client, schema: &str) -> Result<Option<u64>, Error> {
    let newest = format!("SELECT max(version) FROM {}.migration", quoted(schema));
    let rows = match client.query_typed(&newest, &[]).await {
        Err(error) if matches!(error.code(), Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME)) => {
            return Ok(None);
        }
        rows => rows?,
    };
    let version: Option<i32> = rows.first().map(|row| row.try_get(0)).transpose()?.flatten();
    Ok(version.map(|version| version.unsigned_abs().into()))
}

/// Makes the schema, unless another process does so at the same moment.
async fn create(client: &mut Client, schema: &str) -> Result<u64, Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({LOCK})")).await?;
    let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1::text), \
               to_regclass($2::text) IS NOT NULL";
    let table = format!("{}.migration", quoted(schema));
    let row = transaction.query_one(sql, &[&schema, &table]).await?;
    let (has_schema, has_table): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
    // `IF NOT EXISTS` would need the right to create also where the schema exists.
    if !has_schema {
        transaction.batch_execute(&format!("CREATE SCHEMA {}", quoted(schema))).await?;
    }
    if has_table && let Some(version) = version(transaction.client(), schema).await? {
        return Ok(version);
    }
    let migration = format!(
        "CREATE TABLE IF NOT EXISTS {table} (version integer PRIMARY KEY, done timestamptz NOT NULL DEFAULT now());
         INSERT INTO {table} (version) VALUES ({VERSION});"
    );
    transaction.batch_execute(&migration).await?;
    let sql = SCHEMA.replace("{schema}", &quoted(schema));
    let sql = sql.replace("{forgotten}", &FORGOTTEN.to_string()).replace("{removed}", &REMOVED.to_string());
    transaction.batch_execute(&sql).await?;
    transaction.commit().await?;
    Ok(VERSION)
}
