//! Where samples come from, one series at a time, so that years of them need not fit into memory together.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use iolag_model::{Evidence, HistoryColumns, Outcome, ProbeId, Series, WallTime};

use super::input::HistoryInput;
use super::series::observations::Blockers;

/// Reads the samples of a history. `'a` is how long lent ones live.
pub trait SampleSource<'a>: Send {
    /// Why something cannot be read.
    type Error: Send;

    /// The samples of one series. Each series is asked for once.
    ///
    /// # Errors
    /// If they cannot be read; then nothing is analysed.
    fn samples(&mut self, series: &Series) -> Result<Cow<'a, HistoryColumns>, Self::Error>;

    /// What is known of these probes, which kept others of this series from being started: what all series of its host and the
    /// outages tell.
    ///
    /// # Errors
    /// The same.
    fn blockers(&mut self, series: &Series, asked: &BTreeSet<ProbeId>) -> Result<Arc<Blockers>, Self::Error>;

    /// How this probe of the series failed, as its command said: `exit status 2: no such project`. Asked of the last that failed.
    ///
    /// # Errors
    /// The same.
    fn failure(&mut self, series: &Series, probe: ProbeId) -> Result<Option<String>, Self::Error>;

    /// Nothing more will be asked; what follows needs the memory that reading took.
    fn all_read(&mut self) {}
}

/// Samples that are in memory.
pub(crate) struct InMemory<'a> {
    series: &'a [(Series, HistoryColumns)],
    blockers: BTreeMap<&'a str, Arc<Blockers>>,
    failures: &'a [Evidence],
}

impl<'a> InMemory<'a> {
    pub(crate) fn new(input: &'a HistoryInput) -> Self {
        let blockers = blockers_by_host(input);
        let blockers = blockers.into_iter().map(|(host, blockers)| (host, Arc::new(blockers))).collect();
        Self { series: &input.series, blockers, failures: &input.failures }
    }
}

impl<'a> SampleSource<'a> for InMemory<'a> {
    type Error = Infallible;

    fn samples(&mut self, series: &Series) -> Result<Cow<'a, HistoryColumns>, Infallible> {
        let place = self.series.binary_search_by(|(other, _)| other.key.cmp(&series.key));
        Ok(place.map_or_else(|_| Cow::default(), |place| Cow::Borrowed(&self.series[place].1)))
    }

    fn blockers(&mut self, series: &Series, _: &BTreeSet<ProbeId>) -> Result<Arc<Blockers>, Infallible> {
        Ok(self.blockers.get(series.key.host.as_str()).cloned().unwrap_or_default())
    }

    fn failure(&mut self, series: &Series, probe: ProbeId) -> Result<Option<String>, Infallible> {
        let of_probe = |one: &&Evidence| one.probe == probe && one.host == series.key.host;
        Ok(self.failures.iter().filter(of_probe).find_map(Evidence::failure).map(str::to_owned))
    }
}

/// What is known of the probes of each host that kept others from being started.
pub(crate) fn blockers_by_host(input: &HistoryInput) -> BTreeMap<&str, Blockers> {
    let mut columns_by_host: BTreeMap<&str, Vec<&HistoryColumns>> = BTreeMap::new();
    for (series, columns) in &input.series {
        columns_by_host.entry(&series.key.host).or_default().push(columns);
    }
    let mut by_host: BTreeMap<&str, Blockers> = columns_by_host
        .into_iter()
        .map(|(host, columns)| (host, Blockers::of_slots(host, columns)))
        .collect();
    for (series, columns) in &input.series {
        if let Some(blockers) = by_host.get_mut(series.key.host.as_str()) {
            blockers.add_series(series, columns);
        }
    }
    for outage in &input.outages {
        if let Some(blockers) = by_host.get_mut(outage.host.as_str()) {
            blockers.add_outage(outage);
        }
    }
    by_host
}

/// The last probe in these columns that failed, and when it began.
pub fn last_failed(columns: &HistoryColumns) -> Option<(ProbeId, WallTime)> {
    let row = columns.outcome.iter().rposition(|outcome| *outcome == Outcome::Error)?;
    Some((columns.probe[row], columns.start[row]))
}

/// The probes because of which slots in these columns were skipped.
pub fn blockers_asked(columns: &HistoryColumns) -> BTreeSet<ProbeId> {
    let rows = columns.outcome.iter().zip(&columns.blocker);
    let skipped = rows.filter(|(outcome, blocker)| **outcome == Outcome::Skipped && **blocker != ProbeId(0));
    skipped.map(|(_, blocker)| *blocker).collect()
}
