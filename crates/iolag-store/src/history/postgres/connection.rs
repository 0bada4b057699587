//! A connection to PostgreSQL as an [`Engine`].

use std::collections::HashMap;

use fallible_iterator::FallibleIterator;
use iolag_net::Protection;
use iolag_net::postgres::{Address, connector};
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Config, NoTls, Statement};

use super::migrations;
use super::refusals::{PATIENCE_SECONDS, connection_advice, failed, is_refusal};
use crate::history::engine::{Engine, Purpose, Row, RowSink, Value};
use crate::history::{Access, HistoryError};

/// A writer that falls silent within a transaction is thrown out after this time, in seconds, so that the others go on.
const SILENCE_SECONDS: u64 = 60;
/// The lock by which writers take turns: "iolag" and a number, among all advisory locks of the database.
const WRITERS_LOCK: i64 = 0x69_6f6c_6167_0001;

/// A connection to a PostgreSQL server, which is made again when it was lost between two transactions.
pub struct PostgresEngine {
    client: Client,
    statements: HashMap<String, Statement>,
    address: Address,
    access: Access,
    /// How often the connection was made.
    connections: u64,
    in_transaction: bool,
}

impl std::fmt::Debug for PostgresEngine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PostgresEngine")
            .field("location", &self.address.location)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

impl PostgresEngine {
    pub(super) fn connect(address: Address, access: Access) -> Result<Self, HistoryError> {
        let client = connect(&address, access)?;
        let statements = HashMap::new();
        Ok(Self { client, statements, address, access, connections: 1, in_transaction: false })
    }

    /// Makes sure of a connection, where that is possible without losing half a transaction.
    fn revive(&mut self) -> Result<(), HistoryError> {
        if self.client.is_closed() && !self.in_transaction {
            self.client = connect(&self.address, self.access)?;
            self.statements.clear();
            self.connections += 1;
        }
        Ok(())
    }

    fn prepare(&mut self, statement: &str) -> Result<Statement, HistoryError> {
        if let Some(prepared) = self.statements.get(statement) {
            return Ok(prepared.clone());
        }
        let prepared = self.client.prepare(statement).map_err(|error| failed(&self.address, &error))?;
        self.statements.insert(statement.to_owned(), prepared.clone());
        Ok(prepared)
    }

    fn batch(&mut self, statements: &str) -> Result<(), HistoryError> {
        self.client.batch_execute(statements).map_err(|error| failed(&self.address, &error))
    }
}

fn connect(address: &Address, access: Access) -> Result<Client, HistoryError> {
    let location = || address.location.clone();
    let config = Config::from(address.config.clone());
    let connected = match &address.protection {
        Protection::None => config.connect(NoTls),
        protection => {
            let unsuitable = |what| HistoryError::Refused { location: location(), what };
            config.connect(connector(protection).map_err(unsuitable)?)
        }
    };
    let mut client = connected.map_err(|error| {
        let what = connection_advice(address, &error);
        match is_refusal(&error) {
            true => HistoryError::Refused { location: location(), what },
            false => HistoryError::Connection { location: location(), what },
        }
    })?;
    let prepared = client.batch_execute(&format!(
        "SET search_path = iolag; SET lock_timeout = '{PATIENCE_SECONDS}s'; \
         SET idle_in_transaction_session_timeout = '{SILENCE_SECONDS}s'; SET client_min_messages = warning; \
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    ));
    prepared.map_err(|error| failed(address, &error))?;
    match access {
        Access::ReadOnly => {
            migrations::require_present_version(&mut client, address)?;
            client
                .batch_execute("SET default_transaction_read_only = on")
                .map_err(|error| failed(address, &error))?;
        }
        Access::ReadWrite => migrations::migrate_existing(&mut client, address)?,
        Access::Create => migrations::migrate(&mut client, address)?,
    }
    Ok(client)
}

impl Engine for PostgresEngine {
    fn location(&self) -> &str {
        &self.address.location
    }

    fn connections(&self) -> u64 {
        self.connections
    }

    fn execute(&mut self, statement: &str, values: &[Value<'_>]) -> Result<u64, HistoryError> {
        self.revive()?;
        let prepared = self.prepare(statement)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        self.client.execute(&prepared, &values).map_err(|error| failed(&self.address, &error))
    }

    fn query(
        &mut self,
        statement: &str,
        values: &[Value<'_>],
        sink: &mut RowSink<'_>,
    ) -> Result<(), HistoryError> {
        self.revive()?;
        let prepared = self.prepare(statement)?;
        let address = &self.address;
        let failed = |error: postgres::Error| failed(address, &error);
        let mut rows = self.client.query_raw(&prepared, values.iter()).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            sink(&PostgresRow { row, address })?;
        }
        Ok(())
    }

    fn begin(&mut self, purpose: Purpose) -> Result<(), HistoryError> {
        self.revive()?;
        let statements = match purpose {
            Purpose::Write => format!("BEGIN; SELECT pg_advisory_xact_lock({WRITERS_LOCK})"),
            Purpose::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
        };
        let begun = self.batch(&statements);
        self.in_transaction = begun.is_ok();
        if begun.is_err() {
            self.roll_back();
        }
        begun
    }

    fn commit(&mut self) -> Result<(), HistoryError> {
        self.batch("COMMIT")?;
        self.in_transaction = false;
        Ok(())
    }

    fn roll_back(&mut self) {
        // Where this fails the connection is lost, and the server takes the transaction back by itself.
        let _ = self.client.batch_execute("ROLLBACK");
        self.in_transaction = false;
    }
}

struct PostgresRow<'a> {
    row: postgres::Row,
    address: &'a Address,
}

impl PostgresRow<'_> {
    fn get<'r, T: postgres::types::FromSql<'r>>(&'r self, column: usize) -> Result<Option<T>, HistoryError> {
        self.row.try_get(column).map_err(|error| failed(self.address, &error))
    }
}

impl Row for PostgresRow<'_> {
    fn integer(&self, column: usize) -> Result<Option<i64>, HistoryError> {
        match *self.row.columns()[column].type_() {
            Type::INT2 => Ok(self.get::<i16>(column)?.map(i64::from)),
            Type::INT4 => Ok(self.get::<i32>(column)?.map(i64::from)),
            _ => self.get(column),
        }
    }

    fn real(&self, column: usize) -> Result<Option<f64>, HistoryError> {
        self.get(column)
    }

    fn text(&self, column: usize) -> Result<Option<&str>, HistoryError> {
        self.get(column)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut bytes::BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match (*self, kind) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Integer(number), &Type::INT2) => i16::try_from(number)?.to_sql(kind, out),
            (Self::Integer(number), &Type::INT4) => i32::try_from(number)?.to_sql(kind, out),
            (Self::Integer(number), _) => number.to_sql(&Type::INT8, out),
            (Self::Real(number), _) => number.to_sql(&Type::FLOAT8, out),
            (Self::Text(text), _) => text.to_sql(&Type::TEXT, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT2 | Type::INT4 | Type::INT8 | Type::FLOAT8 | Type::TEXT)
    }

    to_sql_checked!();
}
