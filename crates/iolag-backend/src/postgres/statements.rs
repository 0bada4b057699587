//! What is asked of a database, as SQL.

use iolag_model::Operation;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

use super::url::Tables;
use crate::ObjectKey;
use crate::servers::dataset_name;

/// The statements of a working place: the names of its tables begin with this.
#[derive(Debug, Clone)]
pub(super) struct Statements {
    name: String,
    tables: Tables,
}

impl Statements {
    /// What the server is let know when a client connects.
    pub(super) const PREPARED: &[Operation] =
        &[Operation::Stat, Operation::Read, Operation::Create, Operation::Delete, Operation::List];

    pub(super) fn new(name: &str, tables: Tables) -> Self {
        Self { name: name.to_owned(), tables }
    }

    /// The table in which a dataset's objects are, quoted.
    pub(super) fn table(&self, key: ObjectKey) -> String {
        match self.tables {
            Tables::One => quoted(&format!("{} objects", self.name)),
            Tables::Dataset => quoted(&format!("{} {}", self.name, dataset_name(key))),
        }
    }

    /// The table of the marker, quoted.
    pub(super) fn marker(&self) -> String {
        quoted(&self.name)
    }

    /// A table for objects, which is all there is to make for one.
    pub(super) fn making(&self, key: ObjectKey) -> String {
        let table = self.table(key);
        format!(
            "CREATE TABLE {table} (rank bigint NOT NULL, dataset bigint NOT NULL, index bigint NOT NULL, content bytea NOT NULL, \
             PRIMARY KEY (rank, dataset, index))"
        )
    }

    /// Whether a statement is the same for every object.
    pub(super) const fn are_fixed(&self) -> bool {
        matches!(self.tables, Tables::One)
    }

    /// The text for an object, with its numbers as parameters, if it is an operation.
    pub(super) fn text(&self, operation: Operation, key: ObjectKey) -> Option<String> {
        const OBJECT: &str = "rank = $1 AND dataset = $2 AND index = $3";
        let table = self.table(key);
        Some(match operation {
            Operation::Stat => format!("SELECT octet_length(content) FROM {table} WHERE {OBJECT}"),
            Operation::Read => format!("SELECT content FROM {table} WHERE {OBJECT}"),
            Operation::Create => format!(
                "INSERT INTO {table} (rank, dataset, index, content) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (rank, dataset, index) DO UPDATE SET content = EXCLUDED.content"
            ),
            Operation::Delete => format!("DELETE FROM {table} WHERE {OBJECT}"),
            Operation::List => format!("SELECT index FROM {table} WHERE rank = $1 AND dataset = $2"),
            Operation::MakeDirectory if self.tables == Tables::Dataset => self.making(key),
            Operation::RemoveDirectory if self.tables == Tables::Dataset => format!("DROP TABLE {table}"),
            _ => return None,
        })
    }
}

/// An identifier with whatever is in it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A question, ready to be asked.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) operation: Operation,
    /// Empty where the server knows the statement.
    text: String,
    numbers: [i64; 3],
    bytes: usize,
}

impl Asked {
    pub(super) fn new(operation: Operation, text: String, key: ObjectKey, bytes: usize) -> Self {
        // Two billion clients and nine quintillion objects are more than there are.
        let numbers = [i64::from(key.rank), i64::from(key.dataset), key.index as i64];
        Self { operation, text, numbers, bytes }
    }

    /// The types of the parameters of an operation.
    pub(super) const fn types(operation: Operation) -> &'static [Type] {
        match operation {
            Operation::Create => &[Type::INT8, Type::INT8, Type::INT8, Type::BYTEA],
            Operation::List => &[Type::INT8, Type::INT8],
            Operation::MakeDirectory | Operation::RemoveDirectory => &[],
            _ => &[Type::INT8, Type::INT8, Type::INT8],
        }
    }

    /// Asks by a statement that the server knows, or by one that it gets with the question: one round trip either way. The rows, and how
    /// many were changed.
    pub(super) async fn ask(
        &self,
        client: &Client,
        statement: Option<&Statement>,
        content: &[u8],
    ) -> Result<(Vec<Row>, u64), Error> {
        let content = &content[..self.bytes.min(content.len())];
        let [rank, dataset, index] = &self.numbers;
        let all: [&(dyn ToSql + Sync); 4] = [rank, dataset, index, &content];
        let types = Self::types(self.operation);
        let parameters = &all[..types.len()];
        let typed = || parameters.iter().copied().zip(types.iter().cloned()).collect::<Vec<_>>();
        let has_rows = matches!(self.operation, Operation::Stat | Operation::Read | Operation::List);
        match (statement, has_rows) {
            (Some(statement), true) => Ok((client.query(statement, parameters).await?, 0)),
            (Some(statement), false) => Ok((Vec::new(), client.execute(statement, parameters).await?)),
            (None, true) => Ok((client.query_typed(&self.text, &typed()).await?, 0)),
            (None, false) => Ok((Vec::new(), client.execute_typed(&self.text, &typed()).await?)),
        }
    }
}
