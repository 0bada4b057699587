//! What hour of the day, and of the week, it is when: the part of a sequence that the clock alone explains.
//!
//! A series that is slow at every noon goes together with every other series of its kind, changes level twice a day, and is a surprise
//! to nobody. [`Rhythm::of`] estimates the profile by hour of the day, for working days and weekends apart where there are four of either, from eight weeks on
//! by hour of the week, and what is left ([`Rhythm::into_rest`]) is what changes and comparisons are judged on. How much weekends differ from working days
//! as a whole stays in it below eight weeks; correlations are without that as well ([`Rhythm::into_rest_of_weeks`]).
//!
//! Limits: weekends are Saturdays and Sundays, and a holiday is a working day; what swings differently each day is left in the rest. Between the middles of
//! hours the profile is a straight line, or each hour is as it is, whichever leaves less: office hours begin at once.

/// Seconds of a day.
pub const DAY_SECONDS: f64 = 86_400.0;

/// Days that must be covered before anything is known of the hours of the day.
pub const DAYS_LEAST: f64 = 4.0;

/// Days that must be covered before the days of the week are told apart.
const WEEK_DAYS_LEAST: f64 = 56.0;

/// Hours of a day and of a week.
const DAY_HOURS: usize = 24;
const WEEK_HOURS: usize = 168;

/// Values that an hour must have, else its neighbours stand in for it.
const VALUES_LEAST: usize = 2;

/// A profile by hour, and what is left of the values without it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rhythm {
    profile: Profile,
    rest: Vec<f64>,
}

/// Levels by hour, with a mean of 0.
#[derive(Debug, Clone, PartialEq)]
enum Profile {
    /// Of all days.
    Day(Hours),
    /// Of working days and of weekends.
    Days([Hours; 2]),
    /// Of a week.
    Week(Hours),
}

#[derive(Debug, Clone, PartialEq)]
struct Hours {
    levels: Vec<f64>,
    between: Between,
}

/// What is between the middles of two hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Line,
    Jump,
}

impl Rhythm {
    /// The rhythm of finite `values` at these local times, in seconds since a midnight before a Monday, in ascending order. `None` if they cover less than
    /// [`DAYS_LEAST`] days or there are fewer values than hours.
    pub fn of(local_seconds: &[f64], values: &[f64]) -> Option<Self> {
        let (first, last) = (local_seconds.first()?, local_seconds.last()?);
        let days = (last - first) / DAY_SECONDS;
        let hours = if days >= WEEK_DAYS_LEAST { WEEK_HOURS } else { DAY_HOURS };
        if days < DAYS_LEAST || values.len() < 2 * hours {
            return None;
        }
        let profile = if hours == WEEK_HOURS {
            Profile::Week(Hours::of(local_seconds, values, hours))
        } else {
            Profile::of_days(local_seconds, values)
        };
        let rest = local_seconds.iter().zip(values).map(|(at, value)| value - profile.level(*at)).collect();
        Some(Self { profile, rest })
    }

    /// How much the profile lies above its mean at a local time, in seconds as in [`Rhythm::of`].
    pub fn level(&self, local_second: f64) -> f64 {
        self.profile.level(local_second)
    }

    /// The values without the profile.
    pub fn into_rest(self) -> Vec<f64> {
        self.rest
    }

    /// The values without the profile, and without that and the mean which working days, and weekends, have beyond it. Of few weekends it takes whatever
    /// lasts longer than hours. `local_seconds` are those of [`Rhythm::of`].
    pub fn into_rest_of_weeks(self, local_seconds: &[f64]) -> Vec<f64> {
        let mut rest = self.rest;
        if matches!(self.profile, Profile::Week(_)) {
            return rest;
        }
        for kind in [false, true] {
            let places: Vec<usize> =
                (0..rest.len()).filter(|place| is_weekend(local_seconds[*place]) == kind).collect();
            let seconds: Vec<f64> = places.iter().map(|place| local_seconds[*place]).collect();
            let values: Vec<f64> = places.iter().map(|place| rest[*place]).collect();
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            let hours = (values.len() >= 2 * DAY_HOURS).then(|| Hours::of(&seconds, &values, DAY_HOURS));
            for (place, at) in places.into_iter().zip(seconds) {
                rest[place] -= mean + hours.as_ref().map_or(0.0, |hours| hours.level(at));
            }
        }
        rest
    }
}

impl Profile {
    /// Of working days and of weekends where there are enough of either.
    fn of_days(local_seconds: &[f64], values: &[f64]) -> Self {
        let of_kind = |is_wanted: bool| -> (Vec<f64>, Vec<f64>) {
            let both = local_seconds.iter().zip(values);
            both.filter(|(at, _)| is_weekend(**at) == is_wanted).unzip()
        };
        let kinds = [of_kind(false), of_kind(true)];
        let days = |seconds: &[f64]| {
            let days =
                seconds.chunk_by(|one, next| (one / DAY_SECONDS).floor() == (next / DAY_SECONDS).floor());
            days.count() as f64
        };
        if kinds.iter().any(|(seconds, _)| days(seconds) < DAYS_LEAST || seconds.len() < 2 * DAY_HOURS) {
            return Self::Day(Hours::of(local_seconds, values, DAY_HOURS));
        }
        Self::Days(kinds.map(|(seconds, values)| Hours::of(&seconds, &values, DAY_HOURS)))
    }

    fn level(&self, at: f64) -> f64 {
        match self {
            Self::Day(hours) | Self::Week(hours) => hours.level(at),
            Self::Days(kinds) => kinds[usize::from(is_weekend(at))].level(at),
        }
    }
}

/// Whether a local time, in seconds as in [`Rhythm::of`], is on a Saturday or a Sunday.
pub(crate) fn is_weekend(local_second: f64) -> bool {
    wrapped(local_second / 3600.0, WEEK_HOURS) >= 5.0 * DAY_HOURS as f64
}

impl Hours {
    fn of(local_seconds: &[f64], values: &[f64], hours: usize) -> Self {
        let mut sums = vec![(0.0, 0_usize); hours];
        for (at, value) in local_seconds.iter().zip(values) {
            let (sum, count) = &mut sums[hour_of(*at, hours)];
            *sum += value;
            *count += 1;
        }
        let mut known: Vec<Option<f64>> =
            sums.iter().map(|(sum, count)| (*count >= VALUES_LEAST).then(|| sum / *count as f64)).collect();
        fill(&mut known);
        let levels: Vec<f64> = known.into_iter().map(Option::unwrap_or_default).collect();
        let mean = levels.iter().sum::<f64>() / hours as f64;
        let levels: Vec<f64> = levels.into_iter().map(|level| level - mean).collect();
        let [line, jump] =
            [Between::Line, Between::Jump].map(|between| Self { levels: levels.clone(), between });
        let left = |one: &Self| -> f64 {
            let both = local_seconds.iter().zip(values);
            both.map(|(at, value)| (value - mean - one.level(*at)).powi(2)).sum()
        };
        if left(&jump) < left(&line) { jump } else { line }
    }

    fn level(&self, at: f64) -> f64 {
        let hours = self.levels.len();
        if self.between == Between::Jump {
            return self.levels[hour_of(at, hours)];
        }
        let place = wrapped(at / 3600.0 - 0.5, hours);
        let before = (place.floor() as usize).min(hours - 1);
        let share = place - before as f64;
        self.levels[before] + share * (self.levels[(before + 1) % hours] - self.levels[before])
    }
}

fn hour_of(at: f64, hours: usize) -> usize {
    (wrapped((at / 3600.0).floor(), hours) as usize).min(hours - 1)
}

/// Hours of which nothing is known take the level of the hour before, around the clock.
fn fill(known: &mut [Option<f64>]) {
    let hours = known.len();
    for place in 0..2 * hours {
        let before = known[place % hours];
        let next = &mut known[(place + 1) % hours];
        *next = next.or(before);
    }
}

/// From 0 up to this many hours, which the clock has.
fn wrapped(place: f64, hours: usize) -> f64 {
    let hours = hours as f64;
    // A tenth of the time that a remainder takes.
    (place - (place / hours).floor() * hours).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    fn quarters(days: usize) -> Vec<f64> {
        (0..days * 96).map(|slot| slot as f64 * 900.0).collect()
    }

    #[test]
    fn what_swings_every_day_leaves_nothing() {
        let at = quarters(14);
        let swing = |at: &f64| (at / DAY_SECONDS * std::f64::consts::TAU).sin();
        let values: Vec<f64> = at.iter().map(swing).collect();
        let rhythm = Rhythm::of(&at, &values).expect("two weeks are enough");
        assert!(matches!(rhythm.profile, Profile::Days(_)));
        assert!((rhythm.level(6.5 * 3600.0) - 0.99).abs() < 0.02, "{:?}", rhythm.profile);
        assert!(rhythm.rest.iter().all(|rest| rest.abs() < 0.05));
    }

    #[test]
    fn a_level_stays_and_so_does_noise() {
        let at = quarters(7);
        let mut noise = Random::new(7);
        let values: Vec<f64> = at.iter().map(|_| 5.0 + noise.normal()).collect();
        let rhythm = Rhythm::of(&at, &values).expect("a week is enough");
        let mean = rhythm.rest.iter().sum::<f64>() / at.len() as f64;
        assert!((mean - 5.0).abs() < 0.2, "{mean}");
    }

    #[test]
    fn office_hours_of_working_days_leave_what_weekends_are_below_and_then_nothing() {
        for days in [7, 11, 31, 70] {
            let at = quarters(days);
            let is_busy = |at: &f64| !is_weekend(*at) && (9..17).contains(&hour_of(*at, DAY_HOURS));
            let values: Vec<f64> = at.iter().map(|at| if is_busy(at) { 1.0 } else { 0.0 }).collect();
            let rhythm = Rhythm::of(&at, &values).expect("long enough");
            let below = rhythm.rest[0] - rhythm.rest[6 * 96];
            let expected = if days == 31 { 1.0 / 3.0 } else { 0.0 };
            assert!((below - expected).abs() < 1e-9, "{days}: {below}");
            let rest = rhythm.into_rest_of_weeks(&at);
            let first = rest[0];
            let spread = rest.iter().fold(0.0, |most: f64, rest| most.max((rest - first).abs()));
            assert!(spread < 1e-9, "{days}: {spread}");
        }
    }

    #[test]
    fn too_short_or_too_few_have_none() {
        assert_eq!(Rhythm::of(&[], &[]), None);
        assert_eq!(Rhythm::of(&quarters(3), &vec![1.0; 288]), None);
        assert_eq!(Rhythm::of(&[0.0, 1e6], &[1.0, 2.0]), None);
    }

    #[test]
    fn hours_without_values_take_those_of_the_hour_before() {
        let at: Vec<f64> = quarters(9).into_iter().filter(|at| (at / 3600.0) as usize % 24 < 12).collect();
        let rhythm = Rhythm::of(&at, &vec![2.0; at.len()]).expect("nine half days");
        assert!(rhythm.rest.iter().all(|rest| (rest - 2.0).abs() < 1e-9));
    }
}
