//! Days and hours of a place.
//!
//! [`LocalTime`] is an argument, with its changes between summer and winter, so that this crate reads no time zone.

use iolag_model::{WallSpan, WallTime};
use serde::{Deserialize, Serialize, Serializer};

const HOUR_NS: i64 = 3_600_000_000_000;
const DAY_NS: i64 = 24 * HOUR_NS;

/// How local time differs from UTC, and since when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalTime {
    first_offset_seconds: i32,
    changes: Vec<(WallTime, i32)>,
}

impl LocalTime {
    /// No difference.
    pub const UTC: Self = Self::fixed(0);

    /// Always this many seconds ahead of UTC.
    pub const fn fixed(offset_seconds: i32) -> Self {
        Self { first_offset_seconds: offset_seconds, changes: Vec::new() }
    }

    /// From `moment` on, this many seconds ahead of UTC. Changes may be told in any order.
    #[must_use]
    pub fn changing(mut self, moment: WallTime, offset_seconds: i32) -> Self {
        let place = self.changes.partition_point(|change| change.0 <= moment);
        self.changes.insert(place, (moment, offset_seconds));
        self
    }

    /// What clocks there show at `moment`.
    pub fn at(&self, moment: WallTime) -> LocalMoment {
        let local_ns = self.local_ns(moment);
        LocalMoment {
            day: Day(local_ns.div_euclid(DAY_NS)),
            hour: (local_ns.rem_euclid(DAY_NS) / HOUR_NS) as u8,
        }
    }

    /// What clocks there show at `moment`, as if it were UTC: for what is written about it.
    pub fn shown(&self, moment: WallTime) -> WallTime {
        WallTime(self.local_ns(moment))
    }

    /// A moment at which clocks there show this; where they skip it, about an hour beside it.
    pub fn moment_showing(&self, shown: WallTime) -> WallTime {
        let before =
            |guess: WallTime| WallTime(shown.0.saturating_sub(self.local_ns(guess).saturating_sub(guess.0)));
        before(before(shown))
    }

    /// Seconds that clocks there have counted since a midnight before a Monday: what a rhythm is told by.
    pub fn local_seconds(&self, moment: WallTime) -> f64 {
        // 1970-01-01 was a Thursday.
        self.local_ns(moment).saturating_add(3 * DAY_NS) as f64 / 1e9
    }

    /// What clocks there show from the begin to the end of a span, as if it were UTC. In the hour that they show twice it may seem shorter.
    pub(crate) fn shown_during(&self, span: WallSpan) -> WallSpan {
        let begin = WallTime(self.local_ns(span.begin));
        WallSpan { begin, end: WallTime(self.local_ns(span.end)).max(begin) }
    }

    fn local_ns(&self, moment: WallTime) -> i64 {
        let passed = self.changes.partition_point(|change| change.0 <= moment);
        let offset = self.changes[..passed].last().map_or(self.first_offset_seconds, |change| change.1);
        moment.0.saturating_add(i64::from(offset) * 1_000_000_000)
    }
}

/// A day and an hour of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalMoment {
    /// The day.
    pub day: Day,
    /// The hour, 0 to 23.
    pub hour: u8,
}

impl LocalMoment {
    /// Hours since Monday, midnight: 0 to 167.
    pub const fn hour_of_week(self) -> u8 {
        self.day.weekday() as u8 * 24 + self.hour
    }
}

/// Days since 1970-01-01 by local time; in files the date as in `2008-05-08`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i64);

impl Day {
    /// Which day of the week.
    pub const fn weekday(self) -> Weekday {
        // 1970-01-01 was a Thursday.
        Weekday::ALL[(self.0 + 3).rem_euclid(7) as usize]
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let midnight = WallTime(self.0.saturating_mul(DAY_NS)).to_string();
        formatter.pad(midnight.split('T').next().unwrap_or_default())
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "everybody knows them")]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Weekday {
    /// In order, Monday first (ISO 8601).
    pub const ALL: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];
}
