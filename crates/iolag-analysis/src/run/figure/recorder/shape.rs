//! From a histogram to the shapes that are drawn: steps, bins and boxes.

use iolag_model::Nanoseconds;

use crate::figure_column::{Column32, ColumnFloat};
use crate::run::figure::document::distribution::{
    BINS_PER_DECADE, BoxFigure, CURVE_POINTS_PER_BIN, DISTRIBUTION_STEPS_MAX, Distribution, HistogramFigure,
    ShareAt, ShareAtLeast,
};
use crate::{Censoring, EffectiveSampleSize, Histogram, QuantileValue, bucket_bounds, bucket_of, middle_of};

/// A kernel reaches so many bandwidths to either side.
const KERNEL_REACH: f64 = 4.0;
/// The smallest bandwidth in decades: half a bin, so that equal durations still make a visible hill.
const LEAST_BANDWIDTH: f64 = 0.5 / BINS_PER_DECADE as f64;

/// The greatest: beyond, the rule would smooth two modes, a cache and the price of missing it, into one.
const GREATEST_BANDWIDTH: f64 = 0.25;

/// The Kaplan-Meier estimate of a histogram, or the share that is certain, walked upwards. Within a bucket known durations come first.
struct ProductLimit<'a> {
    histogram: &'a Histogram,
    censored: Vec<(usize, u64)>,
    next: usize,
    at_risk: u64,
    survival: f64,
}

impl<'a> ProductLimit<'a> {
    fn new(histogram: &'a Histogram, censoring: Censoring) -> Self {
        let censored = match censoring.of(histogram.total()) {
            Censoring::Independent | Censoring::InformativeIfFew => {
                histogram.occupied_by_censored().collect()
            }
            // They stay at risk for ever: only the share that certainly took at most so long counts.
            Censoring::Informative => Vec::new(),
        };
        Self { histogram, censored, next: 0, at_risk: histogram.total(), survival: 1.0 }
    }

    /// Takes what was censored in buckets below this one out of those at risk.
    fn pass_censored_below(&mut self, bucket: usize) {
        while let Some((_, count)) = self.censored.get(self.next).filter(|(place, _)| *place < bucket) {
            self.at_risk -= count;
            self.next += 1;
        }
    }

    /// The share of attempts that took at most so long as this bucket's longest; buckets must ascend.
    fn share_through(&mut self, bucket: usize) -> f64 {
        self.pass_censored_below(bucket);
        self.survival *= self.survival_of(self.histogram.counts()[bucket]);
        self.at_risk -= self.histogram.counts()[bucket];
        1.0 - self.survival
    }

    /// The share if `known` more of this bucket are passed, without passing them.
    fn share_within(&mut self, bucket: usize, known: u64) -> f64 {
        self.pass_censored_below(bucket);
        1.0 - self.survival * self.survival_of(known)
    }

    fn survival_of(&self, known: u64) -> f64 {
        if self.at_risk == 0 { 1.0 } else { (self.at_risk - known) as f64 / self.at_risk as f64 }
    }
}

/// The distribution of a series; `known_over` tells how many known durations pass each threshold.
pub(crate) fn distribution(
    series: u16,
    histogram: &Histogram,
    censoring: Censoring,
    (thresholds, known_over): (&[Nanoseconds], &[u64]),
    sample_size: EffectiveSampleSize,
) -> Distribution {
    let at_thresholds: Vec<ShareAt> = thresholds
        .iter()
        .zip(known_over)
        .map(|(&threshold_ns, &over)| ShareAt {
            threshold_ns,
            share: share_at(histogram, censoring, threshold_ns, over),
        })
        .collect();
    let (mut steps, top) = steps_of(histogram, censoring);
    if let (Some(min), Some(max)) = (histogram.min(), histogram.max()) {
        for at in &at_thresholds {
            let within = (min..max).contains(&at.threshold_ns);
            steps.extend(at.share.filter(|_| within).map(|share| (at.threshold_ns.0, share)));
        }
    }
    // Of several shares at one duration the highest is the step.
    steps.sort_by(|left, right| left.0.cmp(&right.0).then(right.1.total_cmp(&left.1)));
    steps.dedup_by_key(|step| step.0);
    let longest = histogram.max().max(histogram.censored_max()).unwrap_or_default();
    let open = histogram.censored_count() > 0 && top < 1.0;
    Distribution {
        series,
        known: histogram.count(),
        censored: histogram.censored_count(),
        duration_ns: steps.iter().map(|step| step.0 as f32).collect(),
        share: steps.iter().map(|step| step.1 as f32).collect(),
        thresholds: at_thresholds,
        at_least: open.then_some(ShareAtLeast { share: 1.0 - top, from_ns: longest }),
        sample_size,
        band: band(sample_size.effective),
        band_naive: band(sample_size.attempts as f64),
    }
}

/// `sqrt(ln(2 / 0.05) / (2 n))`, at most 1.
fn band(n: f64) -> f64 {
    if n > 0.0 { ((2.0_f64 / (1.0 - crate::CONFIDENCE)).ln() / (2.0 * n)).sqrt().min(1.0) } else { 1.0 }
}

/// Steps at the ends of occupied buckets, thinned out evenly on the axis, and the share at the last one.
fn steps_of(histogram: &Histogram, censoring: Censoring) -> (Vec<(u64, f64)>, f64) {
    let occupied: Vec<usize> = histogram.occupied().map(|(bucket, _)| bucket).collect();
    let (Some(&first), Some(&last), Some(min), Some(max)) =
        (occupied.first(), occupied.last(), histogram.min(), histogram.max())
    else {
        return (Vec::new(), 0.0);
    };
    // Both ends and the thresholds need places too.
    let slots = DISTRIBUTION_STEPS_MAX - 16;
    let slot_of = |bucket: usize| (bucket - first) * slots / (last - first + 1);
    let mut walk = ProductLimit::new(histogram, censoring);
    // At the shortest duration there is one attempt at least.
    let mut steps = vec![(min.0, walk.share_within(first, 1))];
    let mut share = 0.0;
    for (index, &bucket) in occupied.iter().enumerate() {
        share = walk.share_through(bucket);
        let next = occupied.get(index + 1);
        let is_last_of_slot = next.is_none_or(|next| slot_of(*next) != slot_of(bucket));
        if is_last_of_slot || occupied.len() <= slots {
            steps.push((bucket_bounds(bucket).1.min(max.0), share));
        }
    }
    // The last bucket has no longest duration of its own.
    if let Some(end) = steps.last_mut() {
        end.0 = max.0;
    }
    (steps, share)
}

/// The share at a threshold that `over` known durations pass; `None` where nothing is known any more.
fn share_at(histogram: &Histogram, censoring: Censoring, threshold: Nanoseconds, over: u64) -> Option<f64> {
    if histogram.total() == 0 {
        return None;
    }
    let bucket = bucket_of(threshold.0);
    let mut walk = ProductLimit::new(histogram, censoring);
    let mut passed = 0;
    for (below, count) in histogram.occupied().take_while(|(below, _)| *below < bucket) {
        walk.share_through(below);
        passed += count;
    }
    let known_at_most = histogram.count() - over;
    let share = walk.share_within(bucket, known_at_most.saturating_sub(passed));
    let waited = histogram.max().max(histogram.censored_max()).unwrap_or_default();
    let is_known = threshold <= waited || histogram.censored_count() == 0;
    is_known.then_some(share)
}

/// Bins and curve of the known durations; `None` without any.
pub(crate) fn histogram_figure(series: u16, histogram: &Histogram) -> Option<HistogramFigure> {
    let per_decade = f64::from(BINS_PER_DECADE);
    let logarithms: Vec<(f64, u64)> = histogram
        .occupied()
        .map(|(bucket, count)| ((middle_of(bucket).max(1) as f64).log10(), count))
        .collect();
    let (least, greatest) = (logarithms.first()?.0, logarithms.last()?.0);
    let bandwidth = bandwidth_of(histogram, &logarithms);
    let margin = KERNEL_REACH * bandwidth;
    let bin_of = |logarithm: f64| (logarithm * per_decade).floor().max(0.0) as u32;
    let first_bin = bin_of((least - margin).max(0.0));
    let bins = bin_of(greatest + margin) - first_bin + 1;

    let mut counts = vec![0_u32; bins as usize];
    for (logarithm, count) in &logarithms {
        let bin = &mut counts[(bin_of(*logarithm) - first_bin) as usize];
        *bin = bin.saturating_add(u32::try_from(*count).unwrap_or(u32::MAX));
    }
    let step = 1.0 / (per_decade * f64::from(CURVE_POINTS_PER_BIN));
    let begin = f64::from(first_bin) / per_decade;
    let mut density = vec![0_f64; (bins * CURVE_POINTS_PER_BIN + 1) as usize];
    let scale = 1.0 / (histogram.count() as f64 * bandwidth * std::f64::consts::TAU.sqrt());
    for (logarithm, count) in &logarithms {
        let low = ((logarithm - margin - begin) / step).ceil().max(0.0) as usize;
        let high = ((logarithm + margin - begin) / step).floor() as usize;
        for (index, density) in density.iter_mut().enumerate().take(high + 1).skip(low) {
            let distance = (begin + index as f64 * step - logarithm) / bandwidth;
            *density += *count as f64 * scale * (-0.5 * distance * distance).exp();
        }
    }
    Some(HistogramFigure {
        series,
        first_bin,
        counts: Column32(counts),
        density_per_decade: density.iter().map(|value| *value as f32).collect::<ColumnFloat>(),
        bandwidth_decades: bandwidth,
    })
}

/// Silverman's rule of thumb (1986, 3.31): 0.9 × the lesser of deviation and interquartile range / 1.34, × n^-1/5.
fn bandwidth_of(histogram: &Histogram, logarithms: &[(f64, u64)]) -> f64 {
    let n = histogram.count() as f64;
    let mean = logarithms.iter().map(|(value, count)| value * *count as f64).sum::<f64>() / n;
    let square = |(value, count): &(f64, u64)| (value - mean).powi(2) * *count as f64;
    let deviation = (logarithms.iter().map(square).sum::<f64>() / n).sqrt();
    let at = |q: f64| {
        let rank = ((q * n).ceil() as u64).max(1);
        let value = histogram.value_of_rank(rank).unwrap_or_default();
        (value.0.max(1) as f64).log10()
    };
    let spread = (at(0.75) - at(0.25)) / 1.34;
    let spread = if spread > 0.0 { spread.min(deviation) } else { deviation };
    (0.9 * spread * n.powf(-0.2)).clamp(LEAST_BANDWIDTH, GREATEST_BANDWIDTH)
}

/// The box of a histogram; `None` if nothing was recorded.
pub(crate) fn box_of(histogram: &Histogram, censoring: Censoring) -> Option<BoxFigure> {
    if histogram.total() == 0 {
        return None;
    }
    let ranks = histogram.ranks_under(censoring);
    let quantile = |q: f64| ranks.quantile(q, |rank| histogram.value_of_rank(rank));
    let least_censored =
        || histogram.occupied_by_censored().next().map(|(bucket, _)| bucket_bounds(bucket).0);
    let bound = || Nanoseconds(least_censored().unwrap_or_default());
    let min = match histogram.min() {
        // One that was cut off earlier may have been shorter, whatever ended first.
        Some(min)
            if censoring.of(histogram.total()) == Censoring::Independent
                || histogram.censored_count() == 0
                || bound() >= min =>
        {
            QuantileValue::Exactly(min)
        }
        _ => QuantileValue::AtLeast(bound()),
    };
    let max = match (histogram.max(), histogram.censored_max()) {
        (Some(known), censored) if censored.is_none_or(|censored| censored < known) => {
            QuantileValue::Exactly(known)
        }
        (known, censored) => QuantileValue::AtLeast(known.max(censored).unwrap_or_default()),
    };
    let (p25, p75) = (quantile(0.25), quantile(0.75));
    Some(BoxFigure {
        attempts: histogram.total(),
        min,
        p5: quantile(0.05),
        p25,
        median: quantile(0.5),
        p75,
        p95: quantile(0.95),
        max,
        outliers: outliers(histogram, p25, p75),
    })
}

fn outliers(histogram: &Histogram, p25: QuantileValue, p75: QuantileValue) -> u64 {
    let (QuantileValue::Exactly(low), QuantileValue::Exactly(high)) = (p25, p75) else {
        return 0;
    };
    let (low, high) = (low.0.max(1) as f64, high.0.max(1) as f64);
    let reach = (high / low).powf(1.5);
    let (low_fence, high_fence) = (low / reach, high * reach);
    // A bucket as wide as the box itself belongs to it.
    let (low_bucket, high_bucket) = (bucket_of(low as u64), bucket_of(high as u64));
    let is_outside = |bucket: usize| {
        let middle = middle_of(bucket) as f64;
        (middle < low_fence && bucket < low_bucket) || (middle > high_fence && bucket > high_bucket)
    };
    let known = histogram.occupied().filter(|(bucket, _)| is_outside(*bucket));
    let censored = histogram.occupied_by_censored().filter(|(bucket, _)| is_outside(*bucket));
    known.chain(censored).map(|(_, count)| count).sum()
}
