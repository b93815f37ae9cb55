//! The schema: whether it is there, and making it.

use std::time::Instant;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::fault::{Failed, Nature};
use super::link::Link;
use super::options::PostgresOptions;
use super::statements::Texts;
use crate::error::StoreError;

/// One step a version. A step that was released is never changed.
const STEPS: [&str; 1] = [include_str!("schema.sql")];

/// Whoever makes or changes a schema holds this lock of the database: "halfopen" in ASCII.
const LOCK: i64 = 0x6861_6c66_6f70_656e;

/// Sees to it that the schema is there, and of this release. Where it is, nothing is written, so that no right to create
/// is needed.
pub(super) fn ensure(link: &mut Link, until: Instant, options: &PostgresOptions, texts: &Texts) -> Result<(), Failed> {
    let known = STEPS.len() as u64;
    let found = link.run(until, async |conversation| {
        conversation.forget();
        match version(conversation.client, texts).await? {
            Some(version) if version >= known => Ok(version),
            _ => migrate(conversation.client, texts).await,
        }
    });
    match found {
        Some(Ok(found)) if found > known => {
            let error = StoreError::Newer { place: options.place.clone(), found, known };
            Err(Failed { error, nature: Nature::Refused })
        }
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(options.failed(&error)),
        None => Err(Failed { error: options.silent(), nature: Nature::Lost }),
    }
}

/// The version of the schema; none where there is none.
async fn version(client: &Client, texts: &Texts) -> Result<Option<u64>, Error> {
    let newest = texts.fill("SELECT coalesce(max(version), 0) FROM {schema}.migration");
    match client.query_typed(&newest, &[]).await {
        Ok(rows) => Ok(rows.first().map(|row| row.try_get::<_, i32>(0)).transpose()?.map(|n| n.unsigned_abs().into())),
        Err(error) => match error.code() {
            Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Brings the schema up to date, whoever else is doing so at the same moment. Its version then.
async fn migrate(client: &mut Client, texts: &Texts) -> Result<u64, Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({LOCK})")).await?;
    let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1::text), \
               to_regclass($2::text) IS NOT NULL";
    let (schema, table) = (texts.name.as_str(), texts.fill("{schema}.migration"));
    let row = transaction.query_one(sql, &[&schema, &table]).await?;
    let (has_schema, has_table): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
    // Even where it is there, `IF NOT EXISTS` asks for the right to create.
    if !has_schema {
        transaction.batch_execute(&texts.fill("CREATE SCHEMA {schema}")).await?;
    }
    if !has_table {
        let table = "CREATE TABLE {schema}.migration (
                         version integer PRIMARY KEY,
                         done timestamptz NOT NULL DEFAULT now()
                     )";
        transaction.batch_execute(&texts.fill(table)).await?;
    }
    let done = version(transaction.client(), texts).await?.unwrap_or(0);
    for (number, step) in (1..).zip(STEPS) {
        if number > done {
            transaction.batch_execute(&texts.fill(step)).await?;
            let note = format!("INSERT INTO {{schema}}.migration (version) VALUES ({number})");
            transaction.batch_execute(&texts.fill(&note)).await?;
        }
    }
    transaction.commit().await?;
    Ok(done.max(STEPS.len() as u64))
}
