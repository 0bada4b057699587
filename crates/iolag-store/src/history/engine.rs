//! How statements reach a database: all that SQLite and PostgreSQL do differently once their tables are there.
//!
//! Statements are written once for both, with parameters `$1`, `$2`… that first appear in ascending order: PostgreSQL counts
//! them, SQLite takes them as names and numbers these in the order of their first appearance.

use super::HistoryError;

/// A parameter of a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Not known.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number that may have a fraction.
    Real(f64),
    /// A text.
    Text(&'a str),
}

impl Value<'_> {
    pub(crate) fn optional(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Integer)
    }
}

impl<'a> Value<'a> {
    pub(crate) fn optional_text(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Value::Text)
    }
}

/// A row of an answer; columns count from 0. `None` is NULL.
pub trait Row {
    /// A whole number.
    ///
    /// # Errors
    /// If the column holds something else, as all of these.
    fn integer(&self, column: usize) -> Result<Option<i64>, HistoryError>;
    /// A number.
    ///
    /// # Errors
    /// As above.
    fn real(&self, column: usize) -> Result<Option<f64>, HistoryError>;
    /// A text.
    ///
    /// # Errors
    /// As above.
    fn text(&self, column: usize) -> Result<Option<&str>, HistoryError>;
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To write, with all other writers kept out until its end.
    Write,
    /// To see one state in several statements.
    Snapshot,
}

/// Takes rows, one after the other.
pub type RowSink<'a> = dyn FnMut(&dyn Row) -> Result<(), HistoryError> + 'a;

/// A connection to a database that has the tables of this version.
pub trait Engine: Send {
    /// Where the database is, secrets removed.
    fn location(&self) -> &str;

    /// How often the connection was made: what was learnt through an earlier one may hold no longer.
    fn connections(&self) -> u64 {
        1
    }

    /// Executes a statement; returns how many rows it wrote.
    ///
    /// # Errors
    /// If the database refuses or fails, as all of these.
    fn execute(&mut self, statement: &str, values: &[Value<'_>]) -> Result<u64, HistoryError>;

    /// Asks for rows.
    ///
    /// # Errors
    /// Also what `sink` answers.
    fn query(
        &mut self,
        statement: &str,
        values: &[Value<'_>],
        sink: &mut RowSink<'_>,
    ) -> Result<(), HistoryError>;

    /// Begins a transaction.
    ///
    /// # Errors
    /// As above.
    fn begin(&mut self, purpose: Purpose) -> Result<(), HistoryError>;

    /// Ends a transaction; what it wrote is durable when this returns.
    ///
    /// # Errors
    /// As above. Then nothing of it is kept.
    fn commit(&mut self) -> Result<(), HistoryError>;

    /// Takes back a transaction. Where that fails the connection is broken, and the database takes it back by itself.
    fn roll_back(&mut self);
}

/// The only number in the answer, if there is one.
pub(crate) fn number(
    engine: &mut dyn Engine,
    statement: &str,
    values: &[Value<'_>],
) -> Result<Option<i64>, HistoryError> {
    let mut number = None;
    engine.query(statement, values, &mut |row| {
        number = row.integer(0)?;
        Ok(())
    })?;
    Ok(number)
}
