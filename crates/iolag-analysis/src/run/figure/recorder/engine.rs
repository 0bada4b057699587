//! The engine of the figures: batches of columns in, one pass, figures out. Engines of several threads merge.
//!
//! Memory: 12 MB of points at most, 50 MB of grid rows at most, some 60 KiB per series, and per client 1 KiB
//! plus about 1 KiB for each of its operations; beyond 4096 clients neighbours share a place.

use iolag_model::{
    Column, FailureCode, MonotonicTime, Nanoseconds, Operation, Outcome, SampleColumns, TargetIndex,
};

use super::clients::{ClientRecorder, StageRecorder};
use super::grid::Grid;
use super::hangs::hang_of;
use super::marks::{Mark, MarkRecorder, Point};
use super::plan::{Apart, FigurePlan};
use super::series::{Attempt, SeriesKey, SeriesRecorder};
use crate::bucket_of;
use crate::run::figure::document::activity::RATE_BINS;
use crate::run::figure::document::distribution;
use crate::run::figure::document::episode::{Spell, TroubleKind};
use crate::run::figure::document::run_figures::{REASONS, SampleCounts};

/// The columns that the engine needs.
pub const FIGURE_COLUMNS: &[Column] = &[
    Column::Client,
    Column::Target,
    Column::Stage,
    Column::OperationCode,
    Column::OutcomeCode,
    Column::FailureCode,
    Column::StartNs,
    Column::DurationNs,
    Column::Bytes,
];

/// Places per part (or client) and target: one per operation code.
const OPERATION_CODES: usize = 256;
const NO_SERIES: u16 = u16::MAX;

/// What is told apart in grids and by client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LayerKey {
    pub(crate) target: TargetIndex,
    pub(crate) operation: Operation,
    /// As in [`SeriesKey`].
    pub(crate) slot: u16,
}

/// Makes the figures of one run.
#[derive(Debug, Clone)]
pub struct FigureEngine {
    pub(crate) plan: FigurePlan,
    /// 2^32 by the length of the span in ns.
    scale: f64,
    /// Width of a bin of the rates.
    pub(crate) bin_ns: f64,
    /// Series by place; a place is `(part or client * targets + target) * 256 + operation code`.
    places: Vec<u16>,
    pub(crate) series: Vec<SeriesRecorder>,
    pub(crate) layers: Vec<LayerKey>,
    pub(crate) clients: Vec<ClientRecorder>,
    /// By stage and target.
    pub(crate) stages: std::collections::BTreeMap<(u16, u16), StageRecorder>,
    pub(crate) counts: SampleCounts,
    /// Attempts of known duration.
    pub(crate) known: u64,
    /// They, until there are too many.
    pub(crate) points: Vec<Point>,
    pub(crate) grid: Grid,
    pub(crate) marks: MarkRecorder,
}

/// A row whose numbers are understood.
struct Row {
    series: u16,
    start_ns: i64,
    client: i32,
    outcome: Outcome,
    code: FailureCode,
}

impl FigureEngine {
    /// An engine for this plan.
    pub fn new(plan: FigurePlan) -> Self {
        let targets = plan.facts.targets.len();
        Self {
            scale: 2f64.powi(32) / plan.span.length().0 as f64,
            bin_ns: plan.span.length().0 as f64 / f64::from(RATE_BINS),
            places: vec![NO_SERIES; plan.apart_count() * targets * OPERATION_CODES],
            series: Vec::new(),
            layers: Vec::new(),
            clients: Vec::new(),
            stages: std::collections::BTreeMap::new(),
            counts: SampleCounts::default(),
            known: 0,
            points: Vec::new(),
            grid: Grid::new(plan.limits.grid_rows),
            marks: MarkRecorder::default(),
            plan,
        }
    }

    /// Takes a batch. Needs [`FIGURE_COLUMNS`]; one that is absent counts as 0 throughout.
    pub fn batch(&mut self, columns: SampleColumns<'_>) {
        let rows =
            columns.duration_ns.len().min(columns.operation_code.len()).min(columns.outcome_code.len());
        for index in 0..rows {
            self.take(&columns, index);
        }
    }

    #[inline]
    fn take(&mut self, columns: &SampleColumns<'_>, index: usize) {
        let (stage, target) = (value_of(columns.stage, index), value_of(columns.target, index));
        let client = value_of(columns.client, index);
        if !self.plan.has_client(client) {
            return;
        }
        let operation_code = columns.operation_code[index];
        if !self.plan.has_phase_of(stage) {
            // Its series, without attempts, keeps the order of all: an operation has its colour whatever is chosen.
            if operation_code != Operation::Stage as i32 {
                let target = self.plan.target_of(stage, operation_code, target);
                self.series_of(stage, target, operation_code, self.plan.slot_of(client));
            }
            return;
        }
        self.counts.taken += 1;
        let outcome = u8::try_from(columns.outcome_code[index]).ok().map(Outcome::try_from);
        let Some(Ok(outcome)) = outcome else {
            self.counts.unknown += 1;
            return;
        };
        let ns = columns.duration_ns[index].max(0) as u64;
        let start_ns = value_of(columns.start_ns, index);
        let attempt = Attempt {
            time: self.time_of(start_ns),
            end_time: self.time_of(start_ns.saturating_add(ns as i64)),
            ns,
            slot: self.plan.slot_of(client),
            bytes: value_of(columns.bytes, index).max(0) as u64,
        };
        if operation_code == Operation::Stage as i32 {
            self.take_stage((stage, target), start_ns, &attempt, outcome);
            return;
        }
        let target = self.plan.target_of(stage, operation_code, target);
        let Some(series) = self.series_of(stage, target, operation_code, attempt.slot) else {
            self.counts.unknown += 1;
            return;
        };
        let row = Row {
            series,
            start_ns,
            client,
            outcome,
            code: FailureCode(value_of(columns.failure_code, index) as u16),
        };
        self.record(&row, &attempt);
    }

    /// A moment as fraction of the span in units of 2^-32; moments outside stand at the edge.
    #[inline]
    fn time_of(&self, moment_ns: i64) -> u32 {
        let since = moment_ns.wrapping_sub(self.plan.span.begin.0 as i64);
        (since as f64 * self.scale) as u32
    }

    /// The series of this stage, target and operation, made if needed; `None` if one of them is unknown.
    #[inline]
    fn series_of(&mut self, stage: i32, target: i32, operation_code: i32, slot: u16) -> Option<u16> {
        let targets = self.plan.facts.targets.len();
        let part = self.plan.part_of(stage)?;
        let target = usize::try_from(target).ok().filter(|target| *target < targets)?;
        let operation_code = u8::try_from(operation_code).ok()?;
        let (apart, slot) = match self.plan.choice.apart {
            Apart::Parts => (part, 0),
            Apart::Nothing => (0, 0),
            Apart::Clients => (slot, slot),
        };
        let place = (usize::from(apart) * targets + target) * OPERATION_CODES + usize::from(operation_code);
        match self.places[place] {
            NO_SERIES => {
                let operation = Operation::from_code(operation_code)?;
                let target = TargetIndex(target as u16);
                self.new_series(place, SeriesKey { target, part, operation, slot })
            }
            series => {
                let key = &mut self.series[usize::from(series)].key;
                key.part = key.part.min(part);
                Some(series)
            }
        }
    }

    #[cold]
    fn new_series(&mut self, place: usize, key: SeriesKey) -> Option<u16> {
        let index = u16::try_from(self.series.len()).ok().filter(|index| *index != NO_SERIES)?;
        let layer = LayerKey { target: key.target, operation: key.operation, slot: key.slot };
        let layer = self.layers.iter().position(|known| *known == layer).unwrap_or_else(|| {
            self.layers.push(layer);
            self.layers.len() - 1
        });
        self.series.push(SeriesRecorder::new(key, layer as u16, self.plan.facts.thresholds_ns.len()));
        self.places[place] = index;
        Some(index)
    }

    #[inline]
    fn record(&mut self, row: &Row, attempt: &Attempt) {
        let start = row.start_ns.max(0) as u64;
        let (begin, end) = (self.plan.span.begin.0, self.plan.span.end.0);
        self.counts.attempts += 1;
        self.counts.clamped += u64::from(start < begin || start > end);
        let series = &mut self.series[usize::from(row.series)];
        let (key, layer) = (series.key, series.layer);
        series.record_flight(attempt, self.bin_ns);
        let thresholds = self.plan.facts.thresholds_ns.as_slice();
        let bucket = match row.outcome {
            Outcome::Ok | Outcome::Late => Some(series.record_known(attempt, row.outcome, thresholds)),
            Outcome::Error | Outcome::Retried => None,
            // Who measured had enough, or was in its own way: that says nothing of the target.
            outcome if !outcome.is_lower_bound(row.code) => None,
            Outcome::Timeout | Outcome::Hung | Outcome::Skipped | Outcome::Interrupted => {
                series.record_censored(attempt.ns, thresholds);
                None
            }
        };
        if key.operation.is_asked() {
            let client = self.client(attempt.slot);
            client.span(key.target, start, attempt.ns);
            match bucket {
                Some(bucket) => client.record_known(layer, attempt, bucket),
                None if row.outcome.is_lower_bound(row.code) => {
                    client.record_censored(layer, bucket_of(attempt.ns))
                }
                None => {}
            }
        }
        if let Some(bucket) = bucket {
            self.record_point(row, attempt, layer, bucket);
        }
        if row.outcome != Outcome::Ok {
            self.record_mark(row, attempt);
        } else if self.plan.facts.thresholds_ns.first().is_some_and(|least| attempt.ns > least.0) {
            self.record_slow(row, attempt);
        }
    }

    /// The place of a client, made if needed.
    #[inline]
    fn client(&mut self, slot: u16) -> &mut ClientRecorder {
        let slot = usize::from(slot);
        if self.clients.len() <= slot {
            self.clients.resize_with(slot + 1, ClientRecorder::default);
        }
        &mut self.clients[slot]
    }

    #[inline]
    fn record_point(&mut self, row: &Row, attempt: &Attempt, layer: u16, bucket: usize) {
        self.known += 1;
        if self.known <= self.plan.limits.points {
            let outcome = row.outcome as u8;
            self.points.push(Point {
                series: row.series,
                time: attempt.time,
                bucket: bucket as u16,
                outcome,
                slot: attempt.slot,
            });
            return;
        }
        if !self.points.is_empty() {
            self.points_to_grid();
        }
        self.grid.add(usize::from(layer), attempt.time, bucket);
    }

    /// An attempt that succeeded in time, but took longer than the least threshold.
    #[cold]
    fn record_slow(&mut self, row: &Row, attempt: &Attempt) {
        let start = MonotonicTime(row.start_ns.max(0) as u64);
        let spell = Spell::of(TroubleKind::Slow, start, Nanoseconds(attempt.ns));
        let series = &mut self.series[usize::from(row.series)];
        // A client that waits for its ring is no trouble of the target.
        if series.key.operation != Operation::RingWait {
            series.record_slow(spell, attempt.ns, &self.plan.facts.thresholds_ns, self.plan.gap);
        }
    }

    /// What did not end well and in time.
    #[cold]
    fn record_mark(&mut self, row: &Row, attempt: &Attempt) {
        let kind = match row.outcome {
            Outcome::Ok | Outcome::Interrupted | Outcome::Retried => return,
            Outcome::Error => TroubleKind::Failed,
            Outcome::Timeout => TroubleKind::Timeout,
            Outcome::Hung => TroubleKind::Hung,
            Outcome::Late => TroubleKind::Late,
            Outcome::Skipped => TroubleKind::Skipped,
        };
        let class = row.code.class();
        let reason = REASONS.binary_search(&class).unwrap_or(REASONS.len() - 1);
        let mark = Mark {
            time: attempt.time,
            series: row.series,
            outcome: row.outcome as u8,
            reason: reason as u8,
            bucket: bucket_of(attempt.ns) as u16,
            client: row.client.max(0) as u32,
        };
        self.marks.add(mark, self.plan.limits.marks);
        let series = &mut self.series[usize::from(row.series)];
        series.count_outcome(row.outcome, class);
        let time = (MonotonicTime(row.start_ns.max(0) as u64), Nanoseconds(attempt.ns));
        series.record_trouble(Spell::of(kind, time.0, time.1), self.plan.gap);
        if let Some(hang) = hang_of(&self.plan, series.key.operation, row.outcome, time) {
            series.hangs.add(hang, self.plan.hang_gap);
        }
    }

    fn take_stage(
        &mut self,
        (stage, target): (i32, i32),
        start_ns: i64,
        attempt: &Attempt,
        outcome: Outcome,
    ) {
        let ended = matches!(outcome, Outcome::Ok | Outcome::Late);
        self.counts.stage_samples += 1;
        self.stages.entry((stage as u16, target as u16)).or_default().record(start_ns, attempt, ended);
    }

    /// Counts the points collected so far in the grid, since there are too many to be drawn.
    fn points_to_grid(&mut self) {
        for point in std::mem::take(&mut self.points) {
            let layer = usize::from(self.series[usize::from(point.series)].layer);
            self.grid.add(layer, point.time, usize::from(point.bucket));
        }
    }

    /// Adds everything that `other` has taken, as later samples. Both must have been made from one plan.
    pub fn merge(&mut self, mut other: Self) {
        debug_assert!(self.plan == other.plan);
        let (series_of, layer_of) = self.numbers_of(&other);
        self.known += other.known;
        if self.known > self.plan.limits.points {
            self.points_to_grid();
            other.points_to_grid();
        }
        let renumbered = |point: Point| Point { series: series_of[usize::from(point.series)], ..point };
        self.points.extend(other.points.into_iter().map(renumbered));
        self.grid.merge(other.grid, &layer_of);
        self.marks.merge(other.marks, &series_of, self.plan.limits.marks);
        for (theirs, mine) in other.series.into_iter().zip(&series_of) {
            self.series[usize::from(*mine)].merge(theirs, &self.plan);
        }
        if self.clients.len() < other.clients.len() {
            self.clients.resize_with(other.clients.len(), ClientRecorder::default);
        }
        for (mine, theirs) in self.clients.iter_mut().zip(other.clients) {
            mine.merge(theirs, &layer_of);
        }
        for (key, theirs) in other.stages {
            self.stages.entry(key).or_default().merge(&theirs);
        }
        self.counts.taken += other.counts.taken;
        self.counts.attempts += other.counts.attempts;
        self.counts.stage_samples += other.counts.stage_samples;
        self.counts.unknown += other.counts.unknown;
        self.counts.clamped += other.counts.clamped;
    }

    /// The numbers here of the other's series and layers; what is new is made.
    fn numbers_of(&mut self, other: &Self) -> (Vec<u16>, Vec<u16>) {
        let mut series_of = vec![0; other.series.len()];
        let mut layer_of = vec![0; other.layers.len()];
        for (place, &theirs) in other.places.iter().enumerate().filter(|(_, series)| **series != NO_SERIES) {
            let recorder = &other.series[usize::from(theirs)];
            let mine = match self.places[place] {
                NO_SERIES => self.new_series(place, recorder.key).unwrap_or_default(),
                mine => mine,
            };
            series_of[usize::from(theirs)] = mine;
            layer_of[usize::from(recorder.layer)] = self.series[usize::from(mine)].layer;
        }
        (series_of, layer_of)
    }

    /// Which clients, or groups of them, are shown if there are so many.
    pub(crate) const fn clients_shown(clients: usize) -> distribution::ClientsShown {
        if clients <= distribution::CLIENTS_SHOWN_MAX {
            distribution::ClientsShown::Each
        } else {
            distribution::ClientsShown::Deciles
        }
    }
}

fn value_of<T: Copy + Default>(column: &[T], row: usize) -> T {
    column.get(row).copied().unwrap_or_default()
}
