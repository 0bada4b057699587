//! What the caller knows about times: how they are written, and in which zone.

use std::fmt;
use std::str::FromStr;

use jiff::tz::{Offset, TimeZone};

use super::option_error::OptionError;

/// How times are written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TimeFormat {
    /// Seconds since 1970, with or without a fraction.
    EpochSeconds,
    /// Milliseconds since 1970.
    EpochMilliseconds,
    /// Microseconds since 1970.
    EpochMicroseconds,
    /// Nanoseconds since 1970.
    EpochNanoseconds,
    /// `2008-05-08T14:15:02Z`, `2008-05-08 14:15:02.5+02:00`: a date, a time of day and an offset.
    Rfc3339,
    /// `2008-05-08 14:15`, `2008/05/08 14:15:16.123`: a date and a time of day of some zone.
    YearMonthDay,
    /// `05/08/2008 14:15`, `5/8/2008 2:15 PM`, month first.
    MonthDayYear,
    /// `08/05/2008 14:15`, `08.05.2008 14:15`, day first.
    DayMonthYear,
    /// What date(1) prints: `Thu May  8 14:15:02 PDT 2008`, and other texts that name the month.
    DateOutput,
    /// `May  8 14:15:02`, without a year.
    Syslog,
    /// A format of strftime.
    Strftime(String),
}

impl TimeFormat {
    const NAMED: [(&'static str, Self); 10] = [
        ("epoch-s", Self::EpochSeconds),
        ("epoch-ms", Self::EpochMilliseconds),
        ("epoch-us", Self::EpochMicroseconds),
        ("epoch-ns", Self::EpochNanoseconds),
        ("rfc3339", Self::Rfc3339),
        ("year-month-day", Self::YearMonthDay),
        ("month-day-year", Self::MonthDayYear),
        ("day-month-year", Self::DayMonthYear),
        ("date", Self::DateOutput),
        ("syslog", Self::Syslog),
    ];
}

impl fmt::Display for TimeFormat {
    /// The name on the command line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strftime(format) => formatter.write_str(format),
            named => {
                let found = Self::NAMED.iter().find(|(_, format)| format == named);
                formatter.write_str(found.map_or("", |(name, _)| name))
            }
        }
    }
}

impl FromStr for TimeFormat {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        if text.contains('%') {
            return Ok(Self::Strftime(text.to_owned()));
        }
        let found = Self::NAMED.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, format)| format).ok_or_else(|| {
            OptionError::new(
                text,
                "one of epoch-s, epoch-ms, epoch-us, epoch-ns, rfc3339, year-month-day, month-day-year, \
                 day-month-year, date, syslog, or a format of strftime such as %d.%m.%Y %H:%M",
            )
        })
    }
}

/// Reads a time zone: a name such as `America/Los_Angeles`, an offset such as `+02:00`, `UTC`, or `local` for this machine's.
///
/// # Errors
/// If this machine knows no such zone.
pub fn parse_time_zone(text: &str) -> Result<TimeZone, OptionError> {
    let error = || {
        OptionError::new(
            text,
            "a time zone that this machine knows, such as Europe/Berlin, +02:00, UTC or local (names need the zone files of the system, package tzdata)",
        )
    };
    match text {
        "UTC" | "utc" | "Z" => Ok(TimeZone::UTC),
        "local" => TimeZone::try_system().map_err(|_| error()),
        _ => match text.as_bytes().first() {
            Some(b'+' | b'-') => parse_offset(text).map(TimeZone::fixed).ok_or_else(error),
            _ => TimeZone::get(text).map_err(|_| error()),
        },
    }
}

/// Reads `+02:00`, `-0730` or `+02`.
pub(crate) fn parse_offset(text: &str) -> Option<Offset> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = match digits.len() {
        2 => (digits, "0"),
        4 if digits.is_ascii() => digits.split_at(2),
        5 => digits.split_once(':').filter(|(hours, _)| hours.len() == 2)?,
        _ => return None,
    };
    let number = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i32>().ok()).flatten()
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if hours > 15 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_formats_come_back() {
        for (name, format) in TimeFormat::NAMED {
            assert_eq!(format.to_string(), name);
            assert_eq!(name.parse(), Ok(format));
        }
        let error = "when".parse::<TimeFormat>().unwrap_err().to_string();
        assert!(error.starts_with("\"when\" is not one of epoch-s"), "{error}");
    }

    #[test]
    fn zones_are_names_or_offsets() {
        assert_eq!(parse_offset("+02:00").unwrap().seconds(), 7200);
        assert_eq!(parse_offset("-0730").unwrap().seconds(), -27_000);
        assert!(
            parse_offset("+2:000").is_none()
                && parse_offset("+25:00").is_none()
                && parse_offset("+ä1").is_none()
        );
        assert!(parse_time_zone("Europe/Berlin").is_ok());
        assert!(parse_time_zone("Europe/Atlantis").unwrap_err().to_string().contains("tzdata"));
    }
}
