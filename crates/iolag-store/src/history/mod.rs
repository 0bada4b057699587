//! The history: what watches remember for years, in a database.
//!
//! One trait, [`History`], and two databases that keep it: a file of SQLite on a local disk ([`SqliteHistory`]) for one host, and
//! a PostgreSQL server ([`PostgresHistory`]) for a site. Both have the same tables and the same statements; only how a statement
//! is sent differs.
//!
//! Invariants: an append is one transaction, all or nothing, and durable when it returns. The content does not depend on the
//! order in which records are appended, nor on how often: of two records with the same key one rule says what remains (see
//! `append.rs`, the rules are joins of semilattices: commutative, associative, idempotent). Nothing is ever removed: what an import
//! brought that was undone, or that a later import replaced, is kept beside what counts (`samples.rs`). Targets are read under the names
//! that they have now, but for records as a whole, which keep those that were written (`names.rs`).
//!
//! Time and quantities are integers (ns, bytes, µs, thousandths). Limits: what exceeds a signed 64-bit number (durations of more
//! than 292 years) is stored as its greatest, NaN and infinite values as no value, zero bytes in texts as U+FFFD.
//!
//! Size, measured: 123 bytes per sample in SQLite, of which 42 are its two indexes; 291 in PostgreSQL. The tables are described in docs/history.md.

mod append;
mod canonical;
mod database;
mod engine;
mod error;
mod lines;
mod names;
mod place;
#[cfg(feature = "postgres")]
mod postgres;
mod queries;
mod rows;
mod samples;
mod sqlite;

use std::path::Path;

use iolag_model::{
    BatchContent, Configuration, Event, Evidence, HistoryColumns, HistoryRecord, HistorySample, Outage,
    ProbeId, Rename, Series, SeriesKey, WallSpan, WatchSession,
};

pub use canonical::canonical;
pub use database::DatabaseHistory;
pub use error::HistoryError;
pub use lines::{LastLine, Merged, merge_records, read_records, write_records};
pub use names::called_now;
pub use place::{check_place, is_path, is_server, same_scheme, shown_place};
#[cfg(feature = "postgres")]
pub use postgres::{PasswordSources, PostgresEngine, PostgresHistory};
pub use sqlite::{Access, SqliteEngine, SqliteHistory};

/// What makes tables of this version in a database's `schema` look like the present ones to one connection, if anything does.
fn views_of_older(version: i64, schema: &str) -> Option<String> {
    const AS_VERSION_3: &str = include_str!("as_version_3.sql");
    const AS_VERSION_4: &str = include_str!("as_version_4.sql");
    let views = match version {
        2 => format!("{AS_VERSION_3}\n{AS_VERSION_4}"),
        3 => AS_VERSION_4.to_owned(),
        _ => return None,
    };
    Some(views.replace("TABLES", schema))
}

/// What remembers. All methods may wait for a disk, a lock or a network: they belong into a process with a deadline.
pub trait History: Send {
    /// Where it is, secrets removed; for messages.
    fn location(&self) -> &str;

    /// Remembers these records in one transaction: all of them, durably, or none.
    ///
    /// # Errors
    /// If the history cannot be written now (full, locked, unreachable, read-only) or at all (damaged). Then nothing of this call
    /// is remembered, and the same records may be appended again.
    fn append(&mut self, records: &[HistoryRecord]) -> Result<Appended, HistoryError>;

    /// All hosts that are named anywhere, sorted.
    ///
    /// # Errors
    /// If the history cannot be read, as with all methods below.
    fn hosts(&mut self) -> Result<Vec<String>, HistoryError>;

    /// All series, sorted by key. One of which only samples are known so far is a task without description.
    fn series(&mut self) -> Result<Vec<Series>, HistoryError>;

    /// The samples of one series that were intended within `span`, by intended moment and probe. Empty for an unknown series; one that
    /// is no longer called so is known.
    fn samples(&mut self, series: &SeriesKey, span: WallSpan) -> Result<HistoryColumns, HistoryError>;

    /// The first samples of one series from `probe` on, at most `samples_max` of them, by probe. Empty for an unknown series.
    fn samples_from(
        &mut self,
        series: &SeriesKey,
        probe: ProbeId,
        samples_max: usize,
    ) -> Result<HistoryColumns, HistoryError>;

    /// When the first and the last of the samples within `span` were intended; nothing if there are none.
    fn covered(&mut self, series: &SeriesKey, span: WallSpan) -> Result<Option<WallSpan>, HistoryError>;

    /// The samples of one probe in all series of a host that were intended within `span`, by series.
    fn probe(
        &mut self,
        host: &str,
        probe: ProbeId,
        span: WallSpan,
    ) -> Result<Vec<HistorySample>, HistoryError>;

    /// The mark of the newest change of a sample, to begin following with.
    fn newest_change(&mut self) -> Result<ChangeMark, HistoryError>;

    /// The samples that are new or were superseded after `mark`, at most `samples_max` of them, in the order of their changes. A
    /// sample that changed twice comes once, as it is now. No change is missed, whoever else writes meanwhile.
    fn changes_after(&mut self, mark: ChangeMark, samples_max: usize) -> Result<Changes, HistoryError>;

    /// The events that begin or last within `span`, by begin and id.
    fn events(&mut self, span: WallSpan) -> Result<Vec<Event>, HistoryError>;

    /// The outages that begin or last within `span`, by begin, host and probe.
    fn outages(&mut self, span: WallSpan) -> Result<Vec<Outage>, HistoryError>;

    /// All other names of targets, by host, moment and former name.
    fn renames(&mut self) -> Result<Vec<Rename>, HistoryError>;

    /// All imports, oldest first, with how much each brought.
    fn batches(&mut self) -> Result<Vec<BatchContent>, HistoryError>;

    /// The sessions of watching that begin or last within `span`, by begin and host.
    fn sessions(&mut self, span: WallSpan) -> Result<Vec<WatchSession>, HistoryError>;

    /// All configurations, by host, target and first appearance.
    fn configurations(&mut self) -> Result<Vec<Configuration>, HistoryError>;

    /// The configuration that holds on each target of `host`, by target: that of its newest sample, unless another was seen for the first
    /// time after that. Targets are called as they were then: a watch asks, which knows them by these names.
    fn present_configurations(&mut self, host: &str) -> Result<Vec<Configuration>, HistoryError>;

    /// The outages of `host` that are not known to be over, by begin and probe; with names as they were then.
    fn open_outages(&mut self, host: &str) -> Result<Vec<Outage>, HistoryError>;

    /// What was seen of a probe, by moment.
    fn evidence(&mut self, host: &str, probe: ProbeId) -> Result<Vec<Evidence>, HistoryError>;

    /// Hands out everything within `span` as one consistent state: all series and configurations; sessions, events and outages
    /// that overlap it; samples that were intended and evidence that was gathered in it. Two histories with the same content give
    /// the same records in the same order.
    ///
    /// # Errors
    /// Also what `sink` answers, as [`HistoryError::Sink`].
    fn records(&mut self, span: WallSpan, sink: &mut RecordSink<'_>) -> Result<(), HistoryError>;

    /// The same without the samples that do not count.
    ///
    /// # Errors
    /// As above.
    fn counting_records(&mut self, span: WallSpan, sink: &mut RecordSink<'_>) -> Result<(), HistoryError>;
}

/// Takes records, one after the other; its first error ends the giving.
pub type RecordSink<'a> = dyn FnMut(HistoryRecord) -> std::io::Result<()> + 'a;

/// What an append did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Appended {
    /// Records that were given.
    pub records: u64,
    /// Rows that are new or changed; the others were known already.
    pub changed: u64,
}

/// A place in the order in which the samples of one history changed. Of no meaning in another history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ChangeMark(pub i64);

/// Samples that changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// As they are now.
    pub samples: Vec<HistorySample>,
    /// Where to go on from.
    pub mark: ChangeMark,
}

/// Opens the history at `place`: a `postgres://` or `postgresql://` URL, or the path of a file on a local disk.
///
/// # Errors
/// If it names neither, cannot be opened, or not in this way; each error says what to do.
pub fn open_history(place: &str, access: Access) -> Result<Box<dyn History>, HistoryError> {
    check_place(place)?;
    if is_server(place) {
        return connect(place, access);
    }
    Ok(Box::new(SqliteHistory::open(Path::new(place), access)?))
}

#[cfg(feature = "postgres")]
fn connect(url: &str, access: Access) -> Result<Box<dyn History>, HistoryError> {
    Ok(Box::new(PostgresHistory::connect(url, access)?))
}

#[cfg(not(feature = "postgres"))]
fn connect(url: &str, _: Access) -> Result<Box<dyn History>, HistoryError> {
    let what = "this iolag was built without PostgreSQL".to_owned();
    Err(HistoryError::Place { location: shown_place(url), what })
}
