//! When did a series change for good?
//!
//! Changes are searched in robust scores without the daily rhythm ([`super::record`]) by the likelihood ratio of steps in noise whose memory is fitted
//! ([`crate::statistics::change::likelihood_ratio`]). Then places become words ([`super::selection`]): what comes back within a day, or lasts no longer than a fiftieth of the
//! record, is an episode and no change; what took its time is told with its begin; a change must be at least 10 % of the median, or of a quartile or the p90 of clearly shifted values, and the interval of that factor,
//! or how often values after are greater, must tell in which direction; what a straight line explains as well is a drift and has no date.
//!
//! Limits: nothing is told of what the time of the day (in less than four days) or of the week (in less than eight weeks) explains as well, nor of load that
//! wanders on all time scales; docs/statistics.md says what can be seen.

use super::change_point::{ChangePoint, ChangeShape, NotTold};
use super::options::ChangeOptions;
use serde::{Deserialize, Serialize};

use super::drift::{Drift, drift_of};
use super::record::Record;
use super::selection::{Magnitude, Telling};
use crate::history::calendar::local_time::LocalTime;
use crate::history::series::timed_values::TimedValues;

/// How a series changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Changes {
    /// Changes of level in the order of time.
    pub steps: Vec<ChangePoint>,
    /// Changes that are too small to be told, or of which not even the direction is known, in the order of time. What is asked of dependence is asked between them, too: taken as one,
    /// both levels look like long memory.
    pub small: Vec<ChangePoint>,
    /// A slow change beside or instead of them.
    pub drift: Option<Drift>,
    /// What is no change.
    pub not_told: Vec<NotTold>,
}

impl Changes {
    /// All changes of level, told or not, in the order of time.
    pub fn levels(&self) -> Vec<ChangePoint> {
        let mut levels = [self.steps.as_slice(), &self.small].concat();
        levels.sort_by_key(|change| change.place);
        levels
    }
}

/// Looks for changes; there are none where values have no logarithm.
pub fn find_changes(values: &TimedValues, local_time: &LocalTime, options: &ChangeOptions) -> Changes {
    let Some(record) = Record::of(values, local_time) else { return Changes::default() };
    let Some(found) = record.find(options.significance, options.seed) else { return Changes::default() };
    let mut telling = Telling::of(values, record, options);
    let levels = telling.what_stands(telling.with_ends(found.bounds.clone()), Magnitude::Any);
    let bounds = telling.what_stands(levels.clone(), Magnitude::Told);
    let is_drift = bounds.is_empty() && found.p_of_line <= options.significance;
    let drift = if is_drift { drift_of(values, found.p_of_line, options.magnitude_min) } else { None };
    let steps: Vec<ChangePoint> = (0..bounds.len()).map(|index| telling.describe(&bounds, index)).collect();
    let is_told = |index: &usize| bounds.iter().any(|bound| bound.place == levels[*index].place);
    let small: Vec<ChangePoint> = (0..levels.len())
        .filter(|index| !is_told(index))
        .map(|index| telling.describe(&levels, index))
        .collect();
    let mut not_told = telling.not_told(&found);
    not_told.extend(small.iter().map(|change| NotTold {
        shape: ChangeShape::SmallStep,
        begin: Some(change.first_after),
        end: None,
    }));
    Changes { steps, small, drift, not_told }
}

#[cfg(test)]
mod tests {
    use super::super::change_point::{Segment, segments_of};
    use super::super::levels::LevelRatio;
    use super::super::levels::Levels;
    use super::*;
    use crate::history::series::timed_values::Quantity;
    use iolag_fixtures::made_up_series::{columns_of, series_of};
    use iolag_model::Outcome;
    use iolag_model::Random;
    use iolag_model::WallTime;

    /// A week begins with it: a change at a weekend's begin is taken for one.
    const MONDAY: i64 = 4 * 86_400;

    fn series(logarithms: &[f64]) -> TimedValues {
        let moments: Vec<WallTime> =
            (0..logarithms.len()).map(|slot| WallTime::from_seconds(MONDAY + slot as i64 * 900)).collect();
        let values: Vec<f64> = logarithms.iter().map(|value| value.exp()).collect();
        TimedValues::known(&moments, &values)
    }

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut noise = Random::new(seed);
        (0..n).map(|_| 0.5 * noise.normal()).collect()
    }

    fn found(logarithms: &[f64]) -> Vec<ChangePoint> {
        find_changes(&series(logarithms), &LocalTime::UTC, &ChangeOptions::default()).steps
    }

    #[test]
    fn a_small_change_is_not_told_and_parts_levels_all_the_same() {
        let scatter = noise(960, 8);
        // By 8 % where values scatter by 2 %.
        let logarithms: Vec<f64> =
            (0..960).map(|slot| 0.04 * scatter[slot] + if slot < 480 { 0.0 } else { 0.077 }).collect();
        let found = find_changes(&series(&logarithms), &LocalTime::UTC, &ChangeOptions::default());
        assert_eq!((found.steps.len(), found.small.len(), found.levels().len()), (0, 1, 1), "{found:?}");
        assert!(found.small[0].place.abs_diff(480) <= 3, "{found:?}");
        assert_eq!(found.not_told[0].shape, ChangeShape::SmallStep);
    }

    /// Three weeks of noise whose logarithms rise by that of four from the first place to the second.
    fn risen(first: usize, end: usize) -> Vec<ChangePoint> {
        let share =
            |slot: usize| (slot.saturating_sub(first) as f64 / (end - first) as f64).min(1.0) * 4.0_f64.ln();
        let values: Vec<f64> =
            noise(2016, 7).iter().enumerate().map(|(slot, one)| one + share(slot)).collect();
        found(&values)
    }

    #[test]
    fn what_took_days_to_change_is_told_with_its_begin_and_its_end() {
        let changes = risen(700, 1100);
        assert_eq!(changes.len(), 1, "{changes:?}");
        let slot = |moment: WallTime| ((moment.0 / 1_000_000_000 - MONDAY) / 900) as usize;
        let (began, change) = (slot(changes[0].began.unwrap()), changes[0]);
        assert_eq!(change.shape, ChangeShape::Ramp);
        assert!(began.abs_diff(700) <= 80 && change.place.abs_diff(1100) <= 80, "{change:?}");
        let ratio = change.ratio.value.unwrap();
        assert!((3.5..4.5).contains(&ratio), "levels are without what lies between: {ratio}");
        assert_eq!(change.count_before as usize, began);
    }

    #[test]
    fn what_still_changes_is_told_since_it_began_and_what_changed_from_the_first_until_it_had() {
        let to_the_end = risen(1500, 2016);
        assert_eq!(to_the_end.len(), 1, "{to_the_end:?}");
        assert_eq!(to_the_end[0].began, Some(to_the_end[0].first_after));
        assert!(to_the_end[0].place.abs_diff(1500) <= 100, "{to_the_end:?}");
        let from_the_first = risen(0, 500);
        assert_eq!(from_the_first.len(), 1, "{from_the_first:?}");
        let in_first_day = WallTime::from_seconds(MONDAY)..WallTime::from_seconds(MONDAY + 86_400);
        assert!(in_first_day.contains(&from_the_first[0].began.unwrap()), "{from_the_first:?}");
        assert!(from_the_first[0].place.abs_diff(500) <= 100, "{from_the_first:?}");
        assert_eq!(risen(1000, 1001)[0].began, None, "a step");
    }

    #[test]
    fn a_doubling_with_four_days_on_each_side_is_found_and_in_two_days_it_may_be_slow_load() {
        let doubled = |half: usize| {
            let mut values = noise(2 * half, 1);
            values[half..].iter_mut().for_each(|value| *value += 2.0_f64.ln());
            find_changes(&series(&values), &LocalTime::UTC, &ChangeOptions::default())
        };
        let short = doubled(96);
        assert!(short.steps.is_empty() && short.not_told[0].shape == ChangeShape::Wandering, "{short:?}");
        let changes = doubled(4 * 96).steps;
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert!(changes[0].place.abs_diff(4 * 96) <= 4 && changes[0].first_after > changes[0].last_before);
        let ratio = changes[0].ratio;
        assert!(
            ratio.low.unwrap() < 2.0 && ratio.high.unwrap() > 2.0 && changes[0].greater_after > 0.7,
            "{ratio:?}"
        );
    }

    #[test]
    fn a_week_of_office_hours_has_no_change_where_its_weekend_begins() {
        let is_busy = |slot: usize| slot < 5 * 96 && (36..68).contains(&(slot % 96));
        for seed in 0..20 {
            let mut week = noise(7 * 96, 100 + seed);
            (0..7 * 96).filter(|slot| is_busy(*slot)).for_each(|slot| week[slot] += 3.0_f64.ln());
            let found = find_changes(&series(&week), &LocalTime::UTC, &ChangeOptions::default());
            assert!(found.steps.is_empty() && found.drift.is_none(), "{seed}: {found:?}");
        }
    }

    /// The slow part comes and goes within half a day, and what a step leaves of the rest remembers nothing.
    #[test]
    fn slow_load_under_noise_is_no_change_in_a_few_days() {
        for (seed, count) in (0..20).flat_map(|seed| [(seed, 192), (seed, 480)]) {
            let (mut source, mut slow) = (Random::new(200 + seed), 0.0);
            let mut next = || {
                slow = 0.98 * slow + 0.199 * source.normal();
                0.38 * slow + 0.46 * source.normal()
            };
            // It has forgotten its begin by then.
            let values: Vec<f64> = (0..200 + count).map(|_| next()).skip(200).collect();
            assert!(found(&values).is_empty(), "{seed}, {count}: {:?}", found(&values));
        }
    }

    /// Two minutes of a listing that takes twelve times as long from the middle on, each a fifth off the usual and like the one before.
    #[test]
    fn a_step_far_beyond_what_neighbours_share_is_found() {
        let slot_seconds =
            |slot: usize| WallTime(WallTime::from_seconds(MONDAY).0 + slot as i64 * 500_000_000);
        let moments: Vec<WallTime> = (0..263).map(slot_seconds).collect();
        let changes_of = |seed: u64, level: &dyn Fn(usize) -> f64| {
            let (mut source, mut state) = (Random::new(seed), 0.0);
            let next = |slot: usize| {
                state = 0.8 * state + 0.6 * source.normal();
                (0.2 * state + level(slot)).exp()
            };
            let values: Vec<f64> = (0..263).map(next).collect();
            find_changes(&TimedValues::known(&moments, &values), &LocalTime::UTC, &ChangeOptions::default())
        };
        for seed in 0..20 {
            let one = changes_of(seed, &|slot| if slot < 120 { 0.0 } else { 12.0_f64.ln() });
            let places: Vec<usize> = one.steps.iter().map(|step| step.place).collect();
            assert!(places.len() == 1 && places[0].abs_diff(120) <= 2, "{seed}: {one:?}");
            let to_and_fro = changes_of(seed, &|slot| if slot / 24 % 2 == 0 { 0.0 } else { 12.0_f64.ln() });
            assert!(to_and_fro.steps.is_empty(), "{seed}: {to_and_fro:?}");
        }
    }

    #[test]
    fn a_spike_a_hang_and_nothing_at_all_are_no_changes() {
        assert!(found(&noise(2000, 2)).is_empty());
        let mut spike = noise(2000, 3);
        spike[900] += 9.0;
        assert!(found(&spike).is_empty());
        let mut hang = noise(2000, 4);
        hang[900..908].iter_mut().for_each(|value| *value += 9.0);
        assert!(found(&hang).is_empty());
        assert!(found(&[]).is_empty() && found(&[0.0; 300]).is_empty());
    }

    #[test]
    fn a_slow_fortnight_in_a_year_is_two_changes() {
        let mut values = noise(96 * 365, 5);
        values[10_000..10_000 + 96 * 14].iter_mut().for_each(|value| *value += 2.0_f64.ln());
        let changes = found(&values);
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert!(changes[0].place.abs_diff(10_000) < 10 && changes[1].place.abs_diff(11_344) < 10);
        assert!(changes[0].greater_after > 0.5 && changes[1].greater_after < 0.5);
    }

    #[test]
    fn a_change_whose_interval_holds_none_is_not_great_enough() {
        let scatter: Vec<f64> = (0..60).map(|place| 4.0 * f64::from(place * 37 % 61) / 61.0).collect();
        let moved = |by: f64| -> Vec<f64> {
            scatter.iter().copied().chain(scatter.iter().map(|value| value + by)).collect()
        };
        let first_too_small = |logarithms: Vec<f64>| {
            let values = series(&logarithms);
            let record = Record::of(&values, &LocalTime::UTC).unwrap();
            let options = &ChangeOptions::default();
            Telling::of(&values, record, options)
                .first_too_small(&[Segment { first: 0, end: 60 }, Segment { first: 60, end: 120 }])
        };
        let (before, after) = (Levels::of(&series(&scatter)), Levels::of(&series(&moved(0.4)[60..])));
        assert_eq!(LevelRatio::between(&before, &after).excludes_none(), Some(false), "1.5 times, and yet");
        assert_eq!((first_too_small(moved(0.4)), first_too_small(moved(2.5))), (Some(0), None));
    }

    #[test]
    fn a_small_change_is_not_worth_reporting() {
        let mut values = noise(4000, 6);
        values.iter_mut().for_each(|value| *value *= 0.1);
        values[2000..].iter_mut().for_each(|value| *value += 0.05);
        assert!(found(&values).is_empty());
        values[2000..].iter_mut().for_each(|value| *value += 0.10);
        assert_eq!(found(&values).len(), 1);
    }

    #[test]
    fn segments_cover_everything() {
        let mut values = noise(600, 7);
        values[300..].iter_mut().for_each(|value| *value += 2.0);
        let changes = found(&values);
        let segments = segments_of(&changes, 600);
        assert_eq!((segments[0].first, segments[segments.len() - 1].end), (0, 600));
        assert!(segments.windows(2).all(|pair| pair[0].end == pair[1].first));
    }

    #[test]
    fn bad_input_has_no_changes() {
        let of = |values: &TimedValues| find_changes(values, &LocalTime::UTC, &ChangeOptions::default());
        for values in [vec![], vec![0.0], vec![0.0, 1.0], vec![2.0; 100]] {
            assert_eq!(of(&series(&values)), Changes::default(), "{} values", values.len());
        }
        let at_once = TimedValues::known(&[WallTime(5); 60], &[1.0, 2.0, 3.0].repeat(20));
        assert_eq!(of(&at_once), Changes::default());
        let rows = (0..100).map(|slot| (slot * 900, 600, Outcome::Timeout));
        let censored = TimedValues::read(&series_of("/home", "list"), &columns_of(rows), Quantity::Duration);
        assert_eq!(of(&censored), Changes::default());
    }

    /// A step by 110, onto a clock that counts in hundredths, in every window with at least a week on both sides.
    #[test]
    fn a_great_step_is_found_however_long_the_record() {
        let noise = noise(96 * 60, 8);
        let step = 96 * 28;
        let values: Vec<f64> = noise
            .iter()
            .enumerate()
            .map(
                |(slot, noise)| {
                    if slot < step { 1.1 * noise.exp() } else { 0.01 * (noise.exp()).round().max(1.0) }
                },
            )
            .collect();
        let moments: Vec<WallTime> =
            (0..values.len()).map(|slot| WallTime::from_seconds(slot as i64 * 900)).collect();
        for days_before in [7, 14, 28] {
            for days_after in [7, 9, 11, 18, 32] {
                let (first, end) = (step - 96 * days_before, step + 96 * days_after);
                let window = TimedValues::known(&moments[first..end], &values[first..end]);
                let steps = find_changes(&window, &LocalTime::UTC, &ChangeOptions::default()).steps;
                let places: Vec<usize> = steps.iter().map(|change| change.place).collect();
                assert_eq!(places, [96 * days_before], "{days_before} days before, {days_after} after");
            }
        }
    }

    #[test]
    fn a_drift_has_no_date_and_a_short_swing_no_change() {
        let mut drift = noise(3000, 9);
        drift.iter_mut().enumerate().for_each(|(slot, value)| *value += 0.4 * slot as f64 / 3000.0);
        let changes = find_changes(&series(&drift), &LocalTime::UTC, &ChangeOptions::default());
        assert!(changes.steps.is_empty() && changes.drift.is_some(), "{changes:?}");
        let mut swing = noise(192, 10);
        let turn = |slot: usize| (std::f64::consts::TAU * slot as f64 / 96.0).sin();
        swing.iter_mut().enumerate().for_each(|(slot, value)| *value += turn(slot));
        assert!(found(&swing).is_empty());
    }
}
