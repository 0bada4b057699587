//! Which period a peak of a periodogram belongs to.
//!
//! A job of an hour each night has power at every whole number of cycles a day, and where storage that is slow for hours hides the first of them, the second, the
//! seventh or the eleventh stands out most: that is no period of 12 hours. So it is asked of which number all whole numbers of cycles of an hour, and
//! of a day, that have power are multiples: that is the period. What happens on one day of the week has power at each whole number of cycles a week, and most of it is not at those
//! of the day: then the week is the period, and not the day.

use super::peaks::Searched;

/// Whole numbers of cycles that are looked at: a job of an hour a day has power up to these.
const CYCLES_MOST: usize = 12;
/// Probability in noise below which some of them together have power.
const LINES_SIGNIFICANCE: f64 = 0.01;

/// Weeks that must be covered before days of the week are told apart.
const WEEKS_LEAST: f64 = 3.0;
/// Probability in noise below which the cycles of a week have power.
const WEEK_SIGNIFICANCE: f64 = 1e-3;

const HOUR_SECONDS: f64 = 3600.0;
const DAY_SECONDS: f64 = 24.0 * HOUR_SECONDS;
const WEEK_DAYS: usize = 7;

/// The frequency of the period that has a peak at `frequency`.
pub(crate) fn fundamental_of(searched: &Searched, frequency: f64) -> f64 {
    let of_hours = lowest_of(searched, frequency, HOUR_SECONDS);
    let of_days = lowest_of(searched, of_hours, DAY_SECONDS);
    let week = 1.0 / (WEEK_DAYS as f64 * DAY_SECONDS);
    if whole_cycles(searched, of_days, week).is_some() && is_of_some_days(searched, week) {
        return week;
    }
    of_days
}

/// The greatest divisor of `frequency`, in whole cycles of a period, of which all that has power is a multiple.
fn lowest_of(searched: &Searched, frequency: f64, period_seconds: f64) -> f64 {
    let base = 1.0 / period_seconds;
    let Some(cycles) = whole_cycles(searched, frequency, base) else { return frequency };
    let ratios: Vec<Option<f64>> =
        (1..=CYCLES_MOST).map(|cycles| Some(searched.line_at(cycles as f64 * base)?.ratio())).collect();
    let leaves_nothing = |divisor: &usize| {
        let left =
            (1..=CYCLES_MOST).filter(|other| other % divisor > 0).filter_map(|other| ratios[other - 1]);
        greater_sum_of_exponentials(left.clone().sum(), left.count()) >= LINES_SIGNIFICANCE
    };
    let mut divisors = (1..=cycles).rev().filter(|divisor| cycles % divisor == 0);
    match divisors.find(|divisor| *divisor == 1 || leaves_nothing(divisor)) {
        Some(divisor) if divisor < cycles => divisor as f64 * base,
        _ => frequency,
    }
}

/// How many cycles of `base` a frequency has, if it is a whole number within the resolution, and enough of `base` are covered to tell.
fn whole_cycles(searched: &Searched, frequency: f64, base: f64) -> Option<usize> {
    let cycles = (frequency / base).round();
    let is_whole = (frequency - cycles * base).abs() * searched.covered <= 0.5;
    (is_whole && cycles >= 1.0 && base * searched.covered >= WEEKS_LEAST).then_some(cycles as usize)
}

/// Whether more of what comes back every week comes on some days only than on each of them.
fn is_of_some_days(searched: &Searched, week: f64) -> bool {
    let lines = (1..=CYCLES_MOST * WEEK_DAYS).filter_map(|cycles| {
        let line = searched.line_at(cycles as f64 * week)?;
        Some((cycles % WEEK_DAYS == 0, line))
    });
    let (mut of_days, mut of_weeks, mut ratios, mut count) = (0.0, 0.0, 0.0, 0);
    for (is_of_days, line) in lines {
        let sum = if is_of_days { &mut of_days } else { &mut of_weeks };
        *sum += line.power - line.noise.power;
        if !is_of_days {
            ratios += line.ratio();
            count += 1;
        }
    }
    of_weeks > of_days && greater_sum_of_exponentials(ratios, count) < WEEK_SIGNIFICANCE
}

/// Probability that `count` independent numbers of the exponential law with mean 1 have a greater sum (Erlang); 1 of none.
fn greater_sum_of_exponentials(sum: f64, count: usize) -> f64 {
    if count == 0 {
        return 1.0;
    }
    let mut term = (-sum).exp();
    let mut probability = 0.0;
    for index in 0..count {
        probability += term;
        term *= sum / (index + 1) as f64;
    }
    probability.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_exponentials_follow_erlang() {
        assert!((greater_sum_of_exponentials(3.0, 1) - (-3.0_f64).exp()).abs() < 1e-12);
        assert!((greater_sum_of_exponentials(3.0, 2) - 4.0 * (-3.0_f64).exp()).abs() < 1e-12);
        assert_eq!(greater_sum_of_exponentials(0.0, 72), 1.0);
        assert_eq!(greater_sum_of_exponentials(0.0, 0), 1.0);
    }
}
