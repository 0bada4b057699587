//! What every history does, whatever keeps it.

use iolag_model::{
    BatchContent, Configuration, Event, Evidence, HistoryColumns, HistoryRecord, HistorySample, Outage,
    ProbeId, Rename, Series, SeriesKey, WallSpan, WatchSession,
};

use super::HistoryError;

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

/// What a history is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To look; nothing is changed.
    ReadOnly,
    /// To look and append; it must exist.
    ReadWrite,
    /// To look and append; it is made if it is missing.
    Create,
}
