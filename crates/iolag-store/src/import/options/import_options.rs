//! What the caller knows about a file; everything that is not said is guessed from the whole file and shown.

use std::path::Path;
use std::sync::Arc;

use iolag_model::{Nanoseconds, WallTime};
use jiff::tz::TimeZone;

use super::file_options::{ColumnName, HeaderRow, ImportForm, Separator};
use super::time_options::TimeFormat;
use super::value_options::{DecimalMark, IdenticalRows, MissingValues, ValueColumn, ValueUnit};

/// What the caller knows about a file.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Host name of the machine that measured; events of the journal name their own.
    pub host: String,
    /// What kind of file it is; guessed from its beginning if absent.
    pub form: Option<ImportForm>,
    /// What stands between two columns; guessed if absent.
    pub separator: Option<Separator>,
    /// Whether the first line names the columns.
    pub header: HeaderRow,
    /// Lines that begin with this character are not read.
    pub comment: Option<char>,
    /// Column of the time, by name or number from 1. Several are joined by a space, for files with date and time of day apart. If
    /// empty: a column named like a time, else the first one.
    pub time: Vec<ColumnName>,
    /// How times are written; guessed from all rows if absent.
    pub time_format: Option<TimeFormat>,
    /// Time zone of times that name none. Without it such times are refused: a wrong zone would shift years of data unseen.
    pub time_zone: Option<TimeZone>,
    /// Year of the first line, for times without a year (syslog).
    pub year: Option<i16>,
    /// What is added to times that are numbers: when it began, for times counted from the beginning of a measurement.
    pub origin: Option<WallTime>,
    /// Which columns are values, and of which series.
    pub values: Vec<ValueColumn>,
    /// Unit of values that name none; guessed from the cells and the column's name if absent, else seconds.
    pub unit: Option<ValueUnit>,
    /// What stands before the fraction; guessed if absent.
    pub decimal_mark: Option<DecimalMark>,
    /// Task of the series that has no other name.
    pub task: String,
    /// Target of series that name none; may be empty.
    pub target: String,
    /// Column that names the series, where every row belongs to another one.
    pub task_column: Option<ColumnName>,
    /// Column that names the target of a row.
    pub target_column: Option<ColumnName>,
    /// Column that says how it ended: `ok` or 0, `timeout` or 124, anything else is an error.
    pub status_column: Option<ColumnName>,
    /// A regular expression with the groups `time` and `value`, and if wanted `task`, `target`, `part` and `status`.
    pub pattern: Option<String>,
    /// What the clock could tell from zero; guessed from the digits if absent.
    pub resolution: Option<Nanoseconds>,
    /// A duration that reaches this was ended there: it is a time-out, and truly took at least so long. One that is more than a twentieth
    /// longer ended by itself, late.
    pub deadline: Option<Nanoseconds>,
    /// What to do with rows that say the same of the same series at the same time.
    pub identical_rows: IdenticalRows,
    /// What a duration is of which only the begin was written.
    pub missing: MissingValues,
    /// Rows that may be unreadable and are left out; one more and nothing is imported.
    pub bad_rows_max: u64,
    /// Largest file that is read, in bytes. The journal is read line by line and has no such limit.
    pub bytes_max: u64,
    /// Where what does not fit into memory is put aside, several times the size of a file, in files without a name.
    pub directory: Arc<Path>,
    /// Who says so, for events that name no author.
    pub author: String,
}

impl ImportOptions {
    /// Nothing is known but where it was measured.
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            form: None,
            separator: None,
            header: HeaderRow::Guess,
            comment: Some('#'),
            time: Vec::new(),
            time_format: None,
            time_zone: None,
            year: None,
            origin: None,
            values: Vec::new(),
            unit: None,
            decimal_mark: None,
            task: "imported".to_owned(),
            target: String::new(),
            task_column: None,
            target_column: None,
            status_column: None,
            pattern: None,
            resolution: None,
            deadline: None,
            identical_rows: IdenticalRows::Keep,
            missing: MissingValues::Gap,
            bad_rows_max: 0,
            bytes_max: 1 << 30,
            directory: Arc::from(Path::new("/tmp")),
            author: String::new(),
        }
    }
}
