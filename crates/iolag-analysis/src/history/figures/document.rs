//! The data behind the figures of a history, packed as columns of numbers.
//!
//! Everything that the page draws and nothing that it only prints: its tables and sentences come from [`HistoryAnalysis`]. The form is
//! documented in docs/report-data.md.
//!
//! Invariants: every sample is a point or a mark, or, beyond [`HistoryPoints::max`] samples, is counted in a ribbon that keeps the longest of
//! every stretch of time; moments are whole units since the begin, and names end with their unit. Limits: durations are those of histogram
//! buckets, at most 0.8 % beside the exact ones; curves are at most [`CURVE_POINTS`] steps.

use iolag_model::{Series, SeriesKey, SeriesKind};
use serde::{Deserialize, Serialize};

use super::axis::HistoryAxis;
use super::curves::{BeforeAfter, Curve};
use super::days::DayMatrix;
use super::hangs::HistoryHang;
use super::marks::{ChangeMark, CorrelationFigure, EventMark};
use super::points::{HistoryPoints, HostLoad, PointColumns, Ribbons, ValueColumns};
use crate::figure_column::Detach;
use crate::figure_column::DetachedColumn;
use crate::history::analysis::HistoryAnalysis;
use crate::history::episodes::gaps::Gap;
use crate::history::input::HistoryInput;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::shares::OutcomeRates;

/// Version of the form of [`HistoryFigures`].
pub const HISTORY_FIGURE_SCHEMA: u32 = 1;

/// The figures of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistoryFigures {
    /// [`HISTORY_FIGURE_SCHEMA`].
    pub schema: u32,
    /// What the numbers in columns mean.
    pub axis: HistoryAxis,
    /// All samples, skipped slots included.
    pub samples: u64,
    /// How the time lines were thinned out, as a sentence; absent if every sample is drawn.
    pub decimation: Option<String>,
    /// Each series, in the order of the analysis.
    pub series: Vec<SeriesFigure>,
    /// Load of each host that has one.
    pub loads: Vec<HostLoad>,
    /// For each series with a change next to an event: the strongest of them, as curves.
    pub before_after: Vec<BeforeAfter>,
    /// All against all.
    pub correlations: CorrelationFigure,
    /// Events in the order of time.
    pub events: Vec<EventMark>,
    /// Lines of the journal that were left out of `events`, being too many.
    pub events_left_out: u64,
    /// Mounts that did not answer.
    pub outages: Vec<iolag_model::Outage>,
    /// Times in which attempts were past their deadlines, by place: every figure of the place shows them, whatever task it is of.
    pub hangs: Vec<HistoryHang>,
    /// Times in which nobody watched.
    pub gaps: Vec<Gap>,
}

/// The figures of one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SeriesFigure {
    /// Which one.
    pub key: SeriesKey,
    /// As people call it, without the host.
    pub name: String,
    /// What its samples are.
    pub kind: SeriesKind,
    /// Unit of values, empty for durations.
    pub unit: String,
    /// Smallest duration that its clock could tell from zero; zero for any.
    pub resolution_ns: u64,
    /// Deadline of its probes, zero if unknown.
    pub deadline_ns: u64,
    /// Slots by how they ended.
    pub slots: SlotCounts,
    /// Every sample of a duration; empty if there are `ribbons` or for values.
    pub points: PointColumns,
    /// Every value; empty for durations.
    pub values: ValueColumns,
    /// Instead of points, if they are too many.
    pub ribbons: Option<Ribbons>,
    /// Changes of level in the order of time.
    pub changes: Vec<ChangeMark>,
    /// The distribution, each attempt counting once.
    pub by_attempt: Curve,
    /// Each scheduled slot counting once; absent if that is the same.
    pub by_time: Option<Curve>,
    /// Hours by days; absent for values.
    pub days: Option<DayMatrix>,
}

/// Slots of a series by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "each is an outcome")]
pub struct SlotCounts {
    pub ok: u64,
    pub error: u64,
    pub timeout: u64,
    pub hung: u64,
    pub late: u64,
    pub skipped: u64,
    pub interrupted: u64,
}

impl SlotCounts {
    const fn of(rates: &OutcomeRates) -> Self {
        Self {
            ok: rates.ok,
            error: rates.error.count,
            timeout: rates.timeout.count,
            hung: rates.hung.count,
            late: rates.late.count,
            skipped: rates.skipped.count,
            interrupted: rates.interrupted,
        }
    }
}

/// Packs the figures of a history; `analysis` is that of `input`.
pub fn history_figures(
    input: &HistoryInput,
    analysis: &HistoryAnalysis,
    limit: HistoryPoints,
) -> HistoryFigures {
    let axis = HistoryAxis::of(input);
    let samples: usize = input.series.iter().map(|(_, columns)| columns.len()).sum();
    let share = limit.share_of(samples, input.series.len());
    let series: Vec<SeriesFigure> =
        analysis.series.iter().filter_map(|one| series_figure(one, input, &axis, share)).collect();
    let thinned = series.iter().filter(|one| one.ribbons.is_some()).count();
    let (events, events_left_out) = super::marks::events(&analysis.events);
    HistoryFigures {
        schema: HISTORY_FIGURE_SCHEMA,
        samples: samples as u64,
        decimation: (thinned > 0).then(|| super::points::decimation(thinned, &axis)),
        loads: super::points::loads(input, &axis),
        before_after: super::curves::before_after(input, analysis),
        correlations: CorrelationFigure::of(&analysis.correlations),
        events,
        events_left_out,
        outages: analysis.outages.clone(),
        hangs: super::hangs::hangs(input, &axis),
        gaps: analysis.gaps.clone(),
        series,
        axis,
    }
}

impl HistoryFigures {
    /// Takes every column out, leaving empty arrays: to be carried as bytes beside the JSON. Pointers begin at the figures.
    pub fn detach_columns(&mut self) -> Vec<DetachedColumn> {
        let mut columns = Vec::new();
        self.series.detach("/series", &mut columns);
        self.loads.detach("/loads", &mut columns);
        self.before_after.detach("/before_after", &mut columns);
        columns
    }
}

fn series_figure(
    analysed: &SeriesAnalysis,
    input: &HistoryInput,
    axis: &HistoryAxis,
    share: usize,
) -> Option<SeriesFigure> {
    let series: &Series = &analysed.summary.series;
    let (_, columns) = input.series.iter().find(|(one, _)| one.key == series.key)?;
    let is_duration = series.kind.is_duration();
    let ribbons = (is_duration && columns.len() > share).then(|| Ribbons::of(series, columns, axis));
    let is_drawn_by_point = is_duration && ribbons.is_none();
    Some(SeriesFigure {
        key: series.key.clone(),
        name: series.key.to_string(),
        kind: series.kind,
        unit: series.unit.clone(),
        resolution_ns: series.resolution_ns.0,
        deadline_ns: series.deadline_ns.0,
        slots: SlotCounts::of(&analysed.summary.rates.total),
        points: if is_drawn_by_point {
            PointColumns::of(series, columns, axis)
        } else {
            PointColumns::default()
        },
        values: if is_duration { ValueColumns::default() } else { ValueColumns::of(columns, axis, share) },
        ribbons,
        changes: super::marks::changes(analysed),
        by_attempt: Curve::of_summary(&analysed.summary.by_attempt, series.kind),
        by_time: analysed.summary.by_time.as_ref().map(|summary| Curve::of_summary(summary, series.kind)),
        days: is_duration.then(|| DayMatrix::of(&analysed.summary.hour_by_day)),
    })
}

crate::figure_column::detach!(SeriesFigure { points, values, ribbons, by_attempt, by_time, days });

#[cfg(test)]
mod tests {
    use iolag_model::Outcome;

    use super::*;
    use crate::history::HangState;
    use crate::history::analyse::analyse_history;
    use crate::history::options::HistoryOptions;
    use iolag_fixtures::made_up_series::{columns_of, series_of};

    fn figures(rows: Vec<(i64, u64, Outcome)>, limit: HistoryPoints) -> HistoryFigures {
        let input = HistoryInput {
            series: vec![(series_of("/home", "list"), columns_of(rows))],
            ..HistoryInput::default()
        };
        history_figures(&input, &analyse_history(&input, &HistoryOptions::default()), limit)
    }

    #[test]
    fn every_sample_is_a_point() {
        let rows = vec![
            (1_000, 5, Outcome::Ok),
            (1_900, 60_000, Outcome::Timeout),
            (2_800, 0, Outcome::Skipped),
            (3_700, 7, Outcome::Ok),
        ];
        let figures = figures(rows, HistoryPoints::default());
        let one = &figures.series[0];
        assert_eq!(figures.axis.begin_ns, 1_000_000_000_000);
        // Moments are told as differences, in milliseconds.
        assert_eq!(one.points.time_steps.0, [0, 900_000, 900_000, 900_000]);
        assert_eq!(one.points.state.0, [0, 2, 5, 0]);
        assert_eq!((one.slots.ok, one.slots.timeout, one.slots.skipped), (2, 1, 1));
        assert!(figures.decimation.is_none() && one.ribbons.is_none());
    }

    #[test]
    fn beyond_the_limit_the_longest_of_every_stretch_is_kept() {
        let rows: Vec<_> = (0..20_000)
            .map(|slot| (slot * 10, if slot == 7_777 { 90_000 } else { 5 }, Outcome::Ok))
            .collect();
        let figures = figures(rows, HistoryPoints { max: 10_000 });
        let ribbons = figures.series[0].ribbons.as_ref().unwrap();
        assert!(figures.series[0].points.state.0.is_empty());
        assert_eq!(ribbons.count.0.iter().sum::<u32>(), 20_000);
        let longest = *ribbons.max.0.iter().max().unwrap();
        assert_eq!(
            figures.axis.lowest_ns[usize::from(longest)],
            crate::bucket_bounds(crate::bucket_of(90_000_000_000)).0
        );
        assert!(figures.decimation.unwrap().contains("longest"));
    }

    #[test]
    fn what_passed_its_deadline_is_a_stretch_of_its_place_whatever_task_it_was() {
        let list = vec![
            (0, 5, Outcome::Ok),
            (900, 60_000, Outcome::Timeout),
            (1_800, 0, Outcome::Skipped),
            (200_000, 700_000, Outcome::Hung),
        ];
        let create = vec![(930, 90_000, Outcome::Late), (1_800, 5, Outcome::Ok)];
        let series = |task, rows| (series_of("/home", task), columns_of(rows));
        let input = HistoryInput {
            series: vec![series("list", list), series("create", create)],
            ..HistoryInput::default()
        };
        let analysis = analyse_history(&input, &HistoryOptions::default());
        let figures = history_figures(&input, &analysis, HistoryPoints::default());
        let since = |ns: i64| (ns - figures.axis.begin_ns) / 1_000_000_000;
        let told: Vec<_> = figures
            .hangs
            .iter()
            .map(|hang| (hang.task.as_str(), since(hang.begin_ns), since(hang.seen_ns), hang.state))
            .collect();
        let expected =
            [("create", 900, 1_020, HangState::Ended), ("list", 200_000, 200_700, HangState::NotEnded)];
        assert_eq!(told, expected);
    }

    #[test]
    fn nothing_gives_an_empty_document_and_columns_come_out_whole() {
        let nothing = history_figures(
            &HistoryInput::default(),
            &analyse_history(&HistoryInput::default(), &HistoryOptions::default()),
            HistoryPoints::default(),
        );
        assert_eq!((nothing.samples, nothing.series.len()), (0, 0));
        let mut some = figures(vec![(0, 5, Outcome::Ok); 3], HistoryPoints::default());
        let columns = some.detach_columns();
        let steps = columns.iter().find(|column| column.pointer == "/series/0/points/time_steps").unwrap();
        assert_eq!((steps.length, steps.bytes_le.len()), (3, 12));
        assert!(some.series[0].points.time_steps.0.is_empty());
        let json = serde_json::to_string(&some).unwrap();
        assert!(json.contains(r#""time_steps":[]"#), "{json}");
    }
}
