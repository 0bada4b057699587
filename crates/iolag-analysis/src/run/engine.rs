//! The engine: batches of columns in, summaries out.
//!
//! One engine, two precisions. With [`Precision::Histogram`] a group takes 40 KiB whatever the number of
//! samples; with [`Precision::Exact`] every duration is kept as well, in 4 bytes. Engines of several threads
//! merge.
//!
//! Expected of the samples: an attempt appears once (the store resolves "hung" and the end that superseded
//! it), and within a group they come in about the order of their starts, which the effective sample size
//! looks at.

use super::grouping::{Grouping, NO_GROUP, NO_PLACE, ROWS_AT_ONCE};
use std::num::NonZeroU32;
use std::ops::Range;

use iolag_model::{
    ClientId, FailureCode, MonotonicTime, Nanoseconds, Operation, Outcome, SampleColumns, StageIndex,
    TargetIndex,
};

use super::clustering::second_reading::Clustering;
use super::clustering::worth::GroupWorth;
use super::group::{Estimation, Group};
use super::parts::reading::PartsReading;
use super::stage_rates::rate_by_stages;
use super::summary::{
    Precision, SUMMARY_SCHEMA, StageClient, StageEnding, Summaries, Summary, SummaryKey, UnknownSamples,
};
use crate::statistics::interval::share_over::DEFAULT_THRESHOLDS;
use crate::statistics::quantile::censored::Censoring;
use crate::statistics::quantile::histogram::HISTOGRAM_BUCKETS;

const GROUP_BYTES: u64 = (HISTOGRAM_BUCKETS * 8 + 17 * 1024) as u64;

/// Summarises batches of samples.
#[derive(Debug, Clone)]
pub struct Engine {
    grouping: Grouping,
    precision: Precision,
    censoring: Censoring,
    thresholds: Vec<Nanoseconds>,
    /// Group by place; a place is `((stage * targets + target) * clients + client) * 256 + operation code`.
    places: Vec<u32>,
    groups: Vec<Group>,
    stage_clients: Vec<StageClient>,
    parts: PartsReading,
    samples: u64,
    unknown: UnknownSamples,
}

impl Engine {
    /// An engine of this precision with the default thresholds.
    pub fn new(grouping: Grouping, precision: Precision) -> Self {
        Self {
            grouping,
            precision,
            censoring: Censoring::default(),
            thresholds: DEFAULT_THRESHOLDS.to_vec(),
            places: Vec::new(),
            groups: Vec::new(),
            stage_clients: Vec::new(),
            parts: PartsReading::default(),
            samples: 0,
            unknown: UnknownSamples::default(),
        }
    }

    /// An exact engine if `samples` durations fit into `memory_limit_bytes`, else one of histograms. Exact
    /// takes 4 bytes per sample, and as much again in the worst case when all durations are alike.
    pub fn for_samples(samples: u64, memory_limit_bytes: u64, grouping: Grouping) -> Self {
        let fits = samples.saturating_mul(8).saturating_add(1 << 20) <= memory_limit_bytes;
        Self::new(grouping, if fits { Precision::Exact } else { Precision::Histogram })
    }

    /// The same with these thresholds for shares.
    pub fn with_thresholds(mut self, thresholds: &[Nanoseconds]) -> Self {
        self.thresholds = thresholds.to_vec();
        self.thresholds.sort_unstable();
        self.thresholds.dedup();
        self
    }

    /// The same for attempts of which being censored says what.
    pub const fn with_censoring(mut self, censoring: Censoring) -> Self {
        self.censoring = censoring;
        self
    }

    /// How quantiles are found.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// Bytes that groups take at present, durations of exact engines not counted.
    pub fn group_bytes(&self) -> u64 {
        self.groups.len() as u64 * GROUP_BYTES
    }

    /// Samples with an operation or outcome that this iolag does not know, or with a stage, target or client
    /// that the grouping does not have; they are in no summary.
    pub const fn unknown_samples(&self) -> &UnknownSamples {
        &self.unknown
    }

    /// Takes a batch. Needs `operation_code`, `outcome_code` and `duration_ns`; needs `stage`, `target` and `client` where they are told
    /// apart; uses `bytes`, `start_ns` and `failure_code` if they are there. A column that is needed and absent counts as 0 throughout.
    pub fn batch(&mut self, columns: SampleColumns<'_>) {
        match self.precision {
            Precision::Exact => self.take::<true>(columns),
            Precision::Histogram => self.take::<false>(columns),
        }
    }

    fn take<const KEEP: bool>(&mut self, columns: SampleColumns<'_>) {
        let rows =
            columns.duration_ns.len().min(columns.operation_code.len()).min(columns.outcome_code.len());
        let mut places = [NO_PLACE; ROWS_AT_ONCE];
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            let rows = first..rows.min(first + ROWS_AT_ONCE);
            let places = &mut places[..rows.len()];
            self.grouping.find_places(&columns, rows.clone(), places);
            self.parts.take(&columns, rows.clone(), places);
            self.take_rows::<KEEP>(&columns, rows, places);
        }
        self.samples += rows as u64;
    }

    fn take_rows<const KEEP: bool>(
        &mut self,
        columns: &SampleColumns<'_>,
        rows: Range<usize>,
        places: &[u32],
    ) {
        let (operations, outcomes) =
            (&columns.operation_code[rows.clone()], &columns.outcome_code[rows.clone()]);
        let durations = &columns.duration_ns[rows.clone()];
        let bytes_of = columns.bytes.get(rows.clone());
        let start_of = columns.start_ns.get(rows.clone());
        for (index, &place) in places.iter().enumerate() {
            let group = match self.places.get(place as usize) {
                Some(&group) if group != NO_GROUP => group as usize,
                _ => match self.new_group(place, columns, rows.start + index) {
                    Some(group) => group,
                    None => continue,
                },
            };
            let group = &mut self.groups[group];
            let duration_ns = durations[index];
            let ns = duration_ns.max(0) as u64;
            let bytes = bytes_of.map_or(0, |bytes| bytes[index] as u64);
            if outcomes[index] == Outcome::Ok as i32 && operations[index] != Operation::Stage as i32 {
                if let Some(starts) = start_of {
                    group.span(starts[index], duration_ns);
                }
                group.record_ok(ns, bytes, &self.thresholds, KEEP);
            } else {
                self.take_other::<KEEP>(columns, rows.start + index, place as usize);
            }
        }
    }

    #[cold]
    fn take_other<const KEEP: bool>(&mut self, columns: &SampleColumns<'_>, row: usize, place: usize) {
        let outcome =
            u8::try_from(columns.outcome_code[row]).ok().and_then(|code| Outcome::try_from(code).ok());
        let Some(outcome) = outcome else {
            self.unknown.others += 1;
            return;
        };
        let ns = columns.duration_ns[row].max(0) as u64;
        let bytes = value_of(columns.bytes, row) as u64;
        if columns.operation_code[row] == Operation::Stage as i32 {
            self.stage_clients.push(StageClient {
                stage: StageIndex(value_of(columns.stage, row) as u16),
                client: ClientId(value_of(columns.client, row) as u32),
                start_ns: MonotonicTime(value_of(columns.start_ns, row).max(0) as u64),
                duration_ns: Nanoseconds(ns),
                operations: bytes,
                ending: if outcome == Outcome::Ok || outcome == Outcome::Late {
                    StageEnding::Ended
                } else {
                    StageEnding::Unfinished
                },
            });
        }
        let code = FailureCode(value_of(columns.failure_code, row) as u16);
        let group = &mut self.groups[self.places[place] as usize];
        if let Some(start_ns) = columns.start_ns.get(row) {
            group.span_of(outcome, *start_ns, columns.duration_ns[row]);
        }
        group.record_other(outcome, code, ns, bytes, &self.thresholds, KEEP);
    }

    /// Makes the group of this row, unless it has no place or its operation is unknown.
    #[cold]
    fn new_group(&mut self, place: u32, columns: &SampleColumns<'_>, row: usize) -> Option<usize> {
        let place = Some(place).filter(|place| *place != NO_PLACE).map(|place| place as usize);
        let code = columns.operation_code[row];
        let operation = u8::try_from(code).ok().and_then(Operation::from_code);
        let (Some(place), Some(operation)) = (place, operation) else {
            match operation {
                None => *self.unknown.operations.entry(code).or_default() += 1,
                Some(_) => self.unknown.others += 1,
            }
            return None;
        };
        if self.places.len() <= place {
            self.places.resize(place + 1, NO_GROUP);
        }
        let axis = |wanted: Option<NonZeroU32>, column: &[i32]| wanted.map(|_| value_of(column, row));
        let key = SummaryKey {
            stage: axis(self.grouping.stages, columns.stage).map(|stage| StageIndex(stage as u16)),
            target: axis(self.grouping.targets, columns.target).map(|target| TargetIndex(target as u16)),
            client: axis(self.grouping.clients, columns.client).map(|client| ClientId(client as u32)),
            operation,
        };
        self.groups.push(Group::new(key, self.thresholds.len()));
        self.places[place] = (self.groups.len() - 1) as u32;
        Some(self.groups.len() - 1)
    }

    /// Adds everything that `other` has taken, as later samples. Both must have been made alike: by the same
    /// grouping, precision and thresholds.
    pub fn merge(&mut self, other: Self) {
        debug_assert!(
            self.grouping == other.grouping
                && self.precision == other.precision
                && self.thresholds == other.thresholds
        );
        if self.places.len() < other.places.len() {
            self.places.resize(other.places.len(), NO_GROUP);
        }
        let mut places: Vec<usize> = vec![0; other.groups.len()];
        for (place, group) in other.places.iter().enumerate().filter(|(_, group)| **group != NO_GROUP) {
            places[*group as usize] = place;
        }
        for (group, place) in other.groups.into_iter().zip(places) {
            match self.places[place] {
                NO_GROUP => {
                    self.places[place] = self.groups.len() as u32;
                    self.groups.push(group);
                }
                mine => self.groups[mine as usize].merge(group),
            }
        }
        self.parts.merge(other.parts);
        self.stage_clients.extend(other.stage_clients);
        self.samples += other.samples;
        self.unknown.merge(other.unknown);
    }

    /// What a second reading of the same samples is to count, in any order: see [`Clustering`].
    pub fn clustering(&self) -> Clustering {
        let groups = self.groups.iter().map(|group| group.clustering(&self.thresholds)).collect();
        Clustering::new(self.grouping, self.places.clone(), groups)
    }

    /// The summaries, ordered by their keys, from one reading: each estimate takes what the attempts are worth as a whole, as they arrived.
    pub fn finish(self) -> Summaries {
        let worths = vec![None; self.groups.len()];
        self.summarised(worths)
    }

    /// The summaries, ordered by their keys, with what was counted in a second reading.
    pub fn finish_with(self, clustering: Clustering) -> Summaries {
        let worths = clustering.worths().into_iter().map(Some).collect();
        self.summarised(worths)
    }

    fn summarised(mut self, worths: Vec<Option<GroupWorth>>) -> Summaries {
        let how = Estimation { precision: self.precision, censoring: self.censoring };
        let parts = self.parts.by_group(&self.places, self.groups.len());
        let groups = self.groups.into_iter().zip(worths).zip(parts);
        let mut summaries: Vec<_> = groups
            .map(|((group, worth), parts)| Summary { parts, ..group.summarise(&self.thresholds, how, worth) })
            .collect();
        summaries.sort_by_key(|summary| summary.key);
        self.stage_clients.sort_unstable();
        rate_by_stages(&mut summaries);
        Summaries {
            schema: SUMMARY_SCHEMA,
            precision: self.precision,
            samples: self.samples,
            summaries,
            stage_clients: self.stage_clients,
            unknown: self.unknown,
        }
    }
}

fn value_of<T: Copy + Default>(column: &[T], row: usize) -> T {
    column.get(row).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Censoring, QuantileValue, quantile_of};
    use iolag_model::Random;

    /// Columns of synthetic samples: four operations, two clients, some failed, hung and late.
    #[derive(Default)]
    struct Columns {
        client: Vec<i32>,
        stage: Vec<i32>,
        operation: Vec<i32>,
        outcome: Vec<i32>,
        code: Vec<i32>,
        start: Vec<i64>,
        duration: Vec<i64>,
        bytes: Vec<i64>,
    }

    impl Columns {
        fn synthetic(rows: usize, seed: u64) -> Self {
            let mut noise = Random::new(seed);
            let mut columns = Self::default();
            for row in 0..rows {
                let kind = noise.bits() % 100;
                let (outcome, code) = match kind {
                    0 => (Outcome::Error, 28),
                    1 => (Outcome::Error, 5),
                    2 => (Outcome::Hung, 0),
                    3 => (Outcome::Late, 0),
                    _ => (Outcome::Ok, 0),
                };
                columns.push(
                    (row % 4 + 1) as i32,
                    (row / 4 % 2) as i32,
                    (outcome, code),
                    row as i64 * 1000,
                    (10f64.powf(4.0 + noise.normal())) as i64,
                );
            }
            columns
        }

        fn push(&mut self, op: i32, client: i32, (outcome, code): (Outcome, i32), start: i64, ns: i64) {
            self.operation.push(op);
            self.client.push(client);
            self.stage.push(0);
            self.outcome.push(outcome as i32);
            self.code.push(code);
            self.start.push(start);
            self.duration.push(ns);
            self.bytes.push(10);
        }

        fn rows(&self, rows: Range<usize>) -> SampleColumns<'_> {
            SampleColumns {
                client: &self.client[rows.clone()],
                stage: &self.stage[rows.clone()],
                operation_code: &self.operation[rows.clone()],
                outcome_code: &self.outcome[rows.clone()],
                failure_code: &self.code[rows.clone()],
                start_ns: &self.start[rows.clone()],
                duration_ns: &self.duration[rows.clone()],
                bytes: &self.bytes[rows],
                ..SampleColumns::default()
            }
        }
    }

    fn by_client() -> Grouping {
        Grouping { clients: NonZeroU32::new(2), ..Grouping::default() }
    }

    #[test]
    fn exact_quantiles_are_those_of_the_sorted_durations() {
        let columns = Columns::synthetic(20_000, 1);
        let mut engine = Engine::new(by_client(), Precision::Exact);
        engine.batch(columns.rows(0..20_000));
        let summaries = engine.finish();
        assert_eq!((summaries.samples, summaries.summaries.len()), (20_000, 8));
        for summary in &summaries.summaries {
            let of = |wanted: fn(i32) -> bool| -> Vec<u64> {
                (0..20_000)
                    .filter(|&row| {
                        columns.operation[row] == summary.key.operation as i32
                            && Some(ClientId(columns.client[row] as u32)) == summary.key.client
                            && wanted(columns.outcome[row])
                    })
                    .map(|row| columns.duration[row] as u64)
                    .collect()
            };
            let mut known = of(|outcome| outcome == 0 || outcome == 4);
            let mut censored = of(|outcome| outcome == 3);
            let durations = &summary.durations;
            for estimate in [durations.p25, durations.median, durations.p90, durations.p99] {
                assert_eq!(
                    estimate.value,
                    quantile_of(&mut known, &mut censored, estimate.q, Censoring::Independent),
                    "{estimate:?}"
                );
            }
            assert_eq!(durations.censored, censored.len() as u64);
            assert_eq!(summary.failures(), summary.failed.as_ref().unwrap().count);
            assert_eq!(summary.failures(), of(|outcome| outcome == 1).len() as u64);
            assert_eq!(summary.bytes, 10 * summary.succeeded());
        }
    }

    #[test]
    fn a_histogram_engine_is_within_its_error_and_merges() {
        let columns = Columns::synthetic(20_000, 2);
        let run = |precision, split: usize| {
            let mut first = Engine::new(Grouping::default(), precision);
            let mut second = first.clone();
            first.batch(columns.rows(0..split));
            second.batch(columns.rows(split..20_000));
            first.merge(second);
            first.finish().summaries
        };
        let exact = run(Precision::Exact, 20_000);
        let whole = run(Precision::Histogram, 20_000);
        let merged = run(Precision::Histogram, 7_001);
        for ((exact, whole), merged) in exact.iter().zip(&whole).zip(&merged) {
            assert_eq!(counts(whole), counts(merged));
            assert_eq!(whole.durations.p99.value, merged.durations.p99.value);
            for (exact, whole) in
                [(exact.durations.median, whole.durations.median), (exact.durations.p95, whole.durations.p95)]
            {
                let ns = |value: QuantileValue| value.lower_bound().unwrap().0 as f64;
                assert!((ns(whole.value) / ns(exact.value) - 1.0).abs() < 0.01);
            }
        }
    }

    fn counts(summary: &Summary) -> (u64, u64, u64, u64, u64, Option<MonotonicTime>) {
        (summary.attempts, summary.ok, summary.hung, summary.failures(), summary.bytes, summary.last_end_ns)
    }

    #[test]
    fn shares_tell_what_a_deadline_hides() {
        let mut columns = Columns::default();
        for row in 0..20 {
            columns.push(3, 0, (Outcome::Ok, 0), row, 50_000_000);
        }
        columns.push(3, 0, (Outcome::Hung, 0), 20, 15_000_000_000);
        columns.push(3, 0, (Outcome::Late, 0), 21, 70_000_000_000);
        let mut engine = Engine::new(Grouping::default(), Precision::Exact);
        engine.batch(columns.rows(0..22));
        let summaries = engine.finish();
        let summary = &summaries.summaries[0];
        let shares: Vec<_> =
            summary.durations.shares.iter().map(|share| (share.over, share.undecided)).collect();
        assert_eq!(shares, [(2, 0), (2, 0), (2, 0), (1, 1)]);
        assert_eq!(summary.durations.max, QuantileValue::AtLeast(Nanoseconds(70_000_000_000)));
        assert_eq!(summary.durations.mean_ns, None);
        assert!(matches!(summary.durations.p99.value, QuantileValue::TooFew { needed: 368, .. }));
        assert!(summary.durations.shares[3].interval.high > 0.25);
    }

    #[test]
    fn stage_samples_become_clients_times() {
        let mut columns = Columns::default();
        columns.push(Operation::Stage as i32, 1, (Outcome::Ok, 0), 100, 5_000);
        columns.push(Operation::Stage as i32, 0, (Outcome::Hung, 0), 100, 9_000);
        let mut engine = Engine::new(Grouping::default(), Precision::Histogram);
        engine.batch(columns.rows(0..2));
        let clients = engine.finish().stage_clients;
        assert_eq!((clients[0].client, clients[0].ending), (ClientId(0), StageEnding::Unfinished));
        assert_eq!((clients[1].duration_ns, clients[1].operations), (Nanoseconds(5_000), 10));
    }

    #[test]
    fn what_is_unknown_is_counted_and_breaks_nothing() {
        let mut columns = Columns::default();
        columns.push(250, 0, (Outcome::Ok, 0), 1, 1);
        columns.push(-7, 0, (Outcome::Ok, 0), 1, 1);
        columns.push(1, 99, (Outcome::Ok, 0), 1, 1);
        columns.push(1, -1, (Outcome::Ok, 0), 1, 1);
        columns.push(1, 0, (Outcome::Ok, 0), 1, -5);
        columns.outcome[4] = 77;
        columns.push(256 + 1, 0, (Outcome::Ok, 0), 1, 1);
        let mut engine = Engine::new(by_client(), Precision::Exact);
        engine.batch(columns.rows(0..6));
        let unknown = engine.unknown_samples();
        assert_eq!(unknown.operations, BTreeMap::from([(-7, 1), (250, 1), (257, 1)]));
        assert_eq!(unknown.others, 3);
        let mut twice = engine.clone();
        twice.merge(engine);
        assert_eq!((twice.unknown_samples().operations[&250], twice.unknown_samples().others), (2, 6));

        let most = NonZeroU32::new(u32::MAX);
        let mut immense =
            Engine::new(Grouping { clients: most, targets: most, stages: most }, Precision::Exact);
        immense.batch(columns.rows(0..6));
        let unknown = immense.unknown_samples();
        assert_eq!(unknown.operations.values().sum::<u64>() + unknown.others, 6);
    }

    #[test]
    fn the_precision_follows_from_the_memory() {
        let precision = |samples, limit| Engine::for_samples(samples, limit, Grouping::default()).precision();
        assert_eq!(precision(100_000_000, 1 << 30), Precision::Exact);
        assert_eq!(precision(100_000_000, 500 << 20), Precision::Histogram);
    }
}
