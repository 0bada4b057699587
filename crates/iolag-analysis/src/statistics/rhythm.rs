//! What hour of the day, and of the week, it is when: the part of a sequence that the clock alone explains.
//!
//! A series that is slow at every noon goes together with every other series of its kind, changes level twice a day, and is a surprise
//! to nobody. [`Rhythm::of`] estimates the profile by hour of the day, from eight weeks on by hour of the week, and what is left
//! ([`Rhythm::into_rest`]) is what changes, correlations and comparisons are judged on.
//!
//! Limits: the profile is the same on all days; what swings differently each day is left in the rest. Between the middles of hours it is
//! interpolated.

/// Seconds of a day.
pub const DAY_SECONDS: f64 = 86_400.0;

/// Days that must be covered before anything is known of the hours of the day.
pub const DAYS_LEAST: f64 = 4.0;

/// Days that must be covered before the days of the week are told apart.
const WEEK_DAYS_LEAST: f64 = 56.0;

/// Values that an hour must have, else its neighbours stand in for it.
const VALUES_LEAST: usize = 2;

/// A profile by hour of the day or of the week, and what is left of the values without it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rhythm {
    profile: Vec<f64>,
    rest: Vec<f64>,
}

impl Rhythm {
    /// The rhythm of finite `values` at these local times, in seconds since a midnight before a Monday, in ascending order. `None` if they cover less than
    /// [`DAYS_LEAST`] days or there are fewer values than hours.
    pub fn of(local_seconds: &[f64], values: &[f64]) -> Option<Self> {
        let (first, last) = (local_seconds.first()?, local_seconds.last()?);
        let days = (last - first) / DAY_SECONDS;
        let hours = if days >= WEEK_DAYS_LEAST { 168 } else { 24 };
        if days < DAYS_LEAST || values.len() < 2 * hours {
            return None;
        }
        let profile = profile_of(local_seconds, values, hours);
        let rest =
            local_seconds.iter().zip(values).map(|(at, value)| value - level_at(&profile, *at)).collect();
        Some(Self { profile, rest })
    }

    /// How much the profile lies above its mean at a local time, in seconds as in [`Rhythm::of`].
    pub fn level(&self, local_second: f64) -> f64 {
        level_at(&self.profile, local_second)
    }

    /// The values without the profile.
    pub fn into_rest(self) -> Vec<f64> {
        self.rest
    }
}

fn profile_of(local_seconds: &[f64], values: &[f64], hours: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_usize); hours];
    for (at, value) in local_seconds.iter().zip(values) {
        let hour = wrapped((at / 3600.0).floor(), hours) as usize;
        let (sum, count) = &mut sums[hour.min(hours - 1)];
        *sum += value;
        *count += 1;
    }
    let mut known: Vec<Option<f64>> =
        sums.iter().map(|(sum, count)| (*count >= VALUES_LEAST).then(|| sum / *count as f64)).collect();
    fill(&mut known);
    let profile: Vec<f64> = known.into_iter().map(Option::unwrap_or_default).collect();
    let mean = profile.iter().sum::<f64>() / hours as f64;
    profile.into_iter().map(|level| level - mean).collect()
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

/// Between the middles of hours on a straight line.
fn level_at(profile: &[f64], at: f64) -> f64 {
    let hours = profile.len();
    let place = wrapped(at / 3600.0 - 0.5, hours);
    let before = (place.floor() as usize).min(hours - 1);
    let share = place - before as f64;
    profile[before] + share * (profile[(before + 1) % hours] - profile[before])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Noise;

    fn quarters(days: usize) -> Vec<f64> {
        (0..days * 96).map(|slot| slot as f64 * 900.0).collect()
    }

    #[test]
    fn what_swings_every_day_leaves_nothing() {
        let at = quarters(14);
        let swing = |at: &f64| (at / DAY_SECONDS * std::f64::consts::TAU).sin();
        let values: Vec<f64> = at.iter().map(swing).collect();
        let rhythm = Rhythm::of(&at, &values).expect("two weeks are enough");
        assert_eq!(rhythm.profile.len(), 24);
        assert!((rhythm.level(6.5 * 3600.0) - 0.99).abs() < 0.02, "{:?}", rhythm.profile);
        assert!(rhythm.rest.iter().all(|rest| rest.abs() < 0.05));
    }

    #[test]
    fn a_level_stays_and_so_does_noise() {
        let at = quarters(7);
        let mut noise = Noise::new(7);
        let values: Vec<f64> = at.iter().map(|_| 5.0 + noise.normal()).collect();
        let rhythm = Rhythm::of(&at, &values).expect("a week is enough");
        let mean = rhythm.rest.iter().sum::<f64>() / at.len() as f64;
        assert!((mean - 5.0).abs() < 0.2, "{mean}");
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
