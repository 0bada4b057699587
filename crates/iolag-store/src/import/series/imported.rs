//! What an import gives: series with their samples, events, and a report.

use std::path::Path;
use std::sync::Arc;

use iolag_model::{Event, Series, WallSpan};

use super::imported_samples::ImportedSamples;
use super::report::{ImportReport, SeriesReport};

/// What an import gives. Nothing is stored yet.
#[derive(Debug)]
pub struct Import {
    /// Series with their samples.
    pub series: Vec<ImportedSeries>,
    /// Events in the order of time.
    pub events: Vec<Event>,
    /// What was read and how, for people.
    pub report: ImportReport,
    /// Where more may be put aside.
    pub(crate) directory: Arc<Path>,
}

/// A series with its samples in the order of time.
#[derive(Debug)]
pub struct ImportedSeries {
    /// Which one, and how it was measured.
    pub series: Series,
    /// Its samples.
    pub samples: ImportedSamples,
    /// From the first sample to the last one.
    pub(crate) span: Option<WallSpan>,
    /// What was read of it; also part of the report.
    pub(crate) report: SeriesReport,
}
