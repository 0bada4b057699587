//! One time as it is written: what can be read from it alone, without zone, year, or the order of day and month.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};

use crate::import::options::time_options::parse_offset;
use crate::import::values::decimal::Decimal;

/// What a text says about a time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TimeReading {
    /// A number of something since some moment.
    Number(Decimal),
    /// A date and time with an offset.
    Instant(Timestamp),
    /// A date and time of some zone.
    Civil(DateTime),
    /// Two numbers of which one is the day and one the month.
    Slashed {
        first: i8,
        second: i8,
        year: i16,
        time: Time,
        /// `/`, `-` or `.`; with points the day comes first everywhere.
        mark: u8,
    },
    /// With the month as a word.
    Named { civil: DateTime, zone: NamedZone },
    /// The same without a year.
    Yearless { month: i8, day: i8, time: Time },
}

/// What a date in words says about its zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NamedZone {
    /// Nothing.
    Absent,
    /// An offset.
    Offset(Offset),
    /// An abbreviation such as PDT.
    Abbreviation(String),
}

/// Longest text that can be a time.
const LENGTH_MAX: usize = 64;
/// Years that a date may have.
const YEARS: std::ops::RangeInclusive<i16> = 1970..=2261;

/// Reads `text` in whatever form it has.
pub(crate) fn read_time(text: &str) -> Option<TimeReading> {
    let text = text.trim();
    if text.is_empty() || text.len() > LENGTH_MAX || !text.is_ascii() {
        return None;
    }
    if let Some(number) = Decimal::parse(text) {
        return Some(TimeReading::Number(number));
    }
    if text.as_bytes()[0].is_ascii_digit()
        && let Some(reading) = read_numeric_date(text)
    {
        return Some(reading);
    }
    read_named_date(text)
}

/// Reads `text` by a format of strftime.
pub(crate) fn read_by_format(format: &str, text: &str) -> Option<TimeReading> {
    from_broken_down(&BrokenDownTime::parse(format, text.trim()).ok()?)
}

/// Reads the beginning of `line` by a format of strftime; says how many bytes that took.
pub(crate) fn read_prefix_by_format(format: &str, line: &str) -> Option<(TimeReading, usize)> {
    let (broken_down, length) = BrokenDownTime::parse_prefix(format, line).ok()?;
    Some((from_broken_down(&broken_down)?, length))
}

fn from_broken_down(broken_down: &BrokenDownTime) -> Option<TimeReading> {
    if broken_down.timestamp().is_some() || broken_down.offset().is_some() {
        return broken_down.to_timestamp().ok().map(TimeReading::Instant);
    }
    if broken_down.iana_time_zone().is_some() {
        return broken_down.to_zoned().ok().map(|zoned| TimeReading::Instant(zoned.timestamp()));
    }
    match broken_down.to_datetime() {
        Ok(civil) => Some(TimeReading::Civil(civil)),
        Err(_) => match (broken_down.to_date(), broken_down.year(), broken_down.month(), broken_down.day()) {
            (Ok(date), ..) => Some(TimeReading::Civil(date.to_datetime(Time::midnight()))),
            (Err(_), None, Some(month), Some(day)) => {
                Some(TimeReading::Yearless { month, day, time: broken_down.to_time().ok()? })
            }
            _ => None,
        },
    }
}

/// `2008-05-08T14:15:02.5+02:00`, `2008/05/08 14:15`, `05/08/2008 2:15 PM`, `08.05.2008`.
fn read_numeric_date(text: &str) -> Option<TimeReading> {
    let mut scan = Scan { rest: text };
    let (first, first_length) = scan.number()?;
    let mark = scan.one_of(b"-/.")?;
    let (second, second_length) = scan.number()?;
    scan.one_of(&[mark])?;
    let (third, third_length) = scan.number()?;
    let (year_first, third_expected) = if first_length == 4 { (true, 1..=2) } else { (false, 4..=4) };
    if !(year_first || first_length <= 2) || second_length > 2 || !third_expected.contains(&third_length) {
        return None;
    }
    let (time, offset) = scan.time_of_day()?;
    if year_first {
        let civil = date(first, second, third)?.to_datetime(time);
        return match offset {
            Some(offset) => offset.to_timestamp(civil).ok().map(TimeReading::Instant),
            None => Some(TimeReading::Civil(civil)),
        };
    }
    let (first, second) = (i8::try_from(first).ok()?, i8::try_from(second).ok()?);
    let year = i16::try_from(third).ok().filter(|year| YEARS.contains(year))?;
    let possible = |day: i8, month: i8| Date::new(year, month, day).is_ok();
    if offset.is_some() || !(possible(first, second) || possible(second, first)) {
        return None;
    }
    Some(TimeReading::Slashed { first, second, year, time, mark })
}

fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let year = i16::try_from(year).ok().filter(|year| YEARS.contains(year))?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

struct Scan<'a> {
    rest: &'a str,
}

impl Scan<'_> {
    fn number(&mut self) -> Option<(u32, usize)> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 || length > 9 {
            return None;
        }
        let number = self.rest[..length].parse().ok()?;
        self.rest = &self.rest[length..];
        Some((number, length))
    }

    fn one_of(&mut self, marks: &[u8]) -> Option<u8> {
        let mark = self.rest.bytes().next().filter(|byte| marks.contains(byte))?;
        self.rest = &self.rest[1..];
        Some(mark)
    }

    /// The rest of a text after its date: nothing, or a time of day, and an offset behind it.
    fn time_of_day(mut self) -> Option<(Time, Option<Offset>)> {
        if self.rest.is_empty() {
            return Some((Time::midnight(), None));
        }
        self.one_of(b"T t_,")?;
        let rest = self.rest.trim_start();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_digit() || b":.,".contains(byte)).count();
        let (clock, behind) = rest.split_at(length);
        let behind = behind.trim_start();
        let (half, zone) = match behind.get(..2).map(str::to_ascii_uppercase).as_deref() {
            Some(half @ ("AM" | "PM")) => (Some(half == "PM"), behind[2..].trim_start()),
            _ => (None, behind),
        };
        let offset = match zone {
            "" => None,
            "Z" | "z" | "UTC" | "GMT" => Some(Offset::UTC),
            // An offset may be followed by the name of the zone in brackets, as Java prints it.
            _ => Some(parse_offset(zone.split('[').next()?)?),
        };
        Some((read_clock(clock, half)?, offset))
    }
}

/// `14:15`, `14:15:02`, `14:15:02.123`, `14:15:02,123`; `afternoon` for clocks of twelve hours.
fn read_clock(text: &str, afternoon: Option<bool>) -> Option<Time> {
    let mut parts = text.splitn(3, ':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let (second, fraction) = second.split_once(['.', ',']).unwrap_or((second, ""));
    let number = |text: &str| -> Option<i8> {
        (!text.is_empty() && text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse().ok())
            .flatten()
    };
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanosecond = format!("{fraction:0<9}")[..9].parse().ok()?;
    let hour = match (number(hour)?, afternoon) {
        (hour, None) => hour,
        (hour @ 1..=12, Some(afternoon)) => hour % 12 + if afternoon { 12 } else { 0 },
        _ => return None,
    };
    // A leap second counts as the second before it, as in the clocks of POSIX.
    Time::new(hour, number(minute)?, number(second)?.min(if second == "60" { 59 } else { 127 }), nanosecond)
        .ok()
}

/// `Thu May  8 14:15:02 PDT 2008`, `Thu 08 May 2008 02:15:02 PM PDT`, `8-May-2008 14:15`, `May  8 14:15:02`, in any order.
fn read_named_date(text: &str) -> Option<TimeReading> {
    let mut found = NamedParts::default();
    for token in text.split([' ', ',']).filter(|token| !token.is_empty()) {
        let pieces: Vec<&str> = token.split('-').collect();
        match pieces[..] {
            [day, month, year] if month_number(month).is_some() => {
                found.take(day)?;
                found.take(month)?;
                found.take(year)?;
            }
            _ => found.take(token)?,
        }
    }
    found.reading()
}

#[derive(Default)]
struct NamedParts<'a> {
    weekday: bool,
    month: Option<i8>,
    day: Option<i8>,
    year: Option<i16>,
    clock: Option<&'a str>,
    afternoon: Option<bool>,
    zone: Option<NamedZone>,
}

impl<'a> NamedParts<'a> {
    /// Finds the place of `token`; nothing if it has none or that is taken.
    fn take(&mut self, token: &'a str) -> Option<()> {
        let is_number = token.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && token.len() <= 2 && self.day.is_none() {
            self.day = Some(token.parse().ok().filter(|day| (1..=31).contains(day))?);
        } else if is_number && token.len() == 4 && self.year.is_none() {
            self.year = Some(token.parse().ok().filter(|year| YEARS.contains(year))?);
        } else if token.contains(':') && self.clock.is_none() {
            self.clock = Some(token);
        } else if let Some(month) = month_number(token).filter(|_| self.month.is_none()) {
            self.month = Some(month);
        } else if is_weekday(token) && !self.weekday {
            self.weekday = true;
        } else if let ("AM" | "PM" | "am" | "pm", None) = (token, self.afternoon) {
            self.afternoon = Some(token.eq_ignore_ascii_case("pm"));
        } else if self.zone.is_none() && self.clock.is_some() {
            let abbreviation =
                (2..=5).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_uppercase());
            self.zone = Some(match parse_offset(token) {
                Some(offset) => NamedZone::Offset(offset),
                None if abbreviation => NamedZone::Abbreviation(token.to_owned()),
                None => return None,
            });
        } else {
            return None;
        }
        Some(())
    }

    fn reading(self) -> Option<TimeReading> {
        let (month, day) = (self.month?, self.day?);
        let time = match self.clock {
            Some(clock) => read_clock(clock, self.afternoon)?,
            // Without a clock only a whole date is one: `May 8` may be anything.
            None if self.year.is_some() && self.afternoon.is_none() => Time::midnight(),
            None => return None,
        };
        let zone = self.zone.unwrap_or(NamedZone::Absent);
        match self.year {
            Some(year) => {
                Some(TimeReading::Named { civil: Date::new(year, month, day).ok()?.to_datetime(time), zone })
            }
            // February 29 exists in some years only; which year is not known here.
            None if zone == NamedZone::Absent && Date::new(2000, month, day).is_ok() => {
                Some(TimeReading::Yearless { month, day, time })
            }
            None => None,
        }
    }
}

fn month_number(token: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let token = token.trim_end_matches('.').to_ascii_lowercase();
    let position =
        MONTHS.iter().position(|month| token == *month || (token.len() == 3 && month.starts_with(&token)))?;
    i8::try_from(position + 1).ok()
}

fn is_weekday(token: &str) -> bool {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let token = token.to_ascii_lowercase();
    DAYS.iter().any(|day| token == *day || (token.len() == 3 && day.starts_with(&token)))
}

/// The offset of an abbreviation that means the same everywhere: those of RFC 2822, section 4.3, and the European ones. Others mean
/// several zones.
pub(crate) fn offset_of_abbreviation(abbreviation: &str) -> Option<Offset> {
    let hours = match abbreviation {
        "UTC" | "UT" | "GMT" | "WET" => 0,
        "CET" | "MET" | "WEST" => 1,
        "CEST" | "MEST" | "EET" => 2,
        "EEST" => 3,
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        _ => return None,
    };
    Offset::from_hours(hours).ok()
}

/// The abbreviation that `zone` uses at `moment`.
pub(crate) fn abbreviation_at(zone: &TimeZone, moment: Timestamp) -> String {
    zone.to_offset_info(moment).abbreviation().to_owned()
}

#[cfg(test)]
mod tests {
    use jiff::civil;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_is_read() {
        let afternoon = civil::date(2008, 5, 8).at(14, 15, 2, 0);
        let minute = civil::date(2008, 5, 8).at(14, 15, 0, 0);
        let absent = |civil| TimeReading::Named { civil, zone: NamedZone::Absent };
        let pacific = |civil| TimeReading::Named { civil, zone: NamedZone::Abbreviation("PDT".into()) };
        let slashed =
            |mark| TimeReading::Slashed { first: 5, second: 8, year: 2008, time: minute.time(), mark };
        for (text, reading) in [
            ("2008-05-08 14:15", TimeReading::Civil(minute)),
            ("2008/05/08 14:15:02", TimeReading::Civil(afternoon)),
            (
                "2008-05-08T14:15:02.123",
                TimeReading::Civil(civil::date(2008, 5, 8).at(14, 15, 2, 123_000_000)),
            ),
            (
                "2008-05-08 14:15:02,123",
                TimeReading::Civil(civil::date(2008, 5, 8).at(14, 15, 2, 123_000_000)),
            ),
            ("2008-05-08", TimeReading::Civil(civil::date(2008, 5, 8).at(0, 0, 0, 0))),
            ("2008-05-08T14:15:02Z", TimeReading::Instant("2008-05-08T14:15:02Z".parse().unwrap())),
            ("2008-05-08 14:15:02 +0200", TimeReading::Instant("2008-05-08T12:15:02Z".parse().unwrap())),
            ("05/08/2008 14:15", slashed(b'/')),
            ("5/8/2008 2:15 PM", slashed(b'/')),
            ("05.08.2008, 14:15", slashed(b'.')),
            ("Thu May  8 14:15:02 PDT 2008", pacific(afternoon)),
            ("Thu May  8 14:15:02 2008", absent(afternoon)),
            ("Thu 08 May 2008 02:15:02 PM PDT", pacific(afternoon)),
            ("8-May-2008 14:15", absent(minute)),
            ("May  8 14:15:02", TimeReading::Yearless { month: 5, day: 8, time: afternoon.time() }),
            ("Feb 29 00:00:00", TimeReading::Yearless { month: 2, day: 29, time: Time::midnight() }),
        ] {
            assert_eq!(read_time(text), Some(reading), "{text}");
        }
        let rfc = read_time("Thu, 08 May 2008 14:15:02 +0200");
        assert!(matches!(rfc, Some(TimeReading::Named { zone: NamedZone::Offset(_), .. })), "{rfc:?}");
        assert!(matches!(read_time("1210204800.25"), Some(TimeReading::Number(_))));
    }

    #[test]
    fn what_is_no_time_is_not_read() {
        for text in [
            "",
            "time",
            "2008-13-08",
            "2008-05-08 25:00",
            "31/31/2008",
            "May 32 14:15:02",
            "May 8",
            "may be",
            "Thu May 8 14:15:02 5",
            "Thu May  8 14:15:02 2008 real",
            "14:15",
            "2008-05-08 14:15 0.01",
            "1.2.3",
            "Mai 8 14:15:02",
            "2008-05-08x14:15",
            "٣",
            "13:15 PM 5/8/2008",
            "5/8/2008 13:15 PM",
        ] {
            assert_eq!(read_time(text), None, "{text}");
        }
    }

    #[test]
    fn formats_of_strftime_give_instants_dates_and_yearless_dates() {
        assert_eq!(
            read_by_format("%d/%b/%Y:%H:%M:%S %z", "08/May/2008:14:15:02 -0700"),
            Some(TimeReading::Instant("2008-05-08T21:15:02Z".parse().unwrap()))
        );
        let civil = civil::date(2008, 5, 8).at(14, 15, 0, 0);
        assert_eq!(read_by_format("%Y%m%d%H%M", "200805081415"), Some(TimeReading::Civil(civil)));
        assert_eq!(read_by_format("%s", "0"), Some(TimeReading::Instant(Timestamp::UNIX_EPOCH)));
        assert!(matches!(read_by_format("%b %d %H:%M", "May 08 14:15"), Some(TimeReading::Yearless { .. })));
        assert_eq!(read_prefix_by_format("%H.%M", "nonsense"), None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in ".{0,80}", format in "[%a-zA-Z :]{0,12}") {
            let _ = read_time(&text);
            let _ = read_by_format(&format, &text);
            let _ = read_prefix_by_format(&format, &text);
        }

        #[test]
        fn nearly_dates_are_no_trouble(text in "[0-9]{1,4}[-/.][0-9]{1,3}[-/.][0-9]{1,5}[T ]?[0-9:.,]{0,12} ?[APMZ+0-9:-]{0,7}") {
            let _ = read_time(&text);
        }
    }
}
