use halfopen_contract::store::{FORGOTTEN, REMOVED};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::statement::quoted;

/// The version of the schema that this release makes and knows.
pub(crate) const VERSION: u64 = 1;

/// The advisory lock of a process that makes the schema: "halfopen" in ASCII.
const LOCK: i64 = 0x6861_6c66_6f70_656e;

/// Makes the schema where it is missing, and returns its version. An existing schema needs no right to create.
pub(crate) async fn ensure(client: &Client, schema: &str) -> Result<u64, Error> {
    if let Some(found) = version(client, schema).await? {
        return Ok(found);
    }
    let sql = include_str!("schema.sql")
        .replace("{schema}", &quoted(schema))
        .replace("{version}", &VERSION.to_string())
        .replace("{lock}", &LOCK.to_string())
        .replace("{forgotten}", &FORGOTTEN.to_string())
        .replace("{removed}", &REMOVED.to_string());
    client.batch_execute(&sql).await?;
    Ok(version(client, schema).await?.unwrap_or_default())
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
