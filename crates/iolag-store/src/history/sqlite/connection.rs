//! A connection to SQLite as an [`Engine`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql};

use super::content::Content;
use crate::history::HistoryError;
use crate::history::engine::{Engine, Purpose, Row, RowSink, Value};

/// Free space below which nothing is written. SQLite maps the index of its log; where a file system with small blocks is full to
/// the last one, touching a new page of that map ends the process (SIGBUS) instead of giving an error.
const FREE_BYTES_MIN: u64 = 256 << 10;

/// A connection to a file of SQLite.
#[derive(Debug)]
pub struct SqliteEngine {
    connection: Connection,
    place: Place,
    /// What it was found to be, if it is read without its log.
    found: Option<Content>,
}

/// Where the file is, and how long is waited for others: what errors need to know.
#[derive(Debug, Clone)]
pub(super) struct Place {
    path: PathBuf,
    text: String,
    patience: Duration,
}

impl Place {
    pub(super) fn new(path: &Path, patience: Duration) -> Self {
        Self { path: path.to_owned(), text: path.display().to_string(), patience }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) const fn patience(&self) -> Duration {
        self.patience
    }

    /// What SQLite says, as a sentence.
    pub(super) fn error(&self, error: &rusqlite::Error) -> HistoryError {
        let (location, what) = (self.text.clone(), error.to_string());
        let Some(code) = error.sqlite_error() else { return HistoryError::Database { location, what } };
        match code.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                HistoryError::Busy { location, waited_seconds: self.patience.as_secs() }
            }
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => HistoryError::Damaged { location, what },
            ErrorCode::DiskFull => HistoryError::Full { location, what },
            // The index of the log could not grow: ftruncate fails for lack of space only.
            ErrorCode::SystemIoFailure if code.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => {
                HistoryError::Full { location, what }
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => HistoryError::ReadOnly { location, what },
            ErrorCode::CannotOpen => HistoryError::Unsuitable {
                location,
                what: format!(
                    "{what}: its log needs a directory that you may write to; ask its owner for an export"
                ),
            },
            _ => HistoryError::Database { location, what },
        }
    }

    /// Refuses to write where next to no space is left.
    pub(super) fn require_space(&self) -> Result<(), HistoryError> {
        let directory = self.path.parent().unwrap_or_else(|| Path::new("/"));
        match rustix::fs::statvfs(directory) {
            Ok(space) if space.f_bavail.saturating_mul(space.f_frsize) < FREE_BYTES_MIN => {
                Err(HistoryError::Full {
                    location: self.text.clone(),
                    what: format!("less than {} KiB are free", FREE_BYTES_MIN >> 10),
                })
            }
            // Where the system does not say, the write itself will.
            _ => Ok(()),
        }
    }

    pub(super) fn newer(&self, version: i64, known: i64) -> HistoryError {
        HistoryError::Newer { location: self.text.clone(), version, known }
    }

    pub(super) fn older(&self, version: i64, known: i64) -> HistoryError {
        HistoryError::Older { location: self.text.clone(), version, known }
    }

    pub(super) fn foreign(&self, what: &str) -> HistoryError {
        HistoryError::Foreign { location: self.text.clone(), what: what.to_owned() }
    }

    pub(super) fn damaged(&self, what: String) -> HistoryError {
        HistoryError::Damaged { location: self.text.clone(), what }
    }

    pub(super) fn unsuitable(&self, what: String) -> HistoryError {
        HistoryError::Unsuitable { location: self.text.clone(), what }
    }
}

impl SqliteEngine {
    pub(super) const fn new(connection: Connection, place: Place, found: Option<Content>) -> Self {
        Self { connection, place, found }
    }

    /// Refuses what was read of a file while somebody wrote, if it was read without its log.
    fn require_as_found(&self) -> Result<(), HistoryError> {
        match self.found {
            Some(found) if Content::of(self.path()) != Some(found) => {
                Err(HistoryError::Changed { location: self.place.text.clone() })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.place.path()
    }
}

impl Engine for SqliteEngine {
    fn location(&self) -> &str {
        &self.place.text
    }

    fn execute(&mut self, statement: &str, values: &[Value<'_>]) -> Result<u64, HistoryError> {
        let place = &self.place;
        let mut prepared = self.connection.prepare_cached(statement).map_err(|error| place.error(&error))?;
        let rows =
            prepared.execute(rusqlite::params_from_iter(values)).map_err(|error| place.error(&error))?;
        Ok(rows as u64)
    }

    fn query(
        &mut self,
        statement: &str,
        values: &[Value<'_>],
        sink: &mut RowSink<'_>,
    ) -> Result<(), HistoryError> {
        let place = &self.place;
        let failed = |error: rusqlite::Error| place.error(&error);
        let mut read = || {
            let mut prepared = self.connection.prepare_cached(statement).map_err(failed)?;
            let mut rows = prepared.query(rusqlite::params_from_iter(values)).map_err(failed)?;
            while let Some(row) = rows.next().map_err(failed)? {
                sink(&SqliteRow { row, place })?;
            }
            Ok(())
        };
        let done = read();
        self.require_as_found()?;
        done
    }

    fn begin(&mut self, purpose: Purpose) -> Result<(), HistoryError> {
        let statement = match purpose {
            // The lock is taken here, where waiting for it is of no harm, not at the first row.
            Purpose::Write => {
                self.place.require_space()?;
                "BEGIN IMMEDIATE"
            }
            Purpose::Snapshot => "BEGIN DEFERRED",
        };
        self.connection.execute_batch(statement).map_err(|error| self.place.error(&error))
    }

    fn commit(&mut self) -> Result<(), HistoryError> {
        self.connection.execute_batch("COMMIT").map_err(|error| self.place.error(&error))
    }

    fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            // A transaction that cannot even be taken back ends with the connection.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if self.place.require_space().is_err() {
            // The log may hold what was just taken back, and the space that others, and the next append, need. If readers keep it
            // from being cut now, the last one to close the file does.
            let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        }
    }
}

struct SqliteRow<'a> {
    row: &'a rusqlite::Row<'a>,
    place: &'a Place,
}

impl SqliteRow<'_> {
    fn value(&self, column: usize) -> Result<ValueRef<'_>, HistoryError> {
        self.row.get_ref(column).map_err(|error| self.place.error(&error))
    }

    fn mismatch(&self, column: usize, value: ValueRef<'_>) -> HistoryError {
        self.place.damaged(format!("column {column} of an answer holds an unexpected {}", value.data_type()))
    }
}

impl Row for SqliteRow<'_> {
    fn integer(&self, column: usize) -> Result<Option<i64>, HistoryError> {
        match self.value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(number) => Ok(Some(number)),
            other => Err(self.mismatch(column, other)),
        }
    }

    fn real(&self, column: usize) -> Result<Option<f64>, HistoryError> {
        match self.value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Real(number) => Ok(Some(number)),
            other => Err(self.mismatch(column, other)),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>, HistoryError> {
        match self.value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).map(Some).map_err(|_| self.mismatch(column, ValueRef::Text(bytes)))
            }
            other => Err(self.mismatch(column, other)),
        }
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Real(number) => ValueRef::Real(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}
