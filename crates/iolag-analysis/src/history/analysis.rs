//! Everything that a report on a history needs, in one value: what was analysed, and last what is told of it.

use iolag_model::{Configuration, Event, Outage, SeriesKey, WallTime};
use serde::Serialize;

use super::comparison::Comparison;
use super::configurations::by_day::TaskByDay;
use super::configurations::ranking::HostRanking;
use super::correlation::matrix::CorrelationMatrix;
use super::episodes::association::Association;
use super::episodes::bad_overlap::BadOverlap;
use super::episodes::gaps::Gap;
use super::episodes::search::Episode;
use super::series::analysis::SeriesAnalysis;
use crate::finding::of_histories::HistoryFinding;

/// Version of the form of [`HistoryAnalysis`] in files.
pub const HISTORY_SCHEMA: u32 = 1;

/// The same task in two places.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesComparison {
    /// One series.
    pub first: SeriesKey,
    /// The other: another target of the same host, or the same target seen from another host.
    pub second: SeriesKey,
    /// First against second.
    pub comparison: Comparison,
}

/// Everything that a report needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryAnalysis {
    /// [`HISTORY_SCHEMA`].
    pub schema: u32,
    /// When the first sample was due; absent without samples.
    pub begin: Option<WallTime>,
    /// When the last sample was due.
    pub end: Option<WallTime>,
    /// Each series, in the order of their keys.
    pub series: Vec<SeriesAnalysis>,
    /// The same task on two targets or from two hosts.
    pub comparisons: Vec<SeriesComparison>,
    /// Each whole task on each target by configuration and day.
    pub by_day: Vec<TaskByDay>,
    /// Which attributes of hosts explain what takes too long, of what several hosts measured.
    pub host_rankings: Vec<HostRanking>,
    /// Everything against everything.
    pub correlations: CorrelationMatrix,
    /// Bad times in the order of time.
    pub episodes: Vec<Episode>,
    /// Places of a host that were bad, and how long they were so together.
    pub bad_overlaps: Vec<BadOverlap>,
    /// What kinds of events bad times come with.
    pub associations: Vec<Association>,
    /// Mounts that did not answer, in the order of time.
    pub outages: Vec<Outage>,
    /// Times in which nobody watched.
    pub gaps: Vec<Gap>,
    /// Events in the order of time.
    pub events: Vec<Event>,
    /// Configurations in the order in which they were first seen.
    pub configurations: Vec<Configuration>,
    /// What all this means, most important first. In files its words are beside the analysis.
    #[serde(skip)]
    pub findings: Vec<HistoryFinding>,
}
