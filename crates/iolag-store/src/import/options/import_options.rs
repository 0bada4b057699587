//! What the caller knows about a file; everything that is not said is guessed from the whole file and shown.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use iolag_model::{Nanoseconds, WallTime};
use jiff::tz::{Offset, TimeZone};

use super::value_options::{DecimalMark, IdenticalRows, MissingValues, ValueColumn, ValueUnit};

/// What the caller knows about a file.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Host name of the machine that measured; events of the journal name their own.
    pub host: String,
    /// What kind of file it is; guessed from its beginning if absent.
    pub form: Option<ImportForm>,
    /// What stands between two columns; guessed if absent.
    pub separator: Option<Separator>,
    /// Whether the first line names the columns.
    pub header: HeaderRow,
    /// Lines that begin with this character are not read.
    pub comment: Option<char>,
    /// Column of the time, by name or number from 1. Several are joined by a space, for files with date and time of day apart. If
    /// empty: a column named like a time, else the first one.
    pub time: Vec<ColumnName>,
    /// How times are written; guessed from all rows if absent.
    pub time_format: Option<TimeFormat>,
    /// Time zone of times that name none. Without it such times are refused: a wrong zone would shift years of data unseen.
    pub time_zone: Option<TimeZone>,
    /// Year of the first line, for times without a year (syslog).
    pub year: Option<i16>,
    /// What is added to times that are numbers: when it began, for times counted from the beginning of a measurement.
    pub origin: Option<WallTime>,
    /// Which columns are values, and of which series.
    pub values: Vec<ValueColumn>,
    /// Unit of values that name none; guessed from the cells and the column's name if absent, else seconds.
    pub unit: Option<ValueUnit>,
    /// What stands before the fraction; guessed if absent.
    pub decimal_mark: Option<DecimalMark>,
    /// Task of the series that has no other name.
    pub task: String,
    /// Target of series that name none; may be empty.
    pub target: String,
    /// Column that names the series, where every row belongs to another one.
    pub task_column: Option<ColumnName>,
    /// Column that names the target of a row.
    pub target_column: Option<ColumnName>,
    /// Column that says how it ended: `ok` or 0, `timeout` or 124, anything else is an error.
    pub status_column: Option<ColumnName>,
    /// A regular expression with the groups `time` and `value`, and if wanted `task`, `target`, `part` and `status`.
    pub pattern: Option<String>,
    /// What the clock could tell from zero; guessed from the digits if absent.
    pub resolution: Option<Nanoseconds>,
    /// A duration that reaches this was ended there: it is a time-out, and truly took at least so long. One that is more than a twentieth
    /// longer ended by itself, late.
    pub deadline: Option<Nanoseconds>,
    /// What to do with rows that say the same of the same series at the same time.
    pub identical_rows: IdenticalRows,
    /// What a duration is of which only the begin was written.
    pub missing: MissingValues,
    /// Rows that may be unreadable and are left out; one more and nothing is imported.
    pub bad_rows_max: u64,
    /// Largest file that is read, in bytes. The journal is read line by line and has no such limit.
    pub bytes_max: u64,
    /// Where what does not fit into memory is put aside, several times the size of a file, in files without a name.
    pub directory: Arc<Path>,
    /// Who says so, for events that name no author.
    pub author: String,
}

impl ImportOptions {
    /// Nothing is known but where it was measured.
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            form: None,
            separator: None,
            header: HeaderRow::Guess,
            comment: Some('#'),
            time: Vec::new(),
            time_format: None,
            time_zone: None,
            year: None,
            origin: None,
            values: Vec::new(),
            unit: None,
            decimal_mark: None,
            task: "imported".to_owned(),
            target: String::new(),
            task_column: None,
            target_column: None,
            status_column: None,
            pattern: None,
            resolution: None,
            deadline: None,
            identical_rows: IdenticalRows::Keep,
            missing: MissingValues::Gap,
            bad_rows_max: 0,
            bytes_max: 1 << 30,
            directory: Arc::from(Path::new("/tmp")),
            author: String::new(),
        }
    }
}

/// A text that is none of the values of an option, with what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {expected}")]
pub struct OptionError {
    text: String,
    expected: &'static str,
}

impl OptionError {
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImportForm {
    /// Columns with a separator: CSV and its relatives.
    Separated,
    /// What Grafana exports: a separated file in which every column but the time is a series, or every row names its series.
    Grafana,
    /// Lines of a time and a value, or a date line followed by what time(1) printed.
    Text,
    /// Lines that a regular expression matches.
    Pattern,
    /// Columns with events: time, end, text, kind, target, link, host, author.
    EventList,
    /// What `journalctl -o json` prints.
    Journal,
}

impl ImportForm {
    /// All forms.
    pub const ALL: [Self; 6] =
        [Self::Separated, Self::Grafana, Self::Text, Self::Pattern, Self::EventList, Self::Journal];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Separated => "csv",
            Self::Grafana => "grafana",
            Self::Text => "text",
            Self::Pattern => "pattern",
            Self::EventList => "events",
            Self::Journal => "journal",
        }
    }
}

impl FromStr for ImportForm {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let found = Self::ALL.into_iter().find(|form| form.name() == text);
        found.ok_or_else(|| OptionError::new(text, "one of csv, grafana, text, pattern, events, journal"))
    }
}

/// What stands between two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Separator {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
    /// `|`
    Bar,
    /// Any number of spaces and tabs.
    Spaces,
}

impl Separator {
    /// All separators, in the order in which they are tried.
    pub const ALL: [Self; 5] = [Self::Tab, Self::Semicolon, Self::Comma, Self::Bar, Self::Spaces];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comma => "comma",
            Self::Semicolon => "semicolon",
            Self::Tab => "tab",
            Self::Bar => "bar",
            Self::Spaces => "spaces",
        }
    }

    /// The byte, if it is one.
    pub(crate) const fn byte(self) -> Option<u8> {
        match self {
            Self::Comma => Some(b','),
            Self::Semicolon => Some(b';'),
            Self::Tab => Some(b'\t'),
            Self::Bar => Some(b'|'),
            Self::Spaces => None,
        }
    }
}

impl FromStr for Separator {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "," | "comma" => Ok(Self::Comma),
            ";" | "semicolon" => Ok(Self::Semicolon),
            "\t" | "\\t" | "tab" => Ok(Self::Tab),
            "|" | "bar" => Ok(Self::Bar),
            " " | "space" | "spaces" => Ok(Self::Spaces),
            _ => Err(OptionError::new(text, "one of comma, semicolon, tab, bar, spaces")),
        }
    }
}

/// Whether the first line names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderRow {
    /// It does if its time is no time, or an option names a column.
    Guess,
    /// It does.
    Present,
    /// It does not: columns are numbered.
    Absent,
}

/// A column: the name in the header, else the number from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName(pub String);

impl ColumnName {
    /// The number from 1, if it can be one.
    pub(crate) fn number(&self) -> Option<usize> {
        self.0.parse().ok().filter(|number| *number > 0)
    }
}

impl FromStr for ColumnName {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text.trim() {
            "" => Err(OptionError::new(text, "the name of a column or its number from 1")),
            name => Ok(Self(name.to_owned())),
        }
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

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
    fn names_of_options_come_back() {
        for form in ImportForm::ALL {
            assert_eq!(form.name().parse(), Ok(form));
        }
        for separator in Separator::ALL {
            assert_eq!(separator.name().parse(), Ok(separator));
        }
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
