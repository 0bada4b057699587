//! What sites have measured already: time series and lists of events in files of other programs, made into history records.
//!
//! [`read`] takes any readable source and [`ImportOptions`], and gives an [`Import`]: series with samples, events, and an
//! [`ImportReport`] that shows what was guessed. Forms: separated files (CSV and relatives), exports of Grafana, text logs of times
//! and values, what time(1) printed after a date, lines that a regular expression matches, lists of events, and the journal.
//!
//! Invariants: what is guessed is guessed from the whole file and shown; what has two readings is refused with both; a row that cannot
//! be read is an error with its line, unless the caller allows some to be left out, which are then counted and shown. Zero is a sample: it took less
//! than the clock could tell. Importing a file twice gives the same identities. No input makes a panic.
//!
//! Memory: a file is read once and put aside, as are its rows, its times and its samples in turn, in files without a name in
//! [`ImportOptions::directory`] where they are more than a MiB; each is read as often as needed, from its begin to its end. What is in
//! memory does not grow with the rows, but with the longest row, the series and the rows of one run of a sort (`aside/sorter.rs`); the lists of
//! events and what the journal gives are held as a whole. What is put aside takes up to eight times the size of the file.
//!
//! Limits: a file has at most [`ImportOptions::bytes_max`] bytes; the journal is read line by line. Times are from 1970 to 2261.

mod aside;
mod certainty;
mod comparison;
mod error;
mod fingerprint;
mod forms;
mod options;
mod reading;
mod rows;
mod series;
mod source;
mod times;
mod values;

pub use aside::bytes::{AsideError, nameless_file};
pub use certainty::Certainty;
pub use comparison::{Comparison, Difference, OtherQuantity, Reading, quantity};
pub use error::{BadRow, BadRows, ImportError};
pub use forms::recognition::is_history_export;
pub use options::file_options::{ColumnName, HeaderRow, ImportForm, Separator};
pub use options::import_options::ImportOptions;
pub use options::option_error::OptionError;
pub use options::time_options::{TimeFormat, parse_time_zone};
pub use options::value_options::{DecimalMark, IdenticalRows, MissingValues, ValueColumn, ValueUnit};
pub use reading::read;
pub use series::gaps::Gaps;
pub use series::imported::{Import, ImportedSeries};
pub use series::imported_samples::{ImportedSample, ImportedSamples, SamplesReader};
pub use series::report::{ImportReport, SeriesReport};
pub use times::column::GuessedTime;
pub use values::resolution::GuessedResolution;
