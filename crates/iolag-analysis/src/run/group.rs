//! One group of samples while they arrive, and its summary when they are all there.

use iolag_model::{ErrorClass, FailureCode, MonotonicTime, Nanoseconds, Outcome};

use super::clustering::listed::PARTS;
use super::clustering::second_reading::GroupClustering;
use super::clustering::worth::GroupWorth;
use super::durations::Durations;
use super::summary::{
    DurationSummary, ErrorCount, HeldUp, Partial, Precision, Silence, Summary, SummaryKey, TwoModes,
};
use crate::statistics::dependence::block_sums::Sequence;
use crate::statistics::dependence::worth::{EffectiveSampleSize, Worth};
use crate::statistics::interval::agreement;
use crate::statistics::interval::share_over::{ShareOver, share_over};
use crate::statistics::quantile::censored::QUANTILES;
use crate::statistics::quantile::censored::{CensoredRanks, Censoring, censored_steps};
use crate::statistics::quantile::exact_durations::Values;
use crate::statistics::quantile::histogram::{Histogram, bucket_of, middle_of};

/// Known durations before two modes are looked for.
const MODES_ATTEMPTS: u64 = 30;
/// A gap between modes holds at most this share of the durations, ...
const MODES_GAP_SHARE: f64 = 0.02;
/// ... spans at least this factor in time, ...
const MODES_GAP_FACTOR: u64 = 4;
/// ... and leaves at least this share on either side.
const MODES_SIDE_SHARE: f64 = 0.1;

/// How quantiles are found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimation {
    pub precision: Precision,
    pub censoring: Censoring,
}

/// Durations of one kind (succeeded and censored, or failed) of one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct DurationGroup {
    histogram: Histogram,
    sequence: Sequence,
    censored_ns: Vec<u64>,
    over: Vec<u64>,
    values: Values,
}

impl DurationGroup {
    fn new(thresholds: usize) -> Self {
        Self { over: vec![0; thresholds], ..Self::default() }
    }

    #[inline]
    fn record(&mut self, ns: u64, thresholds: &[Nanoseconds], keep: bool) {
        let bucket = self.histogram.record(ns);
        self.sequence.push(bucket, ns);
        if keep {
            self.values.push(ns);
        }
        if thresholds.first().is_some_and(|least| ns > least.0) {
            self.count_over(ns, thresholds);
        }
    }

    fn record_censored(&mut self, ns: u64, thresholds: &[Nanoseconds]) {
        self.histogram.record_censored(ns);
        self.sequence.push(bucket_of(ns), ns);
        self.censored_ns.push(ns);
        self.count_over(ns, thresholds);
    }

    #[cold]
    fn count_over(&mut self, ns: u64, thresholds: &[Nanoseconds]) {
        for (over, threshold) in self.over.iter_mut().zip(thresholds) {
            *over += u64::from(ns > threshold.0);
        }
    }

    fn merge(&mut self, other: Self) {
        self.histogram.merge(&other.histogram);
        self.sequence.merge(&other.sequence);
        self.censored_ns.extend(other.censored_ns);
        self.values.append(other.values);
        for (mine, theirs) in self.over.iter_mut().zip(other.over) {
            *mine += theirs;
        }
    }

    fn summarise(
        mut self,
        thresholds: &[Nanoseconds],
        how: Estimation,
        worth: Option<GroupWorth>,
    ) -> DurationSummary {
        let exact = how.precision == Precision::Exact;
        self.censored_ns.sort_unstable();
        let total = self.histogram.total();
        let worth = worth.unwrap_or_else(|| {
            let sample_size = self.sequence.effective_sample_size(total, self.score_variance());
            GroupWorth::alike(sample_size, thresholds.len())
        });
        let shares = self.shares(thresholds, &worth);
        let part_means_ns = worth.part_means_ns.clone().unwrap_or_else(|| self.sequence.part_means_ns(PARTS));
        let modes = two_modes(&self.histogram);
        let ranks = if exact {
            self.exact_censored_ranks(how.censoring)
        } else {
            self.histogram.ranks_under(how.censoring)
        };
        let exactly = exact.then(|| {
            let wanted = wanted_ranks(&ranks, &worth);
            std::mem::take(&mut self.values).order_statistics(&self.histogram, &wanted)
        });
        let value_of_rank = |rank: u64| match &exactly {
            Some(exactly) => exactly.get(&rank).copied().map(Nanoseconds),
            None => self.histogram.value_of_rank(rank),
        };
        Durations {
            ranks: &ranks,
            known: self.histogram.count(),
            worth: &worth,
            min_ns: self.histogram.min(),
            max_known_ns: self.histogram.max(),
            min_censored_ns: self.censored_ns.first().copied().map(Nanoseconds),
            max_censored_ns: self.histogram.censored_max(),
            mean_ns: self.histogram.mean_ns(),
            value_of_rank: &value_of_rank,
        }
        .summarise(shares, part_means_ns, modes)
    }

    fn exact_censored_ranks(&mut self, censoring: Censoring) -> CensoredRanks {
        let counts = self.values.counts_at_most(&self.histogram, &self.censored_ns);
        let known_at_most = |limit| counts.get(&limit).copied().unwrap_or_default();
        let known = self.histogram.count();
        let longest = self.histogram.max().max(self.histogram.censored_max()).unwrap_or_default();
        CensoredRanks::new(known, censored_steps(&self.censored_ns, known_at_most), longest.0, censoring)
    }

    fn shares(&self, thresholds: &[Nanoseconds], worth: &GroupWorth) -> Vec<ShareOver> {
        let attempts = self.histogram.total();
        let share = |((threshold, over), worth): ((&Nanoseconds, &u64), &Worth)| {
            let undecided = self.censored_ns.partition_point(|ns| *ns <= threshold.0) as u64;
            let sample_size = EffectiveSampleSize { attempts, effective: worth.effective };
            share_over(*threshold, *over, undecided, sample_size)
        };
        let over = thresholds.iter().zip(&self.over);
        let mut shares: Vec<ShareOver> = over.zip(&worth.thresholds).map(share).collect();
        agreement::of_shares(shares.iter_mut().map(|share| &mut share.interval).collect());
        shares
    }

    /// Variance of the scores that the sequence got: the buckets of all durations.
    fn score_variance(&self) -> f64 {
        let scored = || self.histogram.occupied().chain(self.histogram.occupied_by_censored());
        let total = self.histogram.total() as f64;
        let mean = scored().map(|(bucket, count)| bucket as f64 * count as f64).sum::<f64>() / total;
        scored().map(|(bucket, count)| (bucket as f64 - mean).powi(2) * count as f64).sum::<f64>() / total
    }
}

/// Every rank among the known durations that the summary will ask for.
fn wanted_ranks(ranks: &CensoredRanks, worth: &GroupWorth) -> Vec<u64> {
    let asked = std::cell::RefCell::new(Vec::new());
    let note = |rank: u64| {
        asked.borrow_mut().push(rank);
        None
    };
    let probe = Durations {
        ranks,
        known: 0,
        worth,
        min_ns: None,
        max_known_ns: None,
        min_censored_ns: None,
        max_censored_ns: None,
        mean_ns: None,
        value_of_rank: &note,
    };
    for q in QUANTILES {
        probe.estimate(q);
    }
    probe.interpolated();
    let mut asked = asked.into_inner();
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// A nearly empty stretch between two groups of durations.
struct Gap {
    factor: f64,
    below: u64,
    inside: u64,
}

impl Gap {
    /// Wide is clear; a duration inside must be worth half as much width again, or it belongs to a side.
    fn clarity(&self) -> f64 {
        self.factor * 1.5_f64.powi(-(self.inside.min(1000) as i32))
    }
}

/// The clearest nearly empty gap that separates two groups of durations.
fn two_modes(histogram: &Histogram) -> Option<TwoModes> {
    let known = histogram.count();
    if known < MODES_ATTEMPTS {
        return None;
    }
    let occupied: Vec<(usize, u64)> = histogram.occupied().collect();
    let side = (MODES_SIDE_SHARE * known as f64).ceil() as u64;
    let allowance = (MODES_GAP_SHARE * known as f64).floor() as u64;
    let mut best: Option<Gap> = None;
    let mut below = 0;
    for (index, &(bucket, count)) in occupied.iter().enumerate() {
        below += count;
        let mut inside = 0;
        for &(next, next_count) in &occupied[index + 1..] {
            let factor = middle_of(next) as f64 / middle_of(bucket).max(1) as f64;
            let gap = Gap { factor, below, inside };
            let separates = below >= side && known - below - inside >= side;
            if separates && best.as_ref().is_none_or(|best| gap.clarity() > best.clarity()) {
                best = Some(gap);
            }
            inside += next_count;
            if inside > allowance || below < side {
                break;
            }
        }
    }
    let Gap { factor, below: fast, inside } = best?;
    if factor < MODES_GAP_FACTOR as f64 {
        return None;
    }
    let slow = known - fast - inside;
    Some(TwoModes {
        fast_share: fast as f64 / known as f64,
        fast_ns: histogram.value_of_rank(fast.div_ceil(2))?,
        slow_ns: histogram.value_of_rank(fast + inside + slow.div_ceil(2))?,
    })
}

/// Everything about one key.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) key: SummaryKey,
    /// How many ended in each way; those that were ok are counted in the end.
    outcomes: [u64; Outcome::ALL.len()],
    errors: Vec<ErrorCount>,
    durations: DurationGroup,
    failed: Option<Box<DurationGroup>>,
    /// What interrupted attempts had done.
    held_up: HeldUp,
    partial: Option<Partial>,
    bytes: u64,
    first_start_ns: i64,
    /// Of attempts that ended by themselves.
    last_end_ns: i64,
    /// Last look at the others.
    last_look_ns: i64,
    /// Start of the first that hung or timed out.
    silent_since_ns: i64,
}

impl Group {
    pub(crate) fn new(key: SummaryKey, thresholds: usize) -> Self {
        Self {
            key,
            outcomes: [0; Outcome::ALL.len()],
            errors: Vec::new(),
            durations: DurationGroup::new(thresholds),
            failed: None,
            held_up: HeldUp::default(),
            partial: None,
            bytes: 0,
            first_start_ns: i64::MAX,
            last_end_ns: i64::MIN,
            last_look_ns: i64::MIN,
            silent_since_ns: i64::MAX,
        }
    }

    /// An attempt that succeeded within its deadline: nearly all are such.
    #[inline]
    pub(crate) fn record_ok(&mut self, ns: u64, bytes: u64, thresholds: &[Nanoseconds], keep: bool) {
        self.bytes = self.bytes.wrapping_add(bytes);
        self.durations.record(ns, thresholds, keep);
    }

    /// Widens the time from first start to last end by an attempt that ended by itself.
    #[inline]
    pub(crate) fn span(&mut self, start_ns: i64, duration_ns: i64) {
        if start_ns < self.first_start_ns {
            self.first_start_ns = start_ns;
        }
        self.last_end_ns = self.last_end_ns.max(start_ns.wrapping_add(duration_ns));
    }

    /// The same by any attempt.
    pub(crate) fn span_of(&mut self, outcome: Outcome, start_ns: i64, duration_ns: i64) {
        match outcome {
            Outcome::Ok | Outcome::Late | Outcome::Error | Outcome::Retried => {
                self.span(start_ns, duration_ns)
            }
            Outcome::Hung | Outcome::Timeout | Outcome::Skipped | Outcome::Interrupted => {
                self.first_start_ns = self.first_start_ns.min(start_ns);
                self.last_look_ns = self.last_look_ns.max(start_ns.wrapping_add(duration_ns));
            }
        }
        if matches!(outcome, Outcome::Hung | Outcome::Timeout) {
            self.silent_since_ns = self.silent_since_ns.min(start_ns);
        }
    }

    /// Any other attempt.
    #[cold]
    pub(crate) fn record_other(
        &mut self,
        outcome: Outcome,
        code: FailureCode,
        ns: u64,
        bytes: u64,
        thresholds: &[Nanoseconds],
        keep: bool,
    ) {
        self.outcomes[outcome as usize] += 1;
        if outcome == Outcome::Error {
            self.count_error(code.class(), 1);
            let failed = self.failed.get_or_insert_with(|| Box::new(DurationGroup::new(thresholds.len())));
            failed.record(ns, thresholds, keep);
        } else if outcome == Outcome::Retried {
            // What came of it is in the attempt after it.
        } else if outcome.is_censored() && !outcome.is_lower_bound(code) {
            // Who measured had enough, or was in its own way: that says nothing of the target.
            if code == FailureCode::REMOVAL {
                let held_up = &mut self.held_up;
                let count =
                    if outcome == Outcome::Skipped { &mut held_up.skipped } else { &mut held_up.interrupted };
                *count += 1;
            }
        } else if outcome.is_censored() {
            self.durations.record_censored(ns, thresholds);
            if outcome == Outcome::Interrupted && bytes > 0 {
                self.add_partial(Partial { bytes, duration_ns: Nanoseconds(ns) });
            }
        } else {
            self.bytes = self.bytes.wrapping_add(bytes);
            self.durations.record(ns, thresholds, keep);
        }
    }

    fn add_partial(&mut self, more: Partial) {
        let partial = self.partial.get_or_insert(Partial { bytes: 0, duration_ns: Nanoseconds::ZERO });
        partial.bytes = partial.bytes.wrapping_add(more.bytes);
        partial.duration_ns = Nanoseconds(partial.duration_ns.0.saturating_add(more.duration_ns.0));
    }

    fn count_error(&mut self, class: ErrorClass, count: u64) {
        match self.errors.iter_mut().find(|error| error.class == class) {
            Some(error) => error.count += count,
            None => self.errors.push(ErrorCount { class, count }),
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.outcomes.iter_mut().zip(other.outcomes) {
            *mine += theirs;
        }
        for error in other.errors {
            self.count_error(error.class, error.count);
        }
        self.durations.merge(other.durations);
        match (&mut self.failed, other.failed) {
            (Some(mine), Some(theirs)) => mine.merge(*theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
        self.held_up.skipped += other.held_up.skipped;
        self.held_up.interrupted += other.held_up.interrupted;
        if let Some(partial) = other.partial {
            self.add_partial(partial);
        }
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.first_start_ns = self.first_start_ns.min(other.first_start_ns);
        self.last_end_ns = self.last_end_ns.max(other.last_end_ns);
        self.last_look_ns = self.last_look_ns.max(other.last_look_ns);
        self.silent_since_ns = self.silent_since_ns.min(other.silent_since_ns);
    }

    /// What a second reading is to count of it.
    pub(crate) fn clustering(&self, thresholds: &[Nanoseconds]) -> GroupClustering {
        let span = (self.first_start_ns, self.last_end_ns.max(self.last_look_ns));
        GroupClustering::new(&self.durations.histogram, span, thresholds)
    }

    pub(crate) fn summarise(
        mut self,
        thresholds: &[Nanoseconds],
        how: Estimation,
        worth: Option<GroupWorth>,
    ) -> Summary {
        // Nearly all attempts are ok: they are not counted twice, but are the known durations that are not
        // late.
        let late = self.outcomes[Outcome::Late as usize];
        self.outcomes[Outcome::Ok as usize] = self.durations.histogram.count() - late;
        let outcome = |outcome: Outcome| self.outcomes[outcome as usize];
        let last_ns = self.last_end_ns.max(self.last_look_ns);
        let spanned = last_ns >= self.first_start_ns;
        let moment = |ns: i64| spanned.then_some(MonotonicTime(ns.max(0) as u64));
        let is_silent = self.silent_since_ns < i64::MAX;
        let answered_ns = Some(self.last_end_ns).filter(|ns| *ns > i64::MIN).and_then(moment);
        let silence = moment(self.silent_since_ns)
            .filter(|_| is_silent)
            .map(|since_ns| Silence { since_ns, answered_ns });
        self.errors.sort_unstable_by_key(|error| error.class);
        Summary {
            key: self.key,
            attempts: self.outcomes.iter().sum(),
            ok: outcome(Outcome::Ok),
            late: outcome(Outcome::Late),
            timeout: outcome(Outcome::Timeout),
            hung: outcome(Outcome::Hung),
            skipped: outcome(Outcome::Skipped),
            interrupted: outcome(Outcome::Interrupted),
            retried: outcome(Outcome::Retried),
            held_up: self.held_up,
            partial: self.partial,
            bytes: self.bytes,
            first_start_ns: moment(self.first_start_ns),
            last_end_ns: moment(last_ns),
            silence,
            rate_per_second: None,
            parts: Vec::new(),
            errors: self.errors,
            durations: self.durations.summarise(thresholds, how, worth),
            failed: self.failed.map(|failed| failed.summarise(thresholds, how, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_and_its_penalty_are_two_modes() {
        let mut histogram = Histogram::default();
        // Study 000: 20 % of listings took 0.01 s, the rest at least 1.3 s.
        (0..20).for_each(|step| {
            histogram.record(9_000_000 + step * 100_000);
        });
        (0..80).for_each(|step| {
            histogram.record(1_300_000_000 + step * 20_000_000);
        });
        let modes = two_modes(&histogram).unwrap();
        assert!((modes.fast_share - 0.2).abs() < 1e-9, "{modes:?}");
        assert!(modes.fast_ns.0 < 12_000_000 && modes.slow_ns.0 > 1_300_000_000);
    }

    #[test]
    fn one_broad_group_is_no_two_modes() {
        let mut histogram = Histogram::default();
        (0..200_u64).for_each(|step| {
            histogram.record(1_000_000 + step * step * 1000);
        });
        assert_eq!(two_modes(&histogram), None);
        let mut outlier = Histogram::default();
        (0..100).for_each(|step| {
            outlier.record(1_000_000 + step * 1000);
        });
        (0..3).for_each(|_| {
            outlier.record(5_000_000_000);
        });
        assert_eq!(two_modes(&outlier), None);
    }
}
