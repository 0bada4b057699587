//! Axes of hours to years: labels at hours, days, Mondays, months and years of local time, whichever fit; as in the page
//! (web/src/history/calendar_scale.ts).

use iolag_analysis::history::LocalTime;
use iolag_model::WallTime;
use jiff::civil::date;
use jiff::tz::TimeZone;

use super::axis::Axis;

const SECOND_NS: i64 = 1_000_000_000;
const DAY_NS: i64 = 86_400 * SECOND_NS;
const WEEK_NS: i64 = 7 * DAY_NS;
/// 1970-01-05 was a Monday.
const MONDAY_NS: i64 = 4 * DAY_NS;
/// Between labels, in ms; what is longer counts in months.
const STEPS_MS: [i64; 30] = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    15_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    10_800_000,
    21_600_000,
    43_200_000,
    86_400_000,
    172_800_000,
    604_800_000,
    1_209_600_000,
];
const STEPS_MONTHS: [i64; 9] = [1, 2, 3, 6, 12, 24, 60, 120, 240];
/// Beyond so many days the first of a month is labelled by its name.
const MONTHS_FROM_DAYS: f64 = 150.0;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// An axis of ns since `begin`, with some air on both sides, that is labelled with what clocks show in a place.
pub(super) fn calendar_axis(begin: WallTime, span_ns: u64, place: &LocalTime, labels_max: usize) -> Axis {
    let air = span_ns as f64 * 0.008;
    let end = WallTime(begin.0.saturating_add_unsigned(span_ns));
    let (from, to) = (place.shown(begin).0, place.shown(end).0);
    let days = span_ns as f64 / DAY_NS as f64;
    let label = |shown: i64| {
        let at = place.moment_showing(WallTime(shown)).0 - begin.0;
        (at as f64, label_of(shown, days))
    };
    let ticks = moments(from, to, labels_max.max(2) as i64).into_iter().map(label).collect();
    Axis::labelled(-air, span_ns as f64 + air, ticks)
}

/// The moments that are labelled, in ns that clocks show.
fn moments(from: i64, to: i64, labels_max: i64) -> Vec<i64> {
    let fits = |step: &i64| (to - from) / step < labels_max;
    let Some(step) = STEPS_MS.into_iter().map(|ms| ms * 1_000_000).find(fits) else {
        return months(from, to, labels_max);
    };
    let offset = if step >= WEEK_NS { MONDAY_NS } else { 0 };
    let first = (from - offset).div_euclid(step) + i64::from((from - offset).rem_euclid(step) > 0);
    (first..=(to - offset).div_euclid(step)).map(|index| index * step + offset).collect()
}

fn months(from: i64, to: i64, labels_max: i64) -> Vec<i64> {
    let all = (to - from) / (30 * DAY_NS);
    let step = STEPS_MONTHS.into_iter().find(|step| all / step < labels_max).unwrap_or(600);
    let first = (number(from, 0..4) * 12 + number(from, 5..7) - 1).div_euclid(step) * step;
    let moment = |month: i64| {
        let first = date((month / 12) as i16, (month % 12 + 1) as i8, 1).to_zoned(TimeZone::UTC).ok()?;
        i64::try_from(first.timestamp().as_nanosecond()).ok()
    };
    let found = (0..1000).map_while(|index| moment(first + index * step));
    found.skip_while(|moment| *moment < from).take_while(|moment| *moment <= to).collect()
}

/// `14:15`, with seconds where they matter; `8 May` at midnight, `May` or `2008` where months are labelled.
fn label_of(shown: i64, days: f64) -> String {
    let text = WallTime(shown).to_string();
    let since_midnight = shown.rem_euclid(DAY_NS);
    if since_midnight % (60 * SECOND_NS) != 0 {
        let to = if since_midnight % SECOND_NS == 0 { 19 } else { 23 };
        return text[11..to].to_owned();
    }
    if since_midnight != 0 {
        return text[11..16].to_owned();
    }
    let (month, day) = (number(shown, 5..7), number(shown, 8..10));
    let name = MONTHS[(month as usize).clamp(1, 12) - 1];
    match (days > MONTHS_FROM_DAYS && day == 1, month) {
        (true, 1) => text[..4].to_owned(),
        (true, _) => name.to_owned(),
        (false, _) => format!("{day} {name}"),
    }
}

/// A number in `2008-05-08T14:15:00.000Z`.
fn number(shown: i64, place: std::ops::Range<usize>) -> i64 {
    WallTime(shown).to_string()[place].parse().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2008-05-08, midnight UTC.
    const BEGIN: i64 = 1_210_204_800;

    fn labels(days: f64, place: &LocalTime, labels_max: usize) -> Vec<String> {
        let span_ns = (days * DAY_NS as f64) as u64;
        let axis = calendar_axis(WallTime::from_seconds(BEGIN), span_ns, place, labels_max);
        axis.ticks().iter().map(|(_, text)| text.clone()).collect()
    }

    #[test]
    fn a_calendar_is_labelled_in_what_fits() {
        let utc = LocalTime::UTC;
        assert_eq!(labels(0.01, &utc, 6), ["8 May", "00:05", "00:10"]);
        assert_eq!(labels(0.5, &utc, 6), ["8 May", "03:00", "06:00", "09:00", "12:00"]);
        assert_eq!(labels(3.0, &utc, 6), ["8 May", "9 May", "10 May", "11 May"]);
        assert_eq!(labels(21.0, &utc, 6), ["12 May", "19 May", "26 May"], "Mondays");
        assert_eq!(labels(100.0, &utc, 6), ["1 Jun", "1 Jul", "1 Aug"]);
        assert_eq!(labels(400.0, &utc, 6), ["Jul", "Oct", "2009", "Apr"]);
        assert_eq!(labels(0.000_01, &utc, 4), ["8 May", "00:00:00.500"]);
    }

    #[test]
    fn days_begin_at_the_midnights_of_a_place_in_summer_and_winter() {
        // Seven hours behind UTC, eight from the second day on.
        let second = WallTime::from_seconds(BEGIN + 33 * 3600);
        let place = LocalTime::fixed(-7 * 3600).changing(second, -8 * 3600);
        let axis = calendar_axis(WallTime::from_seconds(BEGIN), 3 * DAY_NS as u64, &place, 4);
        let hours: Vec<(f64, &str)> =
            axis.ticks().iter().map(|(at, text)| (at / 3.6e12, text.as_str())).collect();
        assert_eq!(hours, [(7.0, "8 May"), (31.0, "9 May"), (56.0, "10 May")]);
    }
}
