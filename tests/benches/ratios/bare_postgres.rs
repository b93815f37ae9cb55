//! Round trips to PostgreSQL: prepared statements on one connection, which the thread that asks drives itself.

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use crate::setting::Result;
use crate::shared::Bare;

const KEY: (&[u8], &[u8]) = (b"benchmark", b"payments");

pub struct BarePostgres {
    runtime: Runtime,
    client: Client,
    schema: String,
    read: Statement,
    write: Statement,
    version: i64,
    record: Vec<u8>,
}

impl Bare for BarePostgres {
    const HOW: &str = "tokio-postgres with prepared statements";

    fn open(address: &str, record: &[u8]) -> Result<Self> {
        let schema = format!("benchmark_{:016x}", fastrand::u64(..));
        // The parameters are those of halfopen.
        let server = address.split('?').next().unwrap_or(address);
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (client, read, write) = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
            runtime.spawn(async { drop(connection.await) });
            let table = format!(
                "CREATE SCHEMA {schema};
                 CREATE TABLE {schema}.record (
                     namespace bytea NOT NULL, dependency bytea NOT NULL, version bigint NOT NULL, data bytea NOT NULL,
                     PRIMARY KEY (namespace, dependency)
                 ) WITH (fillfactor = 50)"
            );
            client.batch_execute(&table).await?;
            let insert = format!("INSERT INTO {schema}.record VALUES ($1, $2, 0, $3)");
            client.execute(&insert, &[&KEY.0, &KEY.1, &record]).await?;
            let read = format!("SELECT version, data FROM {schema}.record WHERE namespace = $1 AND dependency = $2");
            let write = format!(
                "UPDATE {schema}.record SET version = $4, data = $5
                 WHERE namespace = $1 AND dependency = $2 AND version = $3"
            );
            let (read, write) = (client.prepare(&read).await?, client.prepare(&write).await?);
            Ok::<_, tokio_postgres::Error>((client, read, write))
        })?;
        Ok(BarePostgres { runtime, client, schema, read, write, version: 0, record: record.to_vec() })
    }

    fn read(&mut self) -> Result<()> {
        let rows = self.runtime.block_on(self.client.query(&self.read, &[&KEY.0, &KEY.1]))?;
        let row = rows.first().ok_or("the record is gone")?;
        (self.version, self.record) = (row.try_get(0)?, row.try_get(1)?);
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let next = self.version + 1;
        let record = self.record.as_slice();
        let replacement: [&(dyn ToSql + Sync); 5] = [&KEY.0, &KEY.1, &self.version, &next, &record];
        match self.runtime.block_on(self.client.execute(&self.write, &replacement))? {
            1 => Ok(()),
            other => Err(format!("{other} records were written").into()),
        }
    }
}

impl Drop for BarePostgres {
    fn drop(&mut self) {
        let gone = format!("DROP SCHEMA {} CASCADE", self.schema);
        if let Err(error) = self.runtime.block_on(self.client.batch_execute(&gone)) {
            eprintln!("{}: {error}", self.schema);
        }
    }
}
