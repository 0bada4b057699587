//! The statements of iolag's `postgres://`, on a table of the same shape, by tokio-postgres as its users write it.

use anyhow::{Context, Result};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, Statement};

use super::shared::{Shared, noise};
use crate::load::{OBJECT_BYTES, OBJECTS};

/// One client, with what the server knows of its statements.
pub struct Asks {
    client: Client,
    /// Stat, read, delete, create.
    statements: [Statement; 4],
    rank: i64,
    content: Vec<u8>,
}

/// Makes the table.
pub async fn make(target: &str) -> Result<()> {
    let table = "CREATE TABLE \"bare objects\" (rank bigint NOT NULL, dataset bigint NOT NULL, index bigint NOT NULL, content bytea NOT NULL, \
                 PRIMARY KEY (rank, dataset, index))";
    Ok(connect(target)
        .await?
        .batch_execute(&format!("DROP TABLE IF EXISTS \"bare objects\"; {table}"))
        .await?)
}

/// Removes it.
pub async fn remove(target: &str) -> Result<()> {
    Ok(connect(target).await?.batch_execute("DROP TABLE \"bare objects\"").await?)
}

async fn connect(target: &str) -> Result<Client> {
    let address = target.split('#').next().unwrap_or(target);
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.context("connecting")?;
    // That it has ended shows in what is asked.
    drop(tokio::task::spawn_local(connection));
    Ok(client)
}

impl Asks {
    /// Connects, lets the server know the statements, and makes the client's rows.
    pub async fn open(target: &str, rank: u32) -> Result<Self> {
        const OBJECT: &str = "WHERE rank = $1 AND dataset = $2 AND index = $3";
        let client = connect(target).await?;
        client.batch_execute("SET plan_cache_mode = force_generic_plan").await?;
        let create = "INSERT INTO \"bare objects\" (rank, dataset, index, content) VALUES ($1, $2, $3, $4) \
                      ON CONFLICT (rank, dataset, index) DO UPDATE SET content = EXCLUDED.content";
        let numbers = [Type::INT8, Type::INT8, Type::INT8];
        let row = [Type::INT8, Type::INT8, Type::INT8, Type::BYTEA];
        let stat = format!("SELECT octet_length(content) FROM \"bare objects\" {OBJECT}");
        let read = format!("SELECT content FROM \"bare objects\" {OBJECT}");
        let delete = format!("DELETE FROM \"bare objects\" {OBJECT}");
        let statements = [
            client.prepare_typed(&stat, &numbers).await?,
            client.prepare_typed(&read, &numbers).await?,
            client.prepare_typed(&delete, &numbers).await?,
            client.prepare_typed(create, &row).await?,
        ];
        let asks = Self { client, statements, rank: i64::from(rank), content: noise(OBJECT_BYTES) };
        for index in 0..OBJECTS as i64 {
            asks.create(index).await?;
        }
        Ok(asks)
    }

    /// In turn, as iolag's clients do.
    pub async fn until_over(self: Box<Self>, shared: &Shared) -> Result<()> {
        let count = || shared.counted.count(self.rank as u32, true);
        for index in 0.. {
            let key: [&(dyn ToSql + Sync); 3] = [&self.rank, &0_i64, &index];
            let [stat, read, delete, _] = &self.statements;
            let found = self.client.query(stat, &key).await?;
            anyhow::ensure!(found[0].try_get::<_, i32>(0)? == OBJECT_BYTES as i32, "another length");
            count();
            let rows = self.client.query(read, &key).await?;
            anyhow::ensure!(rows[0].try_get::<_, &[u8]>(0)?.len() == self.content.len(), "another length");
            count();
            anyhow::ensure!(self.client.execute(delete, &key).await? == 1, "nothing was deleted");
            count();
            self.create(index + OBJECTS as i64).await?;
            count();
            if shared.is_over() {
                break;
            }
        }
        Ok(())
    }

    async fn create(&self, index: i64) -> Result<()> {
        let content = &self.content[..];
        self.client.execute(&self.statements[3], &[&self.rank, &0_i64, &index, &content]).await?;
        Ok(())
    }
}
