//! From readings to moments: zones, offsets, years, and the hours that clocks leave out or have twice.

use std::collections::HashMap;

use iolag_model::WallTime;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone};

use super::time_text::{NamedZone, TimeReading, abbreviation_at, offset_of_abbreviation};
use crate::import::options::import_options::ImportOptions;
use crate::import::options::time_options::TimeFormat;

/// Why a time is no moment.
pub(crate) enum Refusal {
    /// This row is bad.
    Row(String),
    /// Nothing of the file can be read.
    File { what: String, advice: String },
}

impl Refusal {
    pub fn row(what: impl Into<String>) -> Self {
        Self::Row(what.into())
    }
}

/// A moment, or two of which the order of the rows decides.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    Certain(WallTime),
    Repeated { earlier: WallTime, later: WallTime },
}

/// Turns readings into moments, in the order of the file.
pub(crate) struct Resolution<'a> {
    options: &'a ImportOptions,
    format: &'a TimeFormat,
    /// The month of the last time without a year, and the year that it was given.
    last_month: Option<(i8, i16)>,
    new_years: u64,
    missing_hours: Told,
    repeated_hours: Told,
    other_abbreviations: Told,
}

/// How often something was met, and where first.
#[derive(Default)]
struct Told {
    count: u64,
    first: String,
}

impl Told {
    fn meet(&mut self, line: u64, text: &str) {
        self.count += 1;
        if self.count == 1 {
            self.first = format!("{text:?} in line {line}");
        }
    }
}

impl<'a> Resolution<'a> {
    pub fn new(options: &'a ImportOptions, format: &'a TimeFormat) -> Self {
        Self {
            options,
            format,
            last_month: None,
            new_years: 0,
            missing_hours: Told::default(),
            repeated_hours: Told::default(),
            other_abbreviations: Told::default(),
        }
    }

    /// The moment that `reading` says.
    pub fn moment(&mut self, reading: &TimeReading, line: u64, text: &str) -> Result<Moment, Refusal> {
        let wrong_form = || Refusal::row(format!("this is no time of the form {}", self.format));
        match (reading, self.format) {
            (TimeReading::Number(number), format) => {
                let factor = match format {
                    TimeFormat::EpochSeconds => 1_000_000_000,
                    TimeFormat::EpochMilliseconds => 1_000_000,
                    TimeFormat::EpochMicroseconds => 1_000,
                    TimeFormat::EpochNanoseconds => 1,
                    _ => return Err(wrong_form()),
                };
                let origin = self.options.origin.unwrap_or_default().0;
                let since = number.signed_times(factor).and_then(|since| since.checked_add(origin));
                since
                    .map(|ns| Moment::Certain(WallTime(ns)))
                    .ok_or_else(|| Refusal::row("this time is too far away"))
            }
            (TimeReading::Instant(instant), TimeFormat::Rfc3339 | TimeFormat::Strftime(_)) => {
                certain(*instant)
            }
            (TimeReading::Named { civil, zone: NamedZone::Offset(offset) }, TimeFormat::DateOutput) => {
                certain(offset.to_timestamp(*civil).map_err(|_| wrong_form())?)
            }
            (
                TimeReading::Named { civil, zone: NamedZone::Abbreviation(abbreviation) },
                TimeFormat::DateOutput,
            ) => self.abbreviated(*civil, abbreviation, line, text),
            (TimeReading::Yearless { month, day, time }, TimeFormat::Syslog | TimeFormat::Strftime(_)) => {
                let year = self.year_of(*month, text)?;
                let date = Date::new(year, *month, *day).map_err(|_| {
                    Refusal::row(format!(
                        "the year {year} has no such day; --year says which year the first line is of"
                    ))
                })?;
                self.in_zone(date.to_datetime(*time), line, text)
            }
            (reading, format) => {
                let civil = civil(reading, format).ok_or_else(wrong_form)?;
                self.in_zone(civil, line, text)
            }
        }
    }

    fn year_of(&mut self, month: i8, text: &str) -> Result<i16, Refusal> {
        let year = match (self.last_month, self.options.year) {
            (Some((11.., year)), _) if month <= 2 => {
                self.new_years += 1;
                year + 1
            }
            // Lines may be a little out of order at midnight.
            (Some((..=2, year)), _) if month >= 11 && self.new_years > 0 => return Ok(year - 1),
            (Some((_, year)), _) | (None, Some(year)) => year,
            (None, None) => {
                return Err(Refusal::File {
                    what: format!("times such as {text:?} have no year"),
                    advice: "say the year of the first line with --year".to_owned(),
                });
            }
        };
        self.last_month = Some((month, year));
        Ok(year)
    }

    /// A local time of the zone that the caller says.
    fn in_zone(&mut self, civil: DateTime, line: u64, text: &str) -> Result<Moment, Refusal> {
        let Some(zone) = &self.options.time_zone else {
            return Err(Refusal::File {
                what: format!("times such as {text:?} are local times that name no zone"),
                advice: "say which with --time-zone, for instance America/Los_Angeles, +01:00, UTC, or local for this machine's"
                    .to_owned(),
            });
        };
        let ambiguous = zone.to_ambiguous_timestamp(civil);
        let out_of_range = |_| Refusal::row("this time is too far away");
        match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } => {
                certain(offset.to_timestamp(civil).map_err(out_of_range)?)
            }
            AmbiguousOffset::Gap { before, .. } => {
                self.missing_hours.meet(line, text);
                certain(before.to_timestamp(civil).map_err(out_of_range)?)
            }
            AmbiguousOffset::Fold { before, after } => {
                self.repeated_hours.meet(line, text);
                let moment =
                    |offset: jiff::tz::Offset| wall_time(offset.to_timestamp(civil).map_err(out_of_range)?);
                Ok(Moment::Repeated { earlier: moment(before)?, later: moment(after)? })
            }
        }
    }

    /// A local time with the abbreviation of its zone: of two moments of the caller's zone the one that is so called, else the
    /// abbreviation's own offset.
    fn abbreviated(
        &mut self,
        civil: DateTime,
        abbreviation: &str,
        line: u64,
        text: &str,
    ) -> Result<Moment, Refusal> {
        if let Some(zone) = &self.options.time_zone
            && let Some(moment) = moment_called(zone, civil, abbreviation)
        {
            return certain(moment);
        }
        if let Some(offset) = offset_of_abbreviation(abbreviation) {
            return certain(
                offset.to_timestamp(civil).map_err(|_| Refusal::row("this time is too far away"))?,
            );
        }
        if self.options.time_zone.is_some() {
            self.other_abbreviations.meet(line, text);
            return self.in_zone(civil, line, text);
        }
        Err(Refusal::File {
            what: format!("{abbreviation} in {text:?} is the name of several time zones"),
            advice: "say which is meant with --time-zone, for instance Asia/Kolkata".to_owned(),
        })
    }

    /// What people should know about the zone and the years.
    pub fn notes(self) -> Vec<String> {
        let zone = self.options.time_zone.as_ref().and_then(TimeZone::iana_name).unwrap_or("the zone given");
        let mut notes = Vec::new();
        if self.missing_hours.count > 0 {
            let Told { count, first } = self.missing_hours;
            notes.push(format!(
                "times in an hour that {zone} left out when clocks were set forward: {count}, first {first}; \
                 taken as if it had not been left out; is the zone right?"
            ));
        }
        if self.repeated_hours.count > 0 {
            let Told { count, first } = self.repeated_hours;
            notes.push(format!(
                "times in an hour that {zone} had twice when clocks were set back: {count}, first {first}; \
                 told apart by the order of the rows"
            ));
        }
        if self.other_abbreviations.count > 0 {
            let Told { count, first } = self.other_abbreviations;
            notes.push(format!(
                "times with the name of a zone that {zone} does not use then: {count}, first {first}; taken as times of {zone}"
            ));
        }
        if self.new_years > 0 {
            let years = if self.new_years == 1 {
                "one new year".to_owned()
            } else {
                format!("{} new years", self.new_years)
            };
            notes.push(format!("the lines pass {years}, told by January following December"));
        }
        notes
    }
}

fn wall_time(instant: Timestamp) -> Result<WallTime, Refusal> {
    i64::try_from(instant.as_nanosecond())
        .map(WallTime)
        .map_err(|_| Refusal::row("this time is too far away"))
}

fn certain(instant: Timestamp) -> Result<Moment, Refusal> {
    wall_time(instant).map(Moment::Certain)
}

/// The local time that `reading` says if it has `format`.
pub(crate) fn civil(reading: &TimeReading, format: &TimeFormat) -> Option<DateTime> {
    match (reading, format) {
        (TimeReading::Civil(civil), TimeFormat::YearMonthDay | TimeFormat::Strftime(_)) => Some(*civil),
        (TimeReading::Named { civil, zone: NamedZone::Absent }, TimeFormat::DateOutput) => Some(*civil),
        (TimeReading::Slashed { first, second, year, time, .. }, TimeFormat::DayMonthYear) => {
            Some(Date::new(*year, *second, *first).ok()?.to_datetime(*time))
        }
        (TimeReading::Slashed { first, second, year, time, .. }, TimeFormat::MonthDayYear) => {
            Some(Date::new(*year, *first, *second).ok()?.to_datetime(*time))
        }
        _ => None,
    }
}

fn moment_called(zone: &TimeZone, civil: DateTime, abbreviation: &str) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(civil);
    let candidates = match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { offset } => [Some(offset), None],
        AmbiguousOffset::Gap { .. } => [None, None],
        AmbiguousOffset::Fold { before, after } => [Some(before), Some(after)],
    };
    candidates
        .into_iter()
        .flatten()
        .filter_map(|offset| offset.to_timestamp(civil).ok())
        .find(|moment| abbreviation_at(zone, *moment) == abbreviation)
}

/// Whether times of one group mostly go forward.
#[derive(Default)]
pub(crate) struct Direction {
    last_of_group: HashMap<u32, WallTime>,
    balance: i64,
}

impl Direction {
    /// Takes one more moment into account.
    pub fn look_at(&mut self, moment: Moment, group: u32) {
        if let Moment::Certain(time) = moment
            && let Some(last) = self.last_of_group.insert(group, time)
        {
            self.balance += (time > last) as i64 - (time < last) as i64;
        }
    }

    pub const fn ascends(&self) -> bool {
        self.balance >= 0
    }
}

/// Decides which of two moments the times of a repeated hour are: in files that ascend, the first one that does not go back; in files
/// that descend, the last one that does not go forward.
pub(crate) struct RepeatedHours {
    ascends: bool,
    last_of_group: HashMap<u32, WallTime>,
}

impl RepeatedHours {
    /// For a file whose steps within a group mostly go forward, or not.
    pub fn new(ascends: bool) -> Self {
        Self { ascends, last_of_group: HashMap::new() }
    }

    /// The time of the next moment of the file.
    pub fn decide(&mut self, moment: Moment, group: u32) -> WallTime {
        let time = match moment {
            Moment::Certain(time) => time,
            Moment::Repeated { earlier, later } => match self.last_of_group.get(&group) {
                Some(last) if self.ascends => {
                    if earlier < *last {
                        later
                    } else {
                        earlier
                    }
                }
                Some(last) => {
                    if later > *last {
                        earlier
                    } else {
                        later
                    }
                }
                None if self.ascends => earlier,
                None => later,
            },
        };
        self.last_of_group.insert(group, time);
        time
    }
}
