//! How a history is analysed.

use iolag_model::Nanoseconds;

use super::changes::event_effect::EventWindows;
use super::changes::options::ChangeOptions;
use super::comparison::{ComparisonOptions, Stratify};
use super::correlation::matrix::MatrixOptions;
use super::episodes::search::EpisodeOptions;
use super::series::summary::SummaryOptions;

/// How a history is analysed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryOptions {
    /// Thresholds, time zone and curves.
    pub summary: SummaryOptions,
    /// How changes are judged.
    pub changes: ChangeOptions,
    /// What counts as bad.
    pub episodes: EpisodeOptions,
    /// How correlations are computed.
    pub matrix: MatrixOptions,
    /// How far apart a change and its event may be; absent: see [`default_match_tolerance`](super::default_match_tolerance).
    pub match_tolerance_ns: Option<Nanoseconds>,
    /// How far from an episode an event may be; absent: see [`default_association_tolerance`](super::default_association_tolerance).
    pub association_tolerance_ns: Option<Nanoseconds>,
    /// How much time before and after an event is compared.
    pub event_windows: EventWindows,
    /// Which attempts are compared with which.
    pub stratify: Stratify,
}

pub(crate) fn comparison_options(options: &HistoryOptions) -> ComparisonOptions {
    ComparisonOptions {
        thresholds: options.summary.thresholds.clone(),
        local_time: options.summary.local_time.clone(),
        stratify: options.stratify,
        ..ComparisonOptions::default()
    }
}
