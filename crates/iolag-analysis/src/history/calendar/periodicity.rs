//! Does a series swing with a period: daily, weekly, or any other?
//!
//! Ranks of the values are searched from 3 slots to a quarter of the time covered by a periodogram (see [`crate::statistics::spectrum::periodogram`]).
//! Storage is slow for hours and fast for hours, so long periods have more power than short ones without any being special. A power is
//! therefore compared with the mean of the powers within a factor of three of its frequency, straightened by the slope of their logarithms (by
//! likelihood) and without its own peak: of noise of any colour their ratio has the law of F with 2 and 2m degrees of freedom, m being their number (Vaughan
//! 2005 with a local continuum), fewer where the line is known worse. For the search among N frequencies this is multiplied by `N √ln(1/p)` (Davies 1987, as in
//! Baluev 2008).
//!
//! A peak at several cycles of an hour, a day or a week may be a part of these periods: see [`crate::statistics::spectrum::fundamental`]. What the moments of the values cannot tell apart is
//! not searched: see [`crate::statistics::spectrum::peaks`].
//!
//! One and two cycles a day and one a week are asked for by themselves, without that search: a third of the chance of an error is theirs. A cycle whose size
//! differs from day to day has power beside its frequency, too: within the reach of their peaks no other period is told.
//!
//! Of more than 65,536 values the mean ranks of 32,768 equal stretches of time are searched instead: all values count, and periods below two
//! stretches (32 minutes for a year) are not seen.
//!
//! Limits: one period is returned, the most significant one, however likely it is by chance: that is judged with those of all other series; a series with a change of level should be given as ranks within its
//! levels, or the change appears as a long period. Phases of days and weeks are local time, so that a summer and a winter agree.

use iolag_model::{Nanoseconds, WallTime};
use serde::{Deserialize, Serialize};

use super::local_time::LocalTime;
use crate::history::series::timed_values::TimedValues;
use crate::statistics::knowledge::Knowledge;
use crate::statistics::multiple_testing::SIGNIFICANCE;
use crate::statistics::ranking::mid_ranks;
use crate::statistics::spectrum::fundamental::fundamental_of;
use crate::statistics::spectrum::peaks::Searched;
use crate::statistics::spectrum::periodogram::{PeriodogramPoint, lomb_scargle_at};

/// Values below which no period is sought.
const VALUES_LEAST: usize = 48;

/// Of more values than these, means of equal stretches of time are searched.
const SEARCHED_MOST: usize = 65_536;
/// So many of them: 16 minutes in a year, short enough to see what happens every hour.
const STRETCHES: usize = 32_768;

const DAY_SECONDS: f64 = 86_400.0;

/// Periods that people have names for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeriodName {
    /// A day.
    Daily,
    /// A week.
    Weekly,
    /// An hour.
    Hourly,
    /// Any other.
    Other,
}

/// A period that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Periodicity {
    /// Its length.
    pub period_ns: Nanoseconds,
    /// Its name, if it agrees with one within the resolution of the record.
    pub name: PeriodName,
    /// Share of the ranks' variance that a sinusoid of this period explains, 0 to 1.
    pub power: f64,
    /// Probability that the best period of a series without any stands out as much.
    pub false_alarm: f64,
    /// The same after the periods of all series were counted.
    pub p_adjusted: f64,
    /// How the series goes through it.
    pub profile: PhaseProfile,
}

/// Values by phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseProfile {
    /// Length of the period.
    pub period_ns: Nanoseconds,
    /// The phases in order: hours of a local day, days of a week from Monday, or twelfths of another period from 1970 on.
    pub bins: Vec<PhaseBin>,
    /// Greatest median of a phase by the smallest; absent where one of them is not known exactly or not above zero.
    pub swing: Option<f64>,
}

/// Values of one phase.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PhaseBin {
    /// How many.
    pub count: u64,
    /// Their median; absent without values.
    pub median: Option<f64>,
    /// How much is known of it.
    pub median_is: Knowledge,
}

/// The period of `values` that is least likely by chance, or `None` if there are too few values or cycles, or they do not vary. `ranked` is what
/// ranks are made of, in the same order: [`TimedValues::ordered`], or residuals from levels.
pub fn find_periodicity(values: &TimedValues, ranked: &[f64], local_time: &LocalTime) -> Option<Periodicity> {
    if values.len() < VALUES_LEAST || ranked.len() != values.len() {
        return None;
    }
    let first = *values.moments().first()?;
    let seconds: Vec<f64> = values.moments().iter().map(|moment| moment.since(first).as_seconds()).collect();
    let ranks = mid_ranks(ranked);
    let covered = *seconds.last()?;
    let slot = values.usual_spacing()?.as_seconds();
    let (seconds, ranks, slot) = if seconds.len() > SEARCHED_MOST && covered > 0.0 {
        let stretch = covered / STRETCHES as f64;
        let (seconds, ranks) = means_of_stretches(&seconds, &ranks, stretch);
        (seconds, ranks, slot.max(stretch))
    } else {
        (seconds, ranks, slot)
    };
    if slot <= 0.0 || covered < 8.0 * slot {
        return None;
    }
    let searched = Searched::of(&seconds, &ranks, covered, slot);
    let (false_alarm, mut peak) = searched.least_likely()?;
    // What nobody is told needs no name.
    if false_alarm <= SIGNIFICANCE {
        let frequency = fundamental_of(&searched, peak.frequency);
        if frequency != peak.frequency {
            peak = PeriodogramPoint { frequency, power: lomb_scargle_at(&seconds, &ranks, frequency) };
        }
    }
    let name = name_of(peak.frequency, covered);
    let period_seconds = match name {
        PeriodName::Daily => DAY_SECONDS,
        PeriodName::Weekly => 7.0 * DAY_SECONDS,
        PeriodName::Hourly => 3600.0,
        PeriodName::Other => 1.0 / peak.frequency,
    };
    let period_ns = Nanoseconds((period_seconds * 1e9).round() as u64);
    let profile = profile_of(values, period_ns, name, local_time);
    Some(Periodicity { period_ns, name, power: peak.power, false_alarm, p_adjusted: false_alarm, profile })
}

/// Mean moment and mean rank of each stretch of time that has values; moments ascend.
fn means_of_stretches(seconds: &[f64], ranks: &[f64], stretch: f64) -> (Vec<f64>, Vec<f64>) {
    let stretch_of = |second: &f64| (second / stretch) as u64;
    let mut first = 0;
    seconds
        .chunk_by(|one, other| stretch_of(one) == stretch_of(other))
        .map(|moments| {
            let of_moments = &ranks[first..first + moments.len()];
            first += moments.len();
            let count = moments.len() as f64;
            (moments.iter().sum::<f64>() / count, of_moments.iter().sum::<f64>() / count)
        })
        .unzip()
}

/// The hours of a local day, or the days of a week, whatever is significant.
pub fn profile_of(
    values: &TimedValues,
    period: Nanoseconds,
    name: PeriodName,
    local_time: &LocalTime,
) -> PhaseProfile {
    let bins = match name {
        PeriodName::Daily => 24,
        PeriodName::Weekly => 7,
        PeriodName::Hourly | PeriodName::Other => 12,
    };
    let length = i128::from(period.0.max(1));
    let phase = |moment: &WallTime| match name {
        PeriodName::Daily => usize::from(local_time.at(*moment).hour),
        PeriodName::Weekly => local_time.at(*moment).day.weekday() as usize,
        PeriodName::Hourly | PeriodName::Other => {
            (i128::from(moment.0).rem_euclid(length) * bins as i128 / length) as usize
        }
    };
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); bins];
    for (index, moment) in values.moments().iter().enumerate() {
        places[phase(moment)].push(index);
    }
    let ordered = values.ordered();
    let bins: Vec<PhaseBin> = places
        .into_iter()
        .map(|mut order| {
            order.sort_unstable_by(|left, right| ordered[*left].total_cmp(&ordered[*right]));
            let median = values.at_rank(&order, order.len().div_ceil(2));
            PhaseBin {
                count: order.len() as u64,
                median: median.map(|(value, _)| value),
                median_is: median.map_or(Knowledge::Exactly, |(_, knowledge)| knowledge),
            }
        })
        .collect();
    PhaseProfile { period_ns: period, swing: swing_of(&bins), bins }
}

fn swing_of(bins: &[PhaseBin]) -> Option<f64> {
    let known = bins.iter().filter(|bin| bin.median_is == Knowledge::Exactly);
    let medians: Vec<f64> = known.filter_map(|bin| bin.median).collect();
    let least = medians.iter().copied().min_by(f64::total_cmp)?;
    let greatest = medians.iter().copied().max_by(f64::total_cmp)?;
    let all_known = medians.len() == bins.iter().filter(|bin| bin.count > 0).count();
    (all_known && least > 0.0).then(|| greatest / least)
}

fn name_of(frequency: f64, covered: f64) -> PeriodName {
    let named = [
        (DAY_SECONDS, PeriodName::Daily),
        (7.0 * DAY_SECONDS, PeriodName::Weekly),
        (3600.0, PeriodName::Hourly),
    ];
    let agrees = |period: f64| (frequency - 1.0 / period).abs() <= 0.5 / covered;
    named.iter().find(|(period, _)| agrees(*period)).map_or(PeriodName::Other, |(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use iolag_model::Random;

    /// Log-normal durations every 15 min with jitter, autoregressive, with a daily wave of this amplitude.
    fn durations(n: usize, phi: f64, amplitude: f64, period: f64, seed: u64) -> TimedValues {
        let mut noise = Random::new(seed);
        let mut state = 0.0;
        let mut moments = Vec::new();
        let mut values = Vec::new();
        for slot in 0..n {
            // One slot in twenty is missing.
            if noise.unit() < 0.05 {
                continue;
            }
            let second = slot as f64 * 900.0 + 60.0 * noise.unit();
            state = phi * state + (1.0_f64 - phi * phi).sqrt() * noise.normal();
            moments.push(WallTime((second * 1e9) as i64));
            values.push((state + amplitude * (TAU * second / period).sin()).exp());
        }
        TimedValues::known(&moments, &values)
    }

    #[test]
    fn a_day_is_recovered_with_its_profile() {
        let values = durations(96 * 21, 0.5, 0.6, 86_400.0, 1);
        let found = find_periodicity(&values, &values.ordered(), &LocalTime::UTC).unwrap();
        assert_eq!((found.name, found.period_ns), (PeriodName::Daily, Nanoseconds::from_seconds(86_400)));
        assert_eq!(found.profile.bins.len(), 24);
        let slowest = (0..24).max_by(|one, other| {
            let median = |hour: usize| found.profile.bins[hour].median.unwrap();
            median(*one).total_cmp(&median(*other))
        });
        assert!((4..=8).contains(&slowest.unwrap()), "{slowest:?}");
        assert!(found.profile.swing.unwrap() > 2.0);
        // Seen from two hours further east, it is two hours later.
        let east = profile_of(&values, found.period_ns, PeriodName::Daily, &LocalTime::fixed(7200));
        assert_eq!(east.bins[7].median, found.profile.bins[5].median);
    }

    #[test]
    fn other_periods_and_weeks_are_recovered() {
        let odd = durations(96 * 14, 0.3, 0.7, 30_000.0, 2);
        let found = find_periodicity(&odd, &odd.ordered(), &LocalTime::UTC).unwrap();
        assert_eq!(found.name, PeriodName::Other);
        assert!((found.period_ns.as_seconds() / 30_000.0 - 1.0).abs() < 0.01, "{found:?}");
        let weekly = durations(96 * 7 * 8, 0.3, 0.7, 7.0 * 86_400.0, 3);
        let found = find_periodicity(&weekly, &weekly.ordered(), &LocalTime::UTC).unwrap();
        assert_eq!((found.name, found.profile.bins.len()), (PeriodName::Weekly, 7));
    }

    #[test]
    fn a_small_daily_swing_of_a_very_long_record_is_seen_and_noise_is_not() {
        let n = SEARCHED_MOST * 5 / 4;
        let values = durations(n, 0.5, 0.1, 86_400.0, 4);
        assert!(values.len() > SEARCHED_MOST);
        let found = find_periodicity(&values, &values.ordered(), &LocalTime::UTC).unwrap();
        assert_eq!((found.name, found.profile.bins.len()), (PeriodName::Daily, 24));
        for seed in 5..8 {
            let noise = durations(n, 0.5, 0.0, 86_400.0, seed);
            let found = find_periodicity(&noise, &noise.ordered(), &LocalTime::UTC).unwrap();
            assert!(found.false_alarm > 0.01, "{found:?}");
        }
    }

    #[test]
    fn noise_has_no_period_even_if_it_is_autocorrelated() {
        for phi in [0.0, 0.5, 0.9, 0.98] {
            let alarms = (0..60).filter(|seed| {
                let values = durations(900, phi, 0.0, 86_400.0, 100 + seed);
                find_periodicity(&values, &values.ordered(), &LocalTime::UTC).unwrap().false_alarm < 0.05
            });
            let alarms = alarms.count();
            assert!(alarms <= 6, "{alarms} of 60 at {phi}");
        }
    }

    #[test]
    fn a_daily_swing_of_another_size_each_day_is_no_other_period() {
        let mut noise = Random::new(9);
        let (mut daily, mut other) = (0, 0);
        for _ in 0..60 {
            let sizes: Vec<f64> = (0..7).map(|_| 0.5 + 0.5 * noise.normal()).collect();
            let moments: Vec<WallTime> = (0..672).map(|slot| WallTime::from_seconds(slot * 900)).collect();
            let value = |slot: usize| {
                (sizes[slot / 96] * (TAU * slot as f64 / 96.0).cos() + 0.6 * noise.normal()).exp()
            };
            let values = TimedValues::known(&moments, &(0..672).map(value).collect::<Vec<_>>());
            let found = find_periodicity(&values, &values.ordered(), &LocalTime::UTC).unwrap();
            let is_told = found.false_alarm < 0.05;
            daily += usize::from(is_told && found.name == PeriodName::Daily);
            other += usize::from(is_told && found.name != PeriodName::Daily);
        }
        assert!(daily >= 45 && other <= 3, "{daily} {other} of 60");
    }

    /// Names of the periods that are told of 12 records of so many quarter hours, eight times as slow where `is_slow` says so.
    fn told_of(slots: i64, phi: f64, is_slow: impl Fn(i64, &mut Random) -> bool) -> Vec<(PeriodName, f64)> {
        let told = |seed| {
            let mut noise = Random::new(seed);
            let mut state = noise.normal();
            let moments: Vec<WallTime> = (0..slots).map(|slot| WallTime::from_seconds(slot * 900)).collect();
            let values: Vec<f64> = (0..slots)
                .map(|slot| {
                    state = phi * state + (1.0_f64 - phi * phi).sqrt() * noise.normal();
                    (0.4 * state).exp() * if is_slow(slot, &mut noise) { 8.0 } else { 1.0 }
                })
                .collect();
            let values = TimedValues::known(&moments, &values);
            let found = find_periodicity(&values, &values.ordered(), &LocalTime::UTC)?;
            (found.false_alarm < 0.05).then(|| (found.name, found.period_ns.as_seconds() / 3600.0))
        };
        (0..12).filter_map(told).collect()
    }

    #[test]
    fn a_job_of_an_hour_each_night_is_daily_and_twice_a_day_is_not() {
        for (days, phi) in [(14, 0.0), (28, 0.0), (28, 0.8)] {
            let told = told_of(96 * days, phi, |slot, _| (8..12).contains(&(slot % 96)));
            let daily = told.iter().filter(|one| one.0 == PeriodName::Daily).count();
            assert!(daily >= 9 && daily == told.len(), "{days} {phi}: {told:?}");
        }
        let twice = told_of(96 * 28, 0.0, |slot, _| (8..12).contains(&(slot % 48)));
        let half_days = twice.iter().filter(|one| (one.1 - 12.0).abs() < 0.1).count();
        assert!(half_days >= 11, "{twice:?}");
    }

    #[test]
    fn a_job_of_sundays_is_weekly_and_office_hours_are_daily() {
        let sundays = told_of(96 * 70, 0.0, |slot, _| slot / 96 % 7 == 6 && (12..28).contains(&(slot % 96)));
        let weekly = sundays.iter().filter(|one| one.0 == PeriodName::Weekly).count();
        assert!(weekly >= 10 && weekly == sundays.len(), "{sundays:?}");
        let office = told_of(96 * 28, 0.0, |slot, _| slot / 96 % 7 < 5 && (36..68).contains(&(slot % 96)));
        assert!(office.len() == 12 && office.iter().all(|one| one.0 == PeriodName::Daily), "{office:?}");
    }

    #[test]
    fn nights_and_bursts_have_no_periods_of_their_own() {
        let mut noise = Random::new(30);
        let mut told = |seconds: &[i64], daily: f64, memory: f64| {
            let mut state = 0.0;
            let mut last = 0;
            let values: Vec<f64> = seconds
                .iter()
                .map(|second| {
                    let kept = (-((second - last) as f64) / memory).exp();
                    last = *second;
                    state = kept * state + (1.0 - kept * kept).sqrt() * noise.normal();
                    let noon = -0.5 * (TAU * *second as f64 / 86_400.0).cos();
                    (0.42 * (state + noise.normal()) + daily * noon).exp()
                })
                .collect();
            let moments: Vec<WallTime> =
                seconds.iter().map(|second| WallTime::from_seconds(*second)).collect();
            let values = TimedValues::known(&moments, &values);
            let found = find_periodicity(&values, &values.ordered(), &LocalTime::UTC).unwrap();
            (found.false_alarm < 0.05).then_some(found.name)
        };
        let nights: Vec<i64> = (0..28 * 96).filter(|slot| slot % 96 < 24).map(|slot| slot * 900).collect();
        let bursts: Vec<i64> = (0..14 * 24 * 6).map(|index| index / 6 * 3600 + index % 6 * 20).collect();
        let mut by_chance = 0;
        for _ in 0..6 {
            let of_noise = [told(&nights, 0.0, 7200.0), told(&bursts, 0.0, 7200.0)];
            by_chance += of_noise.iter().flatten().count();
            let of_days = [told(&nights, 1.0, 1.0), told(&bursts, 1.0, 1.0)];
            assert_eq!(of_days, [Some(PeriodName::Daily); 2]);
        }
        assert!(by_chance <= 1, "{by_chance} of 12");
    }

    #[test]
    fn too_little_is_not_searched() {
        let values = durations(40, 0.0, 1.0, 3600.0 * 2.0, 1);
        assert_eq!(find_periodicity(&values, &values.ordered(), &LocalTime::UTC), None);
        let constant = TimedValues::known(
            &(0..100).map(|slot| WallTime::from_seconds(slot * 900)).collect::<Vec<_>>(),
            &[1.0; 100],
        );
        assert_eq!(find_periodicity(&constant, &constant.ordered(), &LocalTime::UTC), None);
    }
}
