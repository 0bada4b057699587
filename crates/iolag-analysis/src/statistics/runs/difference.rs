//! By how much is one side faster? One pivot, which gives the interval and the p of the estimate.
//!
//! - *Paired*: Student's t (1908) of the differences within blocks: what the runs of a block have in common falls out.
//! - *Apart*: Welch's t (1947), with Satterthwaite's degrees of freedom, and Student's for equal spreads: the wider counts. Of four runs against 25 the former
//!   alone is false twice as often as it says at the level of a table, and the latter where four runs were spared what slows one in ten.
//! - *Strata*, apart: the same of the differences within each stratum, so that it does not matter which side has more of what is slow.
//! - *Days*, paired or apart: the same, for what they are worth, since a day resembles the one before ([`super::likeness`]).
//! - *Ranks*, where a run is only bounded: the mean of such runs has no interval ([`super::ranks`]).

use serde::{Deserialize, Serialize};

use super::likeness::{Likeness, RankWorth, SeenLikeness};
use super::log_range::{LogRange, known};
use super::mean::{DayMeans, Moments, Student};
use super::needed::more_for;
use super::pairing::{RunPairing, differences, likeness_of, worth_of};
use super::ranks::{Ranked, Ranks};

/// By so much logarithms may differ because they were rounded.
const ROUNDING: f64 = 1e-12;

/// How a difference was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunMethod {
    /// Student's t of the differences within blocks.
    PairedT,
    /// The wider of Welch's t and Student's for equal spreads.
    ApartT,
    /// Signed ranks of the differences within blocks.
    SignedRanks,
    /// Rank sums.
    RankSums,
}

/// By how much the other side is faster than the base: the logarithm of their ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDifference {
    estimate: LogRange,
    method: RunMethod,
    pivot: Pivot,
    /// Of the side that has fewer.
    runs: usize,
    margin: f64,
}

impl RunDifference {
    /// `None` if a side has no run. The difference may be off by `margin` because a clock counts in steps, the same in all runs.
    pub fn of(pairing: &RunPairing, margin: f64) -> Option<Self> {
        Self::if_alike(pairing, likeness_of(pairing), margin)
    }

    /// The same, if days are seen to be so much alike.
    fn if_alike(pairing: &RunPairing, likeness: SeenLikeness, margin: f64) -> Option<Self> {
        let (method, estimated) = Estimated::of(pairing, likeness)?;
        let estimate = estimated.estimate();
        let pivot = match estimated {
            Estimated::Mean(student) => Pivot::Student(student),
            Estimated::Days(days) => Pivot::Days(days),
            Estimated::Median(ranked) => {
                Pivot::Ranks(Ranks::of(ranked), worth_of(pairing, likeness, pairing.counts()))
            }
        };
        let runs = pairing.counts().into_iter().min()?;
        Some(Self { estimate, method, pivot, runs, margin: margin.max(ROUNDING) })
    }

    /// The estimate alone; `None` if a side has no run.
    pub fn estimate_of(pairing: &RunPairing) -> Option<LogRange> {
        Estimated::of(pairing, likeness_of(pairing)).map(|(_, estimated)| estimated.estimate())
    }

    /// The difference of the means, or the median of the contrasts, which may be only bounded.
    pub const fn estimate(&self) -> LogRange {
        self.estimate
    }

    /// How it was judged.
    pub const fn method(&self) -> RunMethod {
        self.method
    }

    /// About so many more runs of each side make half of the interval at this level, without what a clock adds, at most so wide, if they are as far apart as those that there are; `None`
    /// if it is narrow enough, if that takes too many, and by ranks.
    pub(crate) fn more_for(&self, half_width: f64, level: f64) -> Option<u32> {
        match &self.pivot {
            Pivot::Student(student) => more_for(self.runs, |runs| student.reach_of(runs, level), half_width),
            Pivot::Days(days) => more_for(self.runs, |runs| days.reach_of(runs, level), half_width),
            Pivot::Ranks(..) => None,
        }
    }

    /// The interval that misses the true difference with a probability of `level` at most.
    pub fn interval_at(&self, level: f64) -> LogRange {
        let interval = match &self.pivot {
            Pivot::Student(student) => self.estimate.widened(student.reach(level)),
            Pivot::Days(days) => self.estimate.widened(days.reach(level)),
            Pivot::Ranks(ranks, worth) => {
                ranks.interval_at(worth.as_ref().map_or(level, |worth| worth.level(level)))
            }
        };
        interval.widened(self.margin)
    }

    /// Two-sided p of no difference: below a level exactly where the interval at that level excludes 0.
    pub fn p(&self) -> f64 {
        match &self.pivot {
            Pivot::Student(student) => student.p(self.margin),
            Pivot::Days(days) => days.p(self.margin),
            Pivot::Ranks(ranks, worth) => {
                let p = ranks.p(self.margin);
                worth.as_ref().map_or(p, |worth| worth.p(p))
            }
        }
    }
}

/// What is estimated, and of what: without the law of ranks, which takes long.
enum Estimated {
    Mean(Student),
    Days(DayMeans),
    Median(Ranked),
}

impl Estimated {
    fn of(pairing: &RunPairing, likeness: SeenLikeness) -> Option<(RunMethod, Self)> {
        if pairing.counts().contains(&0) {
            return None;
        }
        Some(match pairing {
            RunPairing::Blocks(pairs) | RunPairing::TurnedBlocks(pairs) | RunPairing::Days(pairs) => {
                let differences = differences(pairs);
                let Some(values) = known(&differences) else {
                    return Some((RunMethod::SignedRanks, Self::Median(Ranked::signed(&differences))));
                };
                let paired = |likeness| Self::Mean(Student::paired(Moments::of(&values, likeness)));
                let estimated = match pairing {
                    RunPairing::TurnedBlocks(_) => paired(Likeness::Turned),
                    RunPairing::Days(_) => Self::Days(DayMeans::of(&[values], likeness)),
                    _ => paired(Likeness::None),
                };
                (RunMethod::PairedT, estimated)
            }
            RunPairing::Apart([base, other]) | RunPairing::DaysApart([base, other]) => {
                let (Some(base), Some(other)) = (known(base), known(other)) else {
                    return Some((RunMethod::RankSums, Self::Median(Ranked::apart(base, other))));
                };
                let estimated = match pairing {
                    RunPairing::DaysApart(_) => Self::Days(DayMeans::of(&[base, other], likeness)),
                    _ => {
                        let sides = [&base, &other].map(|side| Moments::of(side, Likeness::None));
                        Self::Mean(Student::apart(&[sides]))
                    }
                };
                (RunMethod::ApartT, estimated)
            }
            RunPairing::Strata(strata) => match known_strata(strata) {
                Some(known) => (RunMethod::ApartT, Self::Mean(Student::apart(&known))),
                None => (RunMethod::RankSums, Self::Median(Ranked::within(strata))),
            },
        })
    }

    fn estimate(&self) -> LogRange {
        match self {
            Self::Mean(student) => LogRange::exactly(student.mean),
            Self::Days(days) => LogRange::exactly(days.mean()),
            Self::Median(ranked) => ranked.estimate(),
        }
    }
}

/// What is known of each side of each stratum, if all runs are known.
fn known_strata(strata: &[[Vec<LogRange>; 2]]) -> Option<Vec<[Moments; 2]>> {
    let of_side = |side: &[LogRange]| known(side).map(|values| Moments::of(&values, Likeness::None));
    strata.iter().map(|[base, other]| Some([of_side(base)?, of_side(other)?])).collect()
}

#[derive(Debug, Clone, PartialEq)]
enum Pivot {
    Student(Student),
    Days(DayMeans),
    Ranks(Ranks, Option<RankWorth>),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEVELS: [f64; 4] = [0.2, 0.05, 0.05 / 8.0, 0.001];

    /// Known values, and now and then one that is only bounded.
    fn any_range() -> impl Strategy<Value = LogRange> {
        prop_oneof![
            8 => (-2.0_f64..2.0).prop_map(LogRange::exactly),
            1 => (-2.0_f64..2.0).prop_map(LogRange::at_most),
            1 => (-2.0_f64..2.0).prop_map(LogRange::at_least),
        ]
    }

    fn any_pairing() -> impl Strategy<Value = RunPairing> {
        let side = |most: usize| prop::collection::vec(any_range(), 1..most);
        prop_oneof![
            prop::collection::vec([any_range(), any_range()], 1..14).prop_map(RunPairing::Blocks),
            prop::collection::vec([any_range(), any_range()], 1..14).prop_map(RunPairing::TurnedBlocks),
            [side(9), side(12)].prop_map(RunPairing::Apart),
            prop::collection::vec([side(5), side(5)], 1..4).prop_map(RunPairing::Strata),
            prop::collection::vec([any_range(), any_range()], 1..14).prop_map(RunPairing::Days),
            [side(9), side(12)].prop_map(RunPairing::DaysApart),
        ]
    }

    fn changed(pairing: &RunPairing, change: impl Fn(LogRange) -> LogRange) -> RunPairing {
        let of_sides = |sides: &[Vec<LogRange>; 2]| {
            sides.each_ref().map(|side| side.iter().map(|one| change(*one)).collect())
        };
        match pairing {
            RunPairing::Strata(strata) => RunPairing::Strata(strata.iter().map(of_sides).collect()),
            RunPairing::Days(days) => RunPairing::Days(days.iter().map(|day| day.map(&change)).collect()),
            RunPairing::DaysApart(sides) => RunPairing::DaysApart(of_sides(sides)),
            RunPairing::Blocks(blocks) => {
                RunPairing::Blocks(blocks.iter().map(|block| block.map(&change)).collect())
            }
            RunPairing::TurnedBlocks(blocks) => {
                RunPairing::TurnedBlocks(blocks.iter().map(|block| block.map(&change)).collect())
            }
            RunPairing::Apart(sides) => RunPairing::Apart(of_sides(sides)),
        }
    }

    fn swapped(pairing: &RunPairing) -> RunPairing {
        match pairing {
            RunPairing::Days(days) => {
                RunPairing::Days(days.iter().map(|[base, other]| [*other, *base]).collect())
            }
            RunPairing::DaysApart([base, other]) => RunPairing::DaysApart([other.clone(), base.clone()]),
            RunPairing::Blocks(blocks) => {
                RunPairing::Blocks(blocks.iter().map(|[base, other]| [*other, *base]).collect())
            }
            RunPairing::TurnedBlocks(blocks) => {
                RunPairing::TurnedBlocks(blocks.iter().map(|[base, other]| [*other, *base]).collect())
            }
            RunPairing::Apart([base, other]) => RunPairing::Apart([other.clone(), base.clone()]),
            RunPairing::Strata(strata) => {
                let turned = strata.iter().map(|[base, other]| [other.clone(), base.clone()]);
                RunPairing::Strata(turned.collect())
            }
        }
    }

    fn are_close(one: f64, other: f64) -> bool {
        one == other || (one - other).abs() < 1e-9
    }

    fn exactly(values: &[f64]) -> Vec<LogRange> {
        values.iter().map(|value| LogRange::exactly(*value)).collect()
    }

    #[test]
    fn one_run_a_side_has_a_difference_and_no_interval() {
        let pairings = [
            RunPairing::Blocks(vec![[LogRange::exactly(1.0), LogRange::exactly(1.5)]]),
            RunPairing::Apart([exactly(&[1.0]), exactly(&[1.5])]),
            RunPairing::Apart([exactly(&[1.0]), exactly(&[1.4, 1.5, 1.6])]),
        ];
        for pairing in pairings {
            let difference = RunDifference::of(&pairing, 0.0).unwrap();
            assert!(are_close(difference.estimate().known().unwrap(), 0.5));
            assert_eq!((difference.p(), difference.more_for(0.1, 0.05)), (1.0, None));
            assert_eq!(difference.interval_at(0.05), LogRange::UNKNOWN);
        }
        assert_eq!(RunDifference::of(&RunPairing::Blocks(vec![]), 0.0), None);
        assert_eq!(RunDifference::of(&RunPairing::Apart([exactly(&[1.0]), vec![]]), 0.0), None);
    }

    /// Nine of the one stratum and one of the other, and the reverse: what is pooled is ten times as slow, and nothing else differs.
    #[test]
    fn strata_are_compared_each_within_itself() {
        let strata = |factor: f64| {
            let of = |stratum: f64, runs: usize, side: f64| {
                (0..runs).map(|run| LogRange::exactly(stratum + side + 0.01 * (run % 3) as f64)).collect()
            };
            let stratum =
                |level: f64, [base, other]: [usize; 2]| [of(level, base, 0.0), of(level, other, factor)];
            vec![stratum(0.0, [9, 3]), stratum(-2.3, [3, 9])]
        };
        let difference = |factor| RunDifference::of(&RunPairing::Strata(strata(factor)), 0.0).unwrap();
        let equal = difference(0.0);
        assert!(equal.estimate().known().unwrap().abs() < 1e-9 && equal.interval_at(0.05).is_within(0.02));
        assert!(are_close(difference(0.1).estimate().known().unwrap(), 0.1));
        // By hand: each stratum weighs a half, its runs vary by (0.01² 2/3) n/(n - 1).
        let square = |runs: f64| 1e-4 * 2.0 / 3.0 / (runs - 1.0);
        let error = ((square(9.0) + square(3.0)) / 2.0).sqrt();
        let freedom = (2.0 * (square(9.0) + square(3.0))).powi(2)
            / (2.0 * (square(9.0).powi(2) / 8.0 + square(3.0).powi(2) / 2.0));
        let reach = crate::statistics::student::student_two_sided(freedom, 0.95) * error;
        assert!(are_close(equal.interval_at(0.05).high(), reach), "{reach}");
        // Of one stratum it is what it is without.
        let one = strata(0.1).remove(0);
        let [alone, within] = [RunPairing::Apart(one.clone()), RunPairing::Strata(vec![one])]
            .map(|pairing| RunDifference::of(&pairing, 0.0));
        assert_eq!(alone, within);
    }

    /// Of a hang in one stratum the other tells.
    #[test]
    fn ranks_are_those_within_strata() {
        let runs = |from: f64, count: usize| -> Vec<LogRange> {
            (0..count).map(|run| LogRange::exactly(from - 0.01 * run as f64)).collect()
        };
        let mut slower = runs(-0.5, 4);
        slower[3] = LogRange::at_most(-1.0);
        let pairing = RunPairing::Strata(vec![[runs(0.0, 4), slower], [runs(-5.0, 4), runs(-5.5, 4)]]);
        let difference = RunDifference::of(&pairing, 0.0).unwrap();
        assert_eq!(difference.method(), RunMethod::RankSums);
        // All are in one order: 2 / C(8, 4)².
        assert!(are_close(difference.p(), 2.0 / 4900.0), "{}", difference.p());
        let interval = difference.interval_at(0.05);
        assert!(interval.high() < -0.45 && interval.low() < -0.5, "{interval:?}");
    }

    /// What does not vary at all differs if it differs by more than the steps of the clock, and by more than rounding.
    #[test]
    fn steps_of_the_clock_are_in_the_interval_of_what_does_not_vary() {
        let apart = |other: f64| RunPairing::Apart([exactly(&[0.1; 4]), exactly(&[other; 7])]);
        let of = |pairing: &RunPairing, margin| {
            let difference = RunDifference::of(pairing, margin).unwrap();
            (difference.p().round(), difference.interval_at(0.05).excludes_zero())
        };
        assert_eq!(of(&apart(0.1 + 1e-16), 0.0), (1.0, false));
        assert_eq!(of(&apart(0.2), 0.0), (0.0, true));
        assert_eq!(of(&apart(0.2), 0.11), (1.0, false));
        let blocks = RunPairing::Blocks(vec![[LogRange::exactly(0.3), LogRange::exactly(0.1)]; 5]);
        assert_eq!(of(&blocks, 0.19), (0.0, true));
        assert_eq!(of(&blocks, 0.21), (1.0, false));
    }

    #[test]
    fn days_that_resemble_the_one_before_are_worth_fewer() {
        let reach = |pairing: RunPairing| {
            let interval = RunDifference::of(&pairing, 0.0).unwrap().interval_at(0.05);
            (interval.high() - interval.low()) / 2.0
        };
        let pairs =
            |days: &[f64]| days.iter().map(|day| [LogRange::exactly(0.0), LogRange::exactly(*day)]).collect();
        let turned: Vec<f64> = (0..24).map(|day| f64::from(day % 2)).collect();
        let slow: Vec<f64> = (0..24).map(|day| f64::from(day / 3 % 2)).collect();
        let by_blocks = reach(RunPairing::Blocks(pairs(&slow)));
        assert!(are_close(reach(RunPairing::Blocks(pairs(&turned))), by_blocks));
        assert!(are_close(reach(RunPairing::Days(pairs(&turned))), by_blocks));
        // By hand φ is 9/24 + 1.8/√24 = 0.742, so the error is 2.71 times as great, and of 6.7 degrees instead of 23.
        let ratio = reach(RunPairing::Days(pairs(&slow))) / by_blocks;
        assert!((3.12..3.16).contains(&ratio), "{ratio}");
        let apart = |days: &[f64]| [exactly(days), exactly(days)];
        let ratio = reach(RunPairing::DaysApart(apart(&slow))) / reach(RunPairing::Apart(apart(&slow)));
        assert!((2.24..2.27).contains(&ratio), "{ratio}");
        assert!(are_close(
            reach(RunPairing::DaysApart(apart(&turned))),
            reach(RunPairing::Apart(apart(&turned)))
        ));
    }

    /// Thirty days that resemble each other as days do, and the same of which one hung: it tells less than the others, not more.
    #[test]
    fn a_day_that_hung_makes_no_other_surer() {
        let luck = |day: usize| [0.0, 0.2, 0.35, 0.25, 0.1, -0.1, -0.3, -0.25, -0.15, -0.05][day % 10] - 0.12;
        let days = |hung: Option<usize>| -> Vec<LogRange> {
            let day = |day| match Some(day) == hung {
                true => LogRange::at_most(-2.0),
                false => LogRange::exactly(luck(day)),
            };
            (0..30).map(day).collect()
        };
        let paired = |hung| {
            RunPairing::Days(days(hung).into_iter().map(|day| [LogRange::exactly(0.0), day]).collect())
        };
        let apart = |hung| RunPairing::DaysApart([days(None), days(hung)]);
        for hung in [0, 9, 22] {
            for (one, other) in [(paired(None), paired(Some(hung))), (apart(None), apart(Some(hung)))] {
                let [known, bounded] = [one, other].map(|pairing| RunDifference::of(&pairing, 0.0).unwrap());
                assert_eq!(bounded.interval_at(0.05).low(), f64::NEG_INFINITY);
                for level in LEVELS {
                    let above = |one: &RunDifference| one.interval_at(level).high() - one.estimate().high();
                    assert!(
                        above(&bounded) >= 0.97 * above(&known),
                        "{hung}: {} and {}",
                        above(&bounded),
                        above(&known)
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn p_is_below_a_level_where_the_interval_excludes_zero(pairing in any_pairing(), margin in 0.0_f64..0.5) {
            let difference = RunDifference::of(&pairing, margin).unwrap();
            for level in LEVELS {
                // Rounding decides where both are equal.
                if (difference.p() / level - 1.0).abs() > 1e-9 {
                    prop_assert_eq!(difference.p() < level, difference.interval_at(level).excludes_zero());
                }
            }
        }

        #[test]
        fn swapping_the_sides_mirrors_everything(pairing in any_pairing()) {
            let one = RunDifference::of(&pairing, 0.01).unwrap();
            let other = RunDifference::of(&swapped(&pairing), 0.01).unwrap();
            let are_mirrored = |one: LogRange, other: LogRange| {
                are_close(one.low(), -other.high()) && are_close(one.high(), -other.low())
            };
            prop_assert!(are_close(one.p(), other.p()) && one.method() == other.method());
            prop_assert!(are_mirrored(one.estimate(), other.estimate()));
            for level in LEVELS {
                prop_assert!(are_mirrored(one.interval_at(level), other.interval_at(level)));
            }
        }

        #[test]
        fn the_unit_changes_nothing(pairing in any_pairing(), unit in -20.0_f64..20.0) {
            let scaled = changed(&pairing, |one| LogRange::between(one.low() + unit, one.high() + unit));
            let (one, other) = (RunDifference::of(&pairing, 0.0).unwrap(), RunDifference::of(&scaled, 0.0).unwrap());
            for level in LEVELS {
                let (one, other) = (one.interval_at(level), other.interval_at(level));
                prop_assert!(are_close(one.low(), other.low()) && are_close(one.high(), other.high()));
            }
        }

        #[test]
        fn bounds_only_widen(pairing in any_pairing(), slack in prop::collection::vec(0.0_f64..1.0, 2)) {
            let wider = changed(&pairing, |one| LogRange::between(one.low() - slack[0] - 1e-6, one.high() + slack[1]));
            // A hair, so that what is known goes by ranks too.
            let ranked = changed(&pairing, |one| LogRange::between(one.low() - 1e-6, one.high()));
            // Of days that are as much alike: whether they look so depends on the bounds.
            let likeness = likeness_of(&ranked);
            let [one, wider] = [ranked, wider].map(|pairing| RunDifference::if_alike(&pairing, likeness, 0.0).unwrap());
            prop_assert!(wider.p() >= one.p());
            for level in LEVELS {
                let (one, wider) = (one.interval_at(level), wider.interval_at(level));
                prop_assert!(wider.low() <= one.low() && wider.high() >= one.high());
            }
        }

        #[test]
        fn the_estimate_is_the_difference_of_the_middles(pairing in any_pairing()) {
            let [base, other] = pairing.middles();
            if let (Some(base), Some(other)) = (base.known(), other.known()) {
                let estimate = RunDifference::of(&pairing, 0.0).unwrap().estimate();
                prop_assert!(are_close(estimate.low(), other - base) && are_close(estimate.high(), other - base));
            }
        }

        #[test]
        fn the_estimate_lies_in_its_interval(pairing in any_pairing()) {
            let difference = RunDifference::of(&pairing, 0.0).unwrap();
            let estimate = difference.estimate();
            for level in LEVELS {
                let interval = difference.interval_at(level);
                prop_assert!(interval.low() <= estimate.low() && interval.high() >= estimate.high());
            }
        }
    }
}
