//! The working place: its tables, made, looked at and removed outside of any session.

use iolag_model::{FailureCode, Operation, PlaceMaker, PlaceToken};
use tokio_postgres::types::Type;

use super::link::{Failed, Link};
use super::{PostgresBackend, Tables};
use crate::servers::{Claims, Expected, MarkedPlace, dataset_name, key_of, wait_for};
use crate::{BackendError, Greeting, Inventory, Leftover, ObjectKey};

/// Tables whose names begin with that of the place, and a blank.
const TABLES: &str = "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') \
                      AND starts_with(relname::text, $1) ORDER BY relname";

/// The SQLSTATE of a column that is not there.
const UNDEFINED_COLUMN: &str = "42703";

impl PostgresBackend {
    /// Whether there is a working place.
    pub(super) async fn find_place(&self) -> Result<(), BackendError> {
        match self.claims(&mut self.link().await?).await?.is_empty() {
            true => {
                Err(BackendError::NoWorkingSet { path: format!("{}, tables {}", self.shown(), self.name) })
            }
            false => Ok(()),
        }
    }

    /// Asks for its version.
    pub(super) async fn greeting(&self) -> Result<Greeting, BackendError> {
        let mut parts = Vec::new();
        let mut link =
            Link::open(&*self.address()?, &mut parts).await.map_err(|failed| self.refused(failed))?;
        self.look_for_pooler(&mut link).await;
        let asked = link.rows("SELECT current_setting('server_version')", &[]).await;
        let rows = asked.map_err(|failed| self.refused(failed))?;
        let version = rows.first().and_then(|row| row.try_get::<_, &str>(0).ok());
        Ok(Greeting {
            software: version.map(|version| format!("PostgreSQL {version}")),
            address: Some(link.server.clone()),
            protection: parts.iter().any(|part| part.operation == Operation::CallTls).then_some("TLS"),
            parts,
            settings: self.address()?.from_variables.clone(),
            remark: self.remark.get().cloned(),
        })
    }

    async fn link(&self) -> Result<Link, BackendError> {
        let mut link =
            Link::open(&*self.address()?, &mut Vec::new()).await.map_err(|failed| self.refused(failed))?;
        if self.remark.get().is_none() {
            self.look_for_pooler(&mut link).await;
        }
        Ok(link)
    }

    /// A server that sees another port than ours has somebody in between: PgBouncer, or a network that translates addresses.
    async fn look_for_pooler(&self, link: &mut Link) {
        let Some(own) = link.own_port else { return };
        let asked = link.rows("SELECT inet_client_port()", &[]).await;
        let seen = asked.ok().and_then(|rows| rows.first()?.try_get::<_, Option<i32>>(0).ok().flatten());
        if seen.is_some_and(|seen| seen != i32::from(own)) {
            let told = "the server does not see our connection but another one: a pooler (PgBouncer) or a proxy is in between, and is measured with it";
            let _ = self.remark.set(told.to_owned());
        }
    }

    async fn claims(
        &self,
        link: &mut Link,
    ) -> Result<Vec<(PlaceToken, Option<iolag_model::RunId>)>, BackendError> {
        let text = format!("SELECT token, run FROM {}", self.statements().marker());
        let rows = match link.rows(&text, &[]).await {
            Ok(rows) => rows,
            Err(Failed { code, .. }) if code == FailureCode::from_errno(libc::ENOENT) => {
                return Ok(Vec::new());
            }
            // A table of this name without our columns is somebody else's.
            Err(Failed { said, .. }) if said.starts_with(UNDEFINED_COLUMN) => {
                return Err(BackendError::NotEmpty { path: format!("{}/{}", self.shown(), self.name) });
            }
            Err(failed) => return Err(self.refused(failed)),
        };
        let claim = |row: &tokio_postgres::Row| {
            let (token, run) = (row.try_get::<_, &str>(0).ok()?, row.try_get::<_, &str>(1).ok()?);
            Some((token.parse().ok()?, run.parse().ok()))
        };
        Ok(rows.iter().filter_map(claim).collect())
    }

    async fn tables(&self, link: &mut Link) -> Result<Vec<String>, BackendError> {
        let beginning = format!("{} ", self.name);
        let asked = link.rows(TABLES, &[(&beginning, Type::TEXT)]).await;
        let rows = asked.map_err(|failed| self.refused(failed))?;
        Ok(rows.iter().filter_map(|row| row.try_get(0).ok()).collect())
    }

    /// Whether iolag makes a table of this name.
    fn is_ours(&self, table: &str) -> bool {
        let rest = table.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix(' '));
        rest.is_some_and(|rest| rest == "objects" || key_of(&format!("{rest}/file-0")).is_some())
    }

    pub(super) async fn count(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        let key = ObjectKey { rank, dataset, index: 0 };
        let text =
            format!("SELECT count(*) FROM {} WHERE rank = $1 AND dataset = $2", self.statements().table(key));
        let numbers = [i64::from(rank), i64::from(dataset)];
        let parameters: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
            [(&numbers[0], Type::INT8), (&numbers[1], Type::INT8)];
        let mut link = self.link().await?;
        match link.rows(&text, &parameters).await {
            Ok(rows) => {
                let objects = rows.first().and_then(|row| row.try_get::<_, i64>(0).ok()).unwrap_or(0);
                Ok(Inventory { objects: objects.unsigned_abs(), foreign: 0 })
            }
            Err(Failed { code, .. }) => {
                let path = format!("table {} {}", self.name, dataset_name(key));
                Err(BackendError::Failed { action: "count the rows of", path, class: code.class(), code })
            }
        }
    }

    /// Drops the tables that iolag makes, each as long as the marker is that of the token; the marker goes last.
    pub(super) async fn remove(&self, token: PlaceToken) -> Result<Vec<Leftover>, BackendError> {
        let (mut link, mut left) = (self.link().await?, Vec::new());
        for table in self.tables(&mut link).await? {
            match self.is_ours(&table) {
                true => self.drop_table(&mut link, &table, token).await?,
                false => {
                    let reason = "iolag makes no table of this name".to_owned();
                    left.push(Leftover { path: format!("table {table}"), reason });
                }
            }
        }
        if left.is_empty() {
            self.drop_table(&mut link, &self.name, token).await?;
        }
        Ok(left)
    }

    async fn drop_table(&self, link: &mut Link, table: &str, token: PlaceToken) -> Result<(), BackendError> {
        // The marker is looked at in the same transaction, and nobody can change it until that has ended.
        let text = format!(
            "DO $drop$ BEGIN PERFORM 1 FROM {marker} WHERE token = '{token}' FOR UPDATE; IF NOT FOUND THEN RAISE 'the marker is that of another run'; \
             END IF; DROP TABLE \"{table}\"; END $drop$",
            marker = self.statements().marker(),
            table = table.replace('"', "\"\""),
        );
        let dropped = link.run(&text).await;
        dropped.map_err(|Failed { code, said }| {
            self.refused(Failed { code, said: format!("cannot drop the table {table}: {said}") })
        })
    }

    async fn make(&self, maker: &PlaceMaker) -> Result<(), BackendError> {
        let statements = self.statements();
        let marker = statements.marker();
        let mut text = format!(
            "BEGIN; CREATE TABLE {marker} (token text PRIMARY KEY, run text NOT NULL); INSERT INTO {marker} VALUES ('{}', '{}');",
            maker.token, maker.run
        );
        if self.url.tables == Tables::One {
            text.push_str(&statements.making(ObjectKey::default()));
            text.push(';');
        }
        text.push_str("COMMIT");
        let mut link = self.link().await?;
        let made = link.run(&text).await;
        made.map_err(|Failed { code, said }| {
            let advice = match code.errno() {
                _ if said.starts_with("3F000") => {
                    "; none of the schemas in the user's search_path is there: CREATE SCHEMA, or name another one with ?options=-csearch_path=SCHEMA"
                }
                Some(libc::EACCES) => {
                    "; the user may make no tables in its schema: GRANT CREATE ON SCHEMA, or name another one with ?options=-csearch_path=SCHEMA"
                }
                _ => "",
            };
            self.refused(Failed { code, said: format!("cannot make tables: {said}{advice}") })
        })
    }
}

impl MarkedPlace for PostgresBackend {
    fn target(&self) -> String {
        self.shown()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn expected(&self) -> &Expected {
        &self.expected
    }

    fn look(&self) -> Result<Claims, BackendError> {
        wait_for(async {
            let mut link = self.link().await?;
            let claims = self.claims(&mut link).await?;
            let mut has_more = false;
            for table in self.tables(&mut link).await? {
                // The table of all objects is there from the beginning.
                has_more |=
                    table != format!("{} objects", self.name) || self.has_rows(&mut link, &table).await?;
            }
            Ok(Claims { claims, has_more })
        })
    }

    fn unmark(&self, token: PlaceToken) -> Result<(), BackendError> {
        wait_for(async { self.drop_table(&mut self.link().await?, &self.name, token).await })
    }

    fn mark(&self, maker: &PlaceMaker) -> Result<(), BackendError> {
        // Made again by the same run, it is there.
        match self.look()?.claims.is_empty() {
            true => wait_for(self.make(maker)),
            false => Ok(()),
        }
    }

    fn remark(&self) -> Option<String> {
        self.remark.get().cloned()
    }
}

impl PostgresBackend {
    async fn has_rows(&self, link: &mut Link, table: &str) -> Result<bool, BackendError> {
        let text = format!("SELECT EXISTS (SELECT 1 FROM \"{}\")", table.replace('"', "\"\""));
        let asked = link.rows(&text, &[]).await;
        let rows = asked.map_err(|failed| self.refused(failed))?;
        Ok(rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or(false))
    }
}
