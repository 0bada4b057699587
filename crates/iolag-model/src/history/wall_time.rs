//! Wall-clock time.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Nanoseconds;

/// Nanoseconds since 1970-01-01 UTC by `CLOCK_REALTIME`; negative before. It may be stepped: differences of two are only as good
/// as the clock was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct WallTime(pub i64);

impl WallTime {
    /// `seconds` since 1970-01-01 UTC.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// The moment `duration` after this one.
    pub const fn after(self, duration: Nanoseconds) -> Self {
        Self(self.0.saturating_add_unsigned(duration.0))
    }

    /// The moment `duration` before this one.
    pub const fn before(self, duration: Nanoseconds) -> Self {
        Self(self.0.saturating_sub_unsigned(duration.0))
    }

    /// Time since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Nanoseconds {
        let difference = self.0 as i128 - earlier.0 as i128;
        if difference <= 0 {
            Nanoseconds::ZERO
        } else if difference > u64::MAX as i128 {
            Nanoseconds(u64::MAX)
        } else {
            Nanoseconds(difference as u64)
        }
    }

    /// UTC for people, as in `2008-05-08 14:15`; with seconds if they are not zero.
    pub fn in_words(self) -> String {
        let text = self.to_second();
        text.strip_suffix(":00").unwrap_or(&text).to_owned()
    }

    /// UTC for people, as in `2008-05-08 14:15:00`.
    pub fn to_second(self) -> String {
        // Years that fit into 64 bits of nanoseconds have four digits.
        self.to_string()[..19].replace('T', " ")
    }

    /// Seconds since 1970-01-01 UTC, for plotting and printing only.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl fmt::Display for WallTime {
    /// RFC 3339 in UTC with milliseconds, by the civil-from-days algorithm of Howard Hinnant ("chrono-Compatible Low-Level Date
    /// Algorithms").
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.0.div_euclid(1_000_000);
        let (days, within) = (milliseconds.div_euclid(86_400_000), milliseconds.rem_euclid(86_400_000));
        let (year, month, day) = civil_from_days(days);
        let (hour, minute) = (within / 3_600_000, within / 60_000 % 60);
        let (second, fraction) = (within / 1000 % 60, within % 1000);
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
    }
}

/// Year, month and day of a number of days since 1970-01-01.
const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + (month <= 2) as i64;
    (year, month, day)
}

/// A span of wall-clock time: from `begin`, which belongs to it, to `end`, which does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallSpan {
    /// The first moment.
    pub begin: WallTime,
    /// The first moment after it.
    pub end: WallTime,
}

impl WallSpan {
    /// All time.
    pub const ALL: Self = Self { begin: WallTime(i64::MIN), end: WallTime(i64::MAX) };

    /// Whether `moment` lies within.
    pub const fn contains(self, moment: WallTime) -> bool {
        self.begin.0 <= moment.0 && moment.0 < self.end.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_in_utc() {
        assert_eq!(WallTime(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(WallTime::from_seconds(1_210_204_800).to_string(), "2008-05-08T00:00:00.000Z");
        assert_eq!(WallTime(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(WallTime::from_seconds(951_782_400).to_string(), "2000-02-29T00:00:00.000Z");
    }

    #[test]
    fn people_read_moments_to_the_minute_or_the_second() {
        let of = |seconds| WallTime::from_seconds(seconds).in_words();
        assert_eq!([of(1_210_256_100), of(1_210_256_103)], ["2008-05-08 14:15", "2008-05-08 14:15:03"]);
        assert_eq!(WallTime::from_seconds(1_210_256_100).to_second(), "2008-05-08 14:15:00");
    }

    #[test]
    fn differences_do_not_overflow() {
        assert_eq!(WallTime(5).since(WallTime(7)), Nanoseconds::ZERO);
        assert_eq!(WallTime(i64::MAX).since(WallTime(i64::MIN)), Nanoseconds(u64::MAX));
        assert!(WallSpan::ALL.contains(WallTime(0)));
    }
}
