//! The samples of a history, read one series after the other while the one before is analysed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use iolag_analysis::history::{Blockers, HistoryAnalysis, HistoryInput, SampleSource, analyse_source};
use iolag_model::{HistoryColumns, Outage, ProbeId, Series, WallSpan};
use iolag_store::history::{History, HistoryError};
use jiff::tz::TimeZone;

use super::history::{analysis_options, read_told};
use crate::args::HistoryMethod;

/// Reads and analyses what a history holds of `span`. Of years of samples no more than a quarter is in memory.
///
/// # Errors
/// If the history cannot be read.
pub fn analyse(
    history: &mut dyn History,
    span: WallSpan,
    method: &HistoryMethod,
    zone: &TimeZone,
) -> Result<HistoryAnalysis, HistoryError> {
    let mut series = Vec::new();
    let mut covered: Option<WallSpan> = None;
    for one in history.series()? {
        if let Some(own) = history.covered(&one.key, span)? {
            covered =
                Some(covered.map_or(own, |all| WallSpan {
                    begin: all.begin.min(own.begin),
                    end: all.end.max(own.end),
                }));
            series.push(one);
        }
    }
    let input: HistoryInput = read_told(history, span)?;
    let options = analysis_options(covered, method, zone);
    let source = Samples { history, span, outages: &input.outages };
    analyse_source(&series, source, &input.told(), &options)
}

struct Samples<'a> {
    history: &'a mut dyn History,
    span: WallSpan,
    outages: &'a [Outage],
}

impl<'a> SampleSource<'a> for Samples<'_> {
    type Error = HistoryError;

    fn samples(&mut self, series: &Series) -> Result<Cow<'a, HistoryColumns>, HistoryError> {
        give_memory_back();
        self.history.samples(&series.key, self.span).map(Cow::Owned)
    }

    fn blockers(
        &mut self,
        series: &Series,
        asked: &BTreeSet<ProbeId>,
    ) -> Result<Arc<Blockers>, HistoryError> {
        let mut blockers = Blockers::of_host(&series.key.host);
        for probe in asked {
            let samples = self.history.probe(&series.key.host, *probe, self.span)?;
            samples.iter().for_each(|sample| blockers.add_sample(sample));
        }
        self.outages.iter().for_each(|outage| blockers.add_outage(outage));
        Ok(Arc::new(blockers))
    }
}

/// Returns what the series before left free: the allocator of the GNU library keeps it, between what is kept of each series.
fn give_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function touches free memory only and may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
