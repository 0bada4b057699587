//! Over several sizes and repetitions: from where on do results stop changing, and do repetitions differ by
//! more than chance?

use iolag_model::{Nanoseconds, format_count};
use serde::{Deserialize, Serialize};

use super::summary::Summary;
use crate::statistics::comparison::kruskal_wallis::{chi_squared_above, kruskal_wallis};
use crate::statistics::dependence::effective_size::inflation_of;
use crate::statistics::quantile::censored::median_of;

/// Sizes needed before "results stop changing" can be said.
pub const SWEEP_SIZES_NEEDED: usize = 3;

/// Rates of one size needed before their range is an interval.
pub const RATES_NEEDED: usize = 3;

/// Repetitions differ by chance more rarely than this: then it is not chance.
pub const REPETITION_SIGNIFICANCE: f64 = 0.01;

/// Repetitions that differ by less than this factor are alike for every practical purpose.
pub const REPETITION_FACTOR: f64 = 1.1;

/// One result with its interval at one working-set size (or number of clients).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// Objects in the working set, or whatever was swept.
    pub size: u64,
    /// The result.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

impl SweepPoint {
    /// The median duration of a summary in ns, if it has an interval.
    pub fn of_median(size: u64, summary: &Summary) -> Option<Self> {
        let (Nanoseconds(low), Nanoseconds(high)) = summary.durations.median.interval.bounds()?;
        let value = summary.durations.median.value.lower_bound()?.0;
        Some(Self { size, value: value as f64, low: low as f64, high: high as f64 })
    }

    /// The median of repeated rates; its interval is their range, which needs at least [`RATES_NEEDED`] of them.
    pub fn of_rates(size: u64, rates: &[f64]) -> Option<Self> {
        if rates.len() < RATES_NEEDED {
            return None;
        }
        let mut sorted = rates.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Self { size, value: median_of(&sorted)?, low: sorted[0], high: sorted[sorted.len() - 1] })
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// From which size on results stop changing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stability {
    /// From this size on every interval overlaps those of all larger ones.
    From {
        /// The size.
        size: u64,
    },
    /// The results at the two largest sizes still differ.
    NotYet {
        /// The largest size that was measured.
        largest: u64,
    },
    /// Too few sizes to say.
    TooFew {
        /// What to add, as a sentence.
        advice: String,
    },
}

/// The smallest size whose interval overlaps those of all larger sizes. Points may come in any order.
pub fn stable_from(points: &[SweepPoint]) -> Stability {
    let mut points = points.to_vec();
    points.sort_by_key(|point| point.size);
    points.dedup_by_key(|point| point.size);
    let Some(largest) = points.last().filter(|_| points.len() >= SWEEP_SIZES_NEEDED) else {
        let more = SWEEP_SIZES_NEEDED - points.len();
        let advice = match points.last() {
            Some(last) => {
                format!("Measure {more} more, for example {} and up.", format_count(last.size * 10))
            }
            None => format!("Measure at least {more} sizes, each ten times the one before."),
        };
        return Stability::TooFew { advice };
    };
    let settled = |index: usize| points[index + 1..].iter().all(|larger| points[index].overlaps(larger));
    match (0..points.len() - 1).find(|&index| settled(index)) {
        Some(index) => Stability::From { size: points[index].size },
        None => Stability::NotYet { largest: largest.size },
    }
}

/// One repetition: its result, and results of equal parts of it in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// Operations per second over the whole repetition.
    pub rate_per_second: f64,
    /// Any result (mean duration, rate) of equal parts, in order; at least 5 to tell chance from difference.
    pub parts: Vec<f64>,
}

/// Whether repetitions of the same thing agree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RepetitionComparison {
    /// Greatest by smallest rate.
    pub factor: f64,
    /// Probability of such a difference between equal repetitions; absent if the parts are too few.
    pub p: Option<f64>,
    /// What follows.
    pub judgement: RepetitionJudgement,
}

/// What a comparison of repetitions says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepetitionJudgement {
    /// No more than chance would make them, or by less than a tenth.
    Alike,
    /// By more than chance would.
    Differ,
    /// By a factor of at least 1.5, without parts that would tell whether by chance.
    DifferUntested,
    /// Fewer than two repetitions with a rate.
    TooFew,
}

/// Compares repetitions: Kruskal-Wallis over their parts, its statistic scaled by the smallest effective
/// share of a repetition's parts under autocorrelation, and the factor between the greatest and the smallest
/// rate as effect.
pub fn compare_repetitions(repetitions: &[Repetition]) -> RepetitionComparison {
    let rates: Vec<f64> = repetitions
        .iter()
        .map(|repetition| repetition.rate_per_second)
        .filter(|rate| rate.is_finite() && *rate > 0.0)
        .collect();
    if rates.len() < 2 {
        return RepetitionComparison { factor: 1.0, p: None, judgement: RepetitionJudgement::TooFew };
    }
    let greatest = rates.iter().copied().fold(f64::MIN, f64::max);
    let factor = greatest / rates.iter().copied().fold(f64::MAX, f64::min);
    let tested = repetitions.iter().all(|repetition| repetition.parts.len() >= 5);
    let p = tested.then(|| {
        let groups: Vec<&[f64]> = repetitions.iter().map(|repetition| repetition.parts.as_slice()).collect();
        // So few parts understate their own autocorrelation: the repetition that shows most of it speaks for
        // all.
        let ratios = groups.iter().map(|parts| 1.0 / inflation_of(parts));
        let statistic = kruskal_wallis(&groups) * ratios.fold(1.0, f64::min);
        chi_squared_above(statistic, groups.len() - 1)
    });
    let judgement = match p {
        Some(p) if p < REPETITION_SIGNIFICANCE && factor >= REPETITION_FACTOR => RepetitionJudgement::Differ,
        None if factor >= 1.5 => RepetitionJudgement::DifferUntested,
        _ => RepetitionJudgement::Alike,
    };
    RepetitionComparison { factor, p, judgement }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    fn point(size: u64, low: f64, high: f64) -> SweepPoint {
        SweepPoint { size, value: (low + high) / 2.0, low, high }
    }

    #[test]
    fn results_stop_changing_at_the_smallest_size_that_agrees_with_all_larger_ones() {
        let points = [
            point(1_000, 10.0, 12.0),
            point(10_000, 50.0, 60.0),
            point(100_000, 58.0, 70.0),
            point(1_000_000, 59.0, 66.0),
        ];
        assert_eq!(stable_from(&points), Stability::From { size: 10_000 });
        assert_eq!(stable_from(&points[..3]), Stability::From { size: 10_000 });
        let rising = [point(1, 1.0, 2.0), point(2, 3.0, 4.0), point(3, 5.0, 6.0)];
        assert_eq!(stable_from(&rising), Stability::NotYet { largest: 3 });
    }

    #[test]
    fn two_sizes_are_refused_with_advice() {
        let Stability::TooFew { advice } = stable_from(&[point(1_000, 1.0, 2.0), point(10_000, 1.0, 2.0)])
        else {
            panic!("two sizes are too few");
        };
        assert_eq!(advice, "Measure 1 more, for example 100 000 and up.");
        assert!(matches!(stable_from(&[]), Stability::TooFew { .. }));
    }

    /// Parts of a repetition whose mean duration follows from its rate, with some scatter.
    fn repetition(rate: f64, scatter: f64, noise: &mut Random) -> Repetition {
        let parts = (0..32).map(|_| 1e9 / rate * (scatter * noise.normal()).exp()).collect();
        Repetition { rate_per_second: rate, parts }
    }

    #[test]
    fn the_usb_stick_of_study_004_is_flagged() {
        let mut noise = Random::new(4);
        let stick: Vec<_> =
            [200.2, 404.0, 132.4].iter().map(|rate| repetition(*rate, 0.5, &mut noise)).collect();
        let comparison = compare_repetitions(&stick);
        assert_eq!(comparison.judgement, RepetitionJudgement::Differ);
        assert!(
            (comparison.factor - 404.0 / 132.4).abs() < 1e-12
                && comparison.p.unwrap() < REPETITION_SIGNIFICANCE
        );

        let rates_only =
            [200.2, 404.0, 132.4].map(|rate_per_second| Repetition { rate_per_second, parts: Vec::new() });
        let untested = compare_repetitions(&rates_only);
        assert_eq!((untested.judgement, untested.p), (RepetitionJudgement::DifferUntested, None));
    }

    #[test]
    fn the_nvme_of_study_004_is_not_flagged_when_its_parts_scatter_as_much() {
        let mut noise = Random::new(5);
        let disk: Vec<_> =
            [57_000.0, 55_441.3, 54_715.3].iter().map(|rate| repetition(*rate, 0.3, &mut noise)).collect();
        assert_eq!(compare_repetitions(&disk).judgement, RepetitionJudgement::Alike);
    }

    #[test]
    fn equal_repetitions_are_rarely_flagged_even_when_their_parts_are_correlated() {
        let mut noise = Random::new(6);
        let flagged = (0..200)
            .filter(|_| {
                let repetitions: Vec<_> = (0..3)
                    .map(|index| {
                        let mut state = 0.0;
                        let parts = (0..32).map(|_| {
                            state = 0.5 * state + noise.normal();
                            100.0 + state
                        });
                        let parts = parts.collect();
                        Repetition { rate_per_second: 100.0 + 50.0 * f64::from(index), parts }
                    })
                    .collect();
                compare_repetitions(&repetitions).judgement == RepetitionJudgement::Differ
            })
            .count();
        assert!(flagged <= 12, "{flagged} of 200");
    }

    #[test]
    fn one_repetition_is_too_few() {
        let one = Repetition { rate_per_second: 5.0, parts: vec![1.0; 9] };
        assert_eq!(compare_repetitions(&[one]).judgement, RepetitionJudgement::TooFew);
    }
}
