//! When did a benchmark change that is run every night?
//!
//! A night is what lies within half a day of its first run; its value is the middle of its runs, on a logarithmic scale. Where the same was measured in the
//! host's memory in every one of these nights, and it is less that makes one night more like the next, it is less that: a slow machine is no slow storage.
//! Runs of other options, or with other labels, are another benchmark, and compared with their own kind only. Changes are sought as a short sequence lets them
//! ([`crate::statistics::change::few_values`]), then in either part; a series is one of a table, all of which together are wrong in one of twenty cases.
//!
//! A night of which only a bound is known, since runs of it hung or failed, is worse than all others: twice as far below the least rate of them as that is below
//! the greatest, or above the greatest duration. What is told of it is no more than that: at most its bound, and the least that is known of others.
//!
//! Limits: three nights make a level at least; a level that comes back is found only where either change is by itself; what stays three nights or more in a load
//! that wanders for weeks may be told (docs/calibration.md).

use std::ops::Range;

use iolag_model::{Nanoseconds, WallTime};

use super::change_point::{ChangePoint, ChangeShape, ChangeStrength};
use super::drift::drift_of;
use super::levels::{LevelRatio, share_greater};
use super::runs::Runs;
use super::search::Changes;
use crate::history::series::timed_values::TimedValues;
use crate::statistics::change::few_values::{FewExplained, FewTerm, SIDE_LEAST, explain_few};
use crate::statistics::knowledge::Knowledge;
use crate::statistics::multiple_testing::SIGNIFICANCE;
use crate::statistics::student::{CONFIDENCE, student_two_sided};

/// What begins so long after the first run of a night is another one.
const NIGHT: Nanoseconds = Nanoseconds::from_seconds(12 * 3600);
/// How long before the first run of a night the host's memory may have been measured for it.
const BEFORE_NIGHT: Nanoseconds = Nanoseconds(NIGHT.0 / 2);

/// A night of which only a bound is known is so many times farther from the nearest known one than these are from each other: enough for three that come last of
/// ten to be told, and little enough for three at random among them to be taken for a change in 2 of 100 records.
const BOUND_APART: f64 = 2.0;

/// Smallest change that is told: what compares runs calls less the same.
const MAGNITUDE_LEAST: f64 = 0.05;

/// Changes between the nights of a benchmark, all runs of which were at these `moments`, beside the same in the host's memory, of which there may be several
/// `controls`; at most one of twenty tables of so many benchmarks (`family`) has a false one.
pub fn find_changes_of_nights(
    runs: &Runs,
    controls: &[&Runs],
    moments: &[WallTime],
    family: usize,
) -> Changes {
    let of_kind = |(kind, runs)| Nights::of(runs, Runs::like(controls, kind));
    let kinds: Vec<Nights> = runs.0.iter().filter_map(of_kind).collect();
    let could_change = kinds.iter().filter(|nights| nights.levels.len() >= 2 * SIDE_LEAST).count();
    let family = (family.max(1) * could_change.max(1)) as f64;
    let mut changes = Changes::default();
    for nights in &kinds {
        nights.search(0, nights.levels.len(), family, &mut changes);
    }
    for told in [&mut changes.steps, &mut changes.small] {
        told.iter_mut().for_each(|change| {
            change.place = moments.partition_point(|moment| *moment < change.first_after);
        });
        told.sort_by_key(|change| change.place);
    }
    changes
}

/// Nights in the order of time.
struct Nights {
    /// First and last run of each.
    moments: Vec<[WallTime; 2]>,
    /// Logarithms; of a night of which only a bound is known how far it counts.
    levels: Vec<f64>,
    /// The same as it is told: there it is a bound.
    told: Vec<f64>,
    knowledge: Vec<Knowledge>,
}

impl Nights {
    /// Less what the first of the controls that was measured in all of them says. `None` if a value has no logarithm, as a rate of nothing has none, or
    /// no night is known.
    fn of<'a>(runs: &TimedValues, mut controls: impl Iterator<Item = &'a TimedValues>) -> Option<Self> {
        let (ends, moments) = (ends_of(runs)?, runs.moments());
        let (mut nights, mut levels, mut knowledge) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        while first < moments.len() {
            let length = moments[first..].partition_point(|moment| *moment < moments[first].after(NIGHT));
            let (level, is) = middle_of(&ends[first..first + length], runs.knowledge())?;
            nights.push([moments[first], moments[first + length - 1]]);
            levels.push(level);
            knowledge.push(is);
            first += length;
        }
        let mut nights = Self { moments: nights, told: levels.clone(), levels, knowledge };
        if let Some(control) = controls.find_map(|control| nights.of_control(control)) {
            nights.take_away(&control);
        }
        nights.place_bounds()?;
        Some(nights)
    }

    /// What was measured in the host's memory in each night; `None` where it was not in all.
    fn of_control(&self, control: &TimedValues) -> Option<Vec<f64>> {
        let ends = ends_of(control)?;
        let until = |moment: WallTime| control.moments().partition_point(|other| *other < moment);
        let of_night = |[first, _]: &[WallTime; 2]| {
            let runs = until(first.before(BEFORE_NIGHT))..until(first.after(NIGHT));
            let (level, is) = middle_of(&ends[runs], control.knowledge())?;
            (is == Knowledge::Exactly).then_some(level)
        };
        self.moments.iter().map(of_night).collect()
    }

    /// Takes away what the host had in common with them, if it explains how nights differ from the next: levels stay what they are on average.
    fn take_away(&mut self, control: &[f64]) {
        let mean = control.iter().sum::<f64>() / control.len() as f64;
        let less: Vec<f64> =
            self.levels.iter().zip(control).map(|(level, control)| level - (control - mean)).collect();
        let unlike = |levels: &[f64]| {
            let known: Vec<f64> = self.known_of(levels).collect();
            known.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f64>()
        };
        if unlike(&less) < unlike(&self.levels) {
            self.levels = less;
        }
    }

    /// Those of them that are no bounds.
    fn known_of<'a>(&'a self, levels: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let is_known = |(_, is): &(&f64, &Knowledge)| **is == Knowledge::Exactly;
        levels.iter().zip(&self.knowledge).filter(is_known).map(|(level, _)| *level)
    }

    /// Lets bounds count as worse than all that is known; `None` if nothing is.
    fn place_bounds(&mut self) -> Option<()> {
        let least = self.known_of(&self.levels).min_by(f64::total_cmp)?;
        let greatest = self.known_of(&self.levels).max_by(f64::total_cmp)?;
        // Where nights are alike, a change that would be told.
        let apart = (BOUND_APART * (greatest - least)).max(MAGNITUDE_LEAST.ln_1p());
        for (level, (told, is)) in self.levels.iter_mut().zip(self.told.iter_mut().zip(&self.knowledge)) {
            let bound = *level;
            (*level, *told) = match is {
                Knowledge::Exactly => (bound, bound),
                Knowledge::AtMost if bound > f64::NEG_INFINITY => {
                    (bound.min(least - apart), bound.min(least))
                }
                Knowledge::AtLeast if bound < f64::INFINITY => {
                    (bound.max(greatest + apart), bound.max(greatest))
                }
                Knowledge::AtMost => (least - apart, least),
                Knowledge::AtLeast => (greatest + apart, greatest),
            };
        }
        Some(())
    }

    /// The greatest change of the nights from `first` up to, not including, `end`, and those before and after it.
    fn search(&self, first: usize, end: usize, family: f64, changes: &mut Changes) {
        let levels = &self.levels[first..end];
        let Some(found) = explain_few(levels) else { return };
        let p = found.p * family;
        if p > SIGNIFICANCE {
            return;
        }
        match found.term {
            FewTerm::Step(place) => {
                let change = ChangePoint { p, ..self.change([first, first + place, end], &found) };
                let is_great = |ratio: f64| ratio.ln().abs() >= MAGNITUDE_LEAST.ln_1p();
                let is_bound = change.ratio.value_is != Knowledge::Exactly;
                let is_told = change.ratio.value.is_some_and(|ratio| is_bound || is_great(ratio));
                if is_told { &mut changes.steps } else { &mut changes.small }.push(change);
                self.search(first, first + place, family, changes);
                self.search(first + place, end, family, changes);
            }
            FewTerm::Line if levels.len() == self.levels.len() => {
                let begins: Vec<WallTime> = self.moments.iter().map(|moments| moments[0]).collect();
                let told: Vec<f64> = self.told.iter().map(|level| level.exp()).collect();
                let values = TimedValues::known(&begins, &told);
                changes.drift = drift_of(&values, p, MAGNITUDE_LEAST).or(changes.drift);
            }
            FewTerm::Line => {}
        }
    }

    /// The night than which this share of these are no greater, as it is told.
    fn at_share(&self, nights: Range<usize>, share: f64) -> (f64, Knowledge) {
        let mut ordered: Vec<usize> = nights.collect();
        ordered.sort_by(|one, other| self.levels[*one].total_cmp(&self.levels[*other]));
        let rank = ((share * ordered.len() as f64).ceil() as usize).clamp(1, ordered.len());
        let night = ordered[rank - 1];
        (self.told[night].exp(), self.knowledge[night])
    }

    fn change(&self, [first, place, end]: [usize; 3], found: &FewExplained) -> ChangePoint {
        let (before, after) = (first..place, place..end);
        let medians = [before.clone(), after.clone()].map(|side| self.at_share(side, 0.5));
        let [(median_before, median_before_is), (median_after, median_after_is)] = medians;
        let all_known = self.knowledge[first..end].iter().all(|is| *is == Knowledge::Exactly);
        ChangePoint {
            last_before: self.moments[place - 1][1],
            first_after: self.moments[place][0],
            began: None,
            place,
            count_before: before.len() as u64,
            count_after: after.len() as u64,
            median_before,
            median_before_is,
            median_after,
            median_after_is,
            p95_after: self.at_share(after.clone(), 0.95).0,
            ratio: match all_known {
                true => self.ratio([first, place, end], found),
                false => LevelRatio::open(medians),
            },
            greater_after: share_greater(&self.levels[before.clone()], &self.levels[after.clone()]),
            p: found.p,
            shape: ChangeShape::Step,
            strength: ChangeStrength::of(before.len().min(after.len()) as f64),
        }
    }

    fn ratio(&self, [first, place, end]: [usize; 3], found: &FewExplained) -> LevelRatio {
        let apart = found.apart(&self.levels[first..end], place - first);
        let reach = student_two_sided((end - first) as f64 - 2.0, CONFIDENCE) * apart.error;
        LevelRatio {
            value: Some(apart.size.exp()),
            value_is: Knowledge::Exactly,
            low: Some((apart.size - reach).exp()),
            high: Some((apart.size + reach).exp()),
        }
    }
}

/// Logarithms of the least and the most that each run may have come to; `None` if a known value has none.
fn ends_of(runs: &TimedValues) -> Option<Vec<[f64; 2]>> {
    let ends = |(value, is): (&f64, &Knowledge)| match is {
        Knowledge::Exactly => (*value > 0.0).then(|| [value.ln(); 2]),
        Knowledge::AtMost => Some([f64::NEG_INFINITY, value.ln()]),
        Knowledge::AtLeast => Some([value.ln(), f64::INFINITY]),
    };
    runs.values().iter().zip(runs.knowledge()).map(ends).collect()
}

/// The middle of the runs of a night, and how much is known of it: what has only a bound is worse than what is known. How bounds are is told by all runs.
fn middle_of(ends: &[[f64; 2]], all: &[Knowledge]) -> Option<(f64, Knowledge)> {
    let end = |which: usize| middle(&ends.iter().map(|ends| ends[which]).collect::<Vec<f64>>());
    let (low, high) = (end(0)?, end(1)?);
    Some(match all.contains(&Knowledge::AtLeast) {
        true if high == f64::INFINITY => (low, Knowledge::AtLeast),
        true => (high, Knowledge::Exactly),
        false if low == f64::NEG_INFINITY => (high, Knowledge::AtMost),
        false => (low, Knowledge::Exactly),
    })
}

/// The median, between two of an even number.
fn middle(values: &[f64]) -> Option<f64> {
    let mut ordered = values.to_vec();
    ordered.sort_unstable_by(f64::total_cmp);
    let last = ordered.len().checked_sub(1)?;
    Some((ordered[last / 2] + ordered[last.div_ceil(2)]) / 2.0)
}

#[cfg(test)]
mod tests {
    use iolag_model::Random;

    use super::super::options::ChangeOptions;
    use super::super::runs::RunKind;
    use super::super::search::find_changes;
    use super::*;
    use crate::history::calendar::local_time::LocalTime;

    const RUNS: i64 = 4;
    const DAY_SECONDS: i64 = 86_400;
    /// Of November 2026 the first, at ten past two.
    const FIRST: i64 = 1_793_498_400 + 600;

    /// The runs of a night, ten minutes apart.
    fn moment(night: i64, run: i64) -> WallTime {
        WallTime::from_seconds(FIRST + night * DAY_SECONDS + run * 600)
    }

    /// Rates of nights that differ by 3 %, of runs that differ by 2 %; what a night has besides is `of_night`.
    fn rates(nights: i64, seed: u64, of_night: impl Fn(i64) -> f64) -> TimedValues {
        let mut noise = Random::new(seed);
        let (mut moments, mut values) = (Vec::new(), Vec::new());
        for night in 0..nights {
            let luck = 0.03 * noise.normal();
            for run in 0..RUNS {
                moments.push(moment(night, run));
                values.push(500.0 * (of_night(night) + luck + 0.02 * noise.normal()).exp());
            }
        }
        TimedValues::known(&moments, &values)
    }

    fn runs(values: TimedValues) -> Runs {
        Runs([(kind("8f", None), values)].into())
    }

    fn kind(options: &str, client: Option<&str>) -> RunKind {
        let labels = client.map(|client| ("client".to_owned(), client.to_owned()));
        RunKind { options: options.to_owned(), labels: labels.into_iter().collect() }
    }

    fn found(values: &TimedValues, control: Option<TimedValues>) -> Changes {
        found_beside(values, control.into_iter().collect())
    }

    fn found_beside(values: &TimedValues, controls: Vec<TimedValues>) -> Changes {
        let controls: Vec<Runs> = controls.into_iter().map(runs).collect();
        let controls: Vec<&Runs> = controls.iter().collect();
        find_changes_of_nights(&runs(values.clone()), &controls, values.moments(), 4)
    }

    /// A rate that is 30 % less from a night on.
    fn less_from(night: i64) -> impl Fn(i64) -> f64 {
        move |of| if of < night { 0.0 } else { 0.7_f64.ln() }
    }

    #[test]
    fn a_step_of_30_percent_is_dated_in_ten_nights() {
        for (seed, place) in [(1, 5), (2, 4), (3, 6), (4, 5), (5, 3), (6, 7)] {
            let values = rates(10, seed, less_from(place));
            let changes = found(&values, None);
            let [change] = changes.steps[..] else { panic!("{seed}: {changes:?}") };
            assert_eq!(change.last_before, moment(place - 1, RUNS - 1), "{seed}");
            assert_eq!(change.first_after, moment(place, 0), "{seed}");
            assert_eq!(change.place as i64, place * RUNS);
            assert_eq!((change.count_before as i64, change.count_after as i64), (place, 10 - place));
            let ratio = change.ratio;
            assert!(ratio.low.unwrap() < 0.7 && 0.7 < ratio.high.unwrap(), "{seed}: {ratio:?}");
            assert!(change.p <= SIGNIFICANCE && change.greater_after < 0.5);
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_is_nor_in_too_few_nights() {
        for seed in 10..40 {
            assert_eq!(found(&rates(10, seed, |_| 0.0), None), Changes::default(), "{seed}");
        }
        for nights in 0..6 {
            assert_eq!(found(&rates(nights, 1, less_from(3)), None), Changes::default());
        }
        let nothing = TimedValues::known(&[moment(0, 0); 20], &[0.0; 20]);
        assert_eq!(found(&nothing, None), Changes::default());
    }

    /// What is built for thousands of values says nothing of ten, however far apart they are. (Of their 40 runs it would: it takes them for 40 values.)
    #[test]
    fn the_search_of_attempts_finds_no_step_in_ten_values() {
        for seed in 1..6 {
            let runs = rates(10, seed, less_from(5));
            let first = |values: &[f64]| values.iter().copied().step_by(RUNS as usize).collect::<Vec<_>>();
            let moments: Vec<WallTime> = runs.moments().iter().copied().step_by(RUNS as usize).collect();
            let nights = TimedValues::known(&moments, &first(runs.values()));
            let changes = find_changes(&nights, &LocalTime::UTC, &ChangeOptions::default());
            assert!(changes.steps.is_empty(), "{seed}: {changes:?}");
        }
    }

    #[test]
    fn what_the_host_has_in_common_with_the_storage_is_no_change_of_storage() {
        for seed in 1..6 {
            let control = || Some(rates(10, seed + 100, less_from(5)));
            assert!(found(&rates(10, seed, less_from(5)), control()).steps.is_empty(), "{seed}: both");
            let storage = found(&rates(10, seed, less_from(5)), Some(rates(10, seed + 100, |_| 0.0)));
            assert_eq!(storage.steps.len(), 1, "{seed}: storage alone");
            assert!(found(&rates(10, seed, |_| 0.0), control()).steps.is_empty(), "{seed}: memory alone");
        }
    }

    #[test]
    fn a_night_that_the_memory_was_not_measured_in_is_judged_without_it() {
        let whole = rates(10, 2, less_from(5));
        let control = rates(9, 102, less_from(5));
        assert_eq!(found(&whole, Some(control)).steps.len(), 1);
    }

    #[test]
    fn of_several_controls_that_of_all_nights_counts() {
        let both = rates(10, 2, less_from(5));
        let [short, whole] = [9, 10].map(|nights| rates(nights, 102, less_from(5)));
        for controls in [vec![short.clone(), whole.clone()], vec![whole, short]] {
            assert!(found_beside(&both, controls).steps.is_empty());
        }
    }

    #[test]
    fn other_options_and_other_labels_are_another_benchmark() {
        let values = rates(20, 7, less_from(10));
        for later in [kind("90", Some("lnet")), kind("8f", Some("nfs")), kind("8f", None)] {
            let parts = [(kind("8f", Some("lnet")), values.part(0, 40)), (later, values.part(40, 80))];
            let changes = find_changes_of_nights(&Runs(parts.into()), &[], values.moments(), 4);
            assert_eq!(changes, Changes::default());
        }
        assert_eq!(found(&values, None).steps.len(), 1);
    }

    /// These, but of runs in such nights only a bound is known.
    fn bounded(values: &TimedValues, bound: f64, is: Knowledge, is_in: impl Fn(i64) -> bool) -> TimedValues {
        let night = |at: WallTime| at.since(moment(0, 0)).0 as i64 / (DAY_SECONDS * 1_000_000_000);
        let rows = values.moments().iter().zip(values.values());
        TimedValues::bounded(rows.map(|(at, value)| match is_in(night(*at)) {
            true => (*at, bound, is),
            false => (*at, *value, Knowledge::Exactly),
        }))
    }

    #[test]
    fn nights_that_hang_or_fail_are_a_change_for_the_worse() {
        use Knowledge::{AtLeast, AtMost};
        // As good as ever until it hung, and nothing at all.
        for (bound, is) in [(500.0, AtMost), (f64::INFINITY, AtMost), (500.0, AtLeast), (0.0, AtLeast)] {
            for seed in 1..=6 {
                let values = bounded(&rates(10, seed, |_| 0.0), bound, is, |night| night >= 5);
                let changes = found(&values, None);
                let [change] = changes.steps[..] else { panic!("{bound} {is:?} {seed}: {changes:?}") };
                assert_eq!((change.last_before, change.first_after), (moment(4, RUNS - 1), moment(5, 0)));
                assert_eq!((change.median_before_is, change.median_after_is), (Knowledge::Exactly, is));
                assert_eq!((change.ratio.value_is, change.ratio.low, change.ratio.high), (is, None, None));
                let ratio = change.ratio.value.unwrap();
                match is {
                    AtMost => assert!(ratio <= 1.0 && change.greater_after == 0.0, "{change:?}"),
                    _ => assert!(ratio >= 1.0 && change.greater_after == 1.0, "{change:?}"),
                }
            }
        }
    }

    #[test]
    fn a_hang_now_and_then_is_no_change_and_nights_of_nothing_else_are_none() {
        for seed in 1..=6 {
            let values = rates(10, seed, |_| 0.0);
            for is_in in [|night: i64| night == 9, |night| night % 3 == 1, |_| true] {
                let values = bounded(&values, 500.0, Knowledge::AtMost, is_in);
                assert_eq!(found(&values, None), Changes::default(), "{seed}");
            }
        }
    }

    #[test]
    fn the_middle_of_a_night_is_a_bound_if_half_of_its_runs_hung() {
        let moments = [0, 1, 2].map(WallTime::from_seconds);
        let middle = |values: [f64; 3], is: [Knowledge; 3]| {
            let rows = moments.iter().zip(values).zip(is).map(|((at, value), is)| (*at, value, is));
            let runs = TimedValues::bounded(rows);
            let (level, is) = middle_of(&ends_of(&runs).unwrap(), runs.knowledge()).unwrap();
            (level.exp().round(), is)
        };
        use Knowledge::{AtLeast, AtMost, Exactly};
        assert_eq!(middle([9.0, 5.0, 4.0], [AtMost, Exactly, Exactly]), (4.0, Exactly));
        assert_eq!(middle([9.0, 5.0, 7.0], [AtMost, Exactly, AtMost]), (7.0, AtMost));
        assert_eq!(middle([2.0, 5.0, 7.0], [AtLeast, Exactly, Exactly]), (7.0, Exactly));
        assert_eq!(middle([2.0, 5.0, 3.0], [AtLeast, Exactly, AtLeast]), (3.0, AtLeast));
    }

    #[test]
    fn a_second_change_is_found_after_the_first() {
        let course = |night| match night {
            0..10 => 0.0,
            10..20 => 0.7_f64.ln(),
            _ => 0.5_f64.ln(),
        };
        let steps = found(&rates(30, 3, course), None).steps;
        let places: Vec<i64> = steps.iter().map(|step| step.place as i64 / RUNS).collect();
        assert_eq!(places, [10, 20], "{steps:?}");
    }

    #[test]
    fn what_becomes_less_little_by_little_drifts() {
        let changes = found(&rates(60, 5, |night| -0.01 * night as f64), None);
        assert!(changes.steps.is_empty(), "{changes:?}");
        let ratio = changes.drift.unwrap().ratio.value.unwrap();
        assert!((0.5..0.75).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_night_is_half_a_day_from_its_first_run() {
        let hours = [0, 1, 11, 12, 13, 23, 24, 48];
        let moments = hours.map(|hour| WallTime::from_seconds(hour * 3600));
        let values = TimedValues::known(&moments, &[1.0, 2.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        let nights = Nights::of(&values, std::iter::empty()).unwrap();
        let first: Vec<i64> = nights.moments.iter().map(|[first, _]| first.0 / 3_600_000_000_000).collect();
        assert_eq!(first, [0, 12, 24, 48]);
        assert!((nights.levels[0].exp() - 2.0).abs() < 1e-12);
    }
}
