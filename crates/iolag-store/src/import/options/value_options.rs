//! What the caller knows about values: columns, series, units.

use std::fmt;
use std::str::FromStr;

use super::file_options::ColumnName;
use super::option_error::OptionError;

/// A column with values and its series: `COLUMN`, `COLUMN=TASK`, `COLUMN=TASK:PART@TARGET`, each with `[UNIT]` at the end if wanted.
/// In text logs a column is the number of a value after its date, or the line that stands before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ValueColumn {
    /// Which column.
    pub column: ColumnName,
    /// Task of its series.
    pub task: String,
    /// Part of the task; may be empty.
    pub part: String,
    /// Target; if absent the one of the row or of all.
    pub target: Option<String>,
    /// Unit of its cells; if absent the one of all.
    pub unit: Option<ValueUnit>,
}

impl FromStr for ValueColumn {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let error =
            || OptionError::new(text, "COLUMN=TASK, COLUMN=TASK:PART@TARGET, or one of them with [UNIT]");
        let (named, unit) = match text.trim().strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
            Some((named, unit)) => (named.trim_end(), Some(unit.parse()?)),
            None => (text.trim(), None),
        };
        if named.contains('=') && named.matches('[').count() != named.matches(']').count() {
            return Err(error());
        }
        let (column, series) = named.split_once('=').unwrap_or((named, named));
        let (name, target) = match series.split_once('@') {
            Some((name, target)) if !target.trim().is_empty() => (name, Some(target.trim().to_owned())),
            Some(_) => return Err(error()),
            None => (series, None),
        };
        // Without a series of its own a column's name is the task as it is, whatever characters it has.
        let (task, part, target) = match named.contains('=') {
            true => {
                let (task, part) = name.split_once(':').unwrap_or((name, ""));
                (task.trim(), part.trim(), target)
            }
            false => (named, "", None),
        };
        if task.is_empty() || column.trim().is_empty() {
            return Err(error());
        }
        Ok(Self { column: column.parse()?, task: task.to_owned(), part: part.to_owned(), target, unit })
    }
}

/// Unit of values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ValueUnit {
    /// Durations in seconds.
    Seconds,
    /// Durations in milliseconds.
    Milliseconds,
    /// Durations in microseconds.
    Microseconds,
    /// Durations in nanoseconds.
    Nanoseconds,
    /// Durations in minutes.
    Minutes,
    /// Durations in hours.
    Hours,
    /// Durations in days.
    Days,
    /// No durations: values of this unit, which may be empty.
    Plain(String),
}

impl ValueUnit {
    /// The unit that `word` names, if it is one of time.
    pub(crate) fn of_time(word: &str) -> Option<Self> {
        Some(match word {
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Seconds,
            "ms" | "msec" | "millisecond" | "milliseconds" => Self::Milliseconds,
            "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => Self::Microseconds,
            "ns" | "nsec" | "nanosecond" | "nanoseconds" => Self::Nanoseconds,
            "min" | "mins" | "minute" | "minutes" => Self::Minutes,
            "h" | "hour" | "hours" => Self::Hours,
            "d" | "day" | "days" => Self::Days,
            _ => return None,
        })
    }

    /// Nanoseconds of one unit, for durations.
    pub const fn nanoseconds(&self) -> Option<u64> {
        Some(match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
            Self::Minutes => 60_000_000_000,
            Self::Hours => 3_600_000_000_000,
            Self::Days => 86_400_000_000_000,
            Self::Plain(_) => return None,
        })
    }
}

impl fmt::Display for ValueUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "µs",
            Self::Nanoseconds => "ns",
            Self::Minutes => "min",
            Self::Hours => "h",
            Self::Days => "d",
            Self::Plain(unit) if unit.is_empty() => "values without a unit",
            Self::Plain(unit) => unit,
        })
    }
}

impl FromStr for ValueUnit {
    type Err = OptionError;

    /// A unit of time makes durations; `plain` and every other word make values of that unit, but not one that looks like a unit of time.
    fn from_str(text: &str) -> Result<Self, OptionError> {
        let word = text.trim();
        if word == "m" || Self::of_time(word).is_none() && Self::of_time(&word.to_lowercase()).is_some() {
            return Err(OptionError::new(
                text,
                "a unit of time as s, ms, us, ns, min, h or d, in small letters",
            ));
        }
        if word.len() > 40 || word.chars().any(char::is_control) {
            return Err(OptionError::new(
                text,
                "a unit: s, ms, us, ns, min, h, d, plain, or a word of your own such as jobs",
            ));
        }
        Ok(match Self::of_time(word) {
            Some(unit) => unit,
            None if matches!(word, "plain" | "value") => Self::Plain(String::new()),
            None => Self::Plain(word.to_owned()),
        })
    }
}

/// What stands before the fraction of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecimalMark {
    /// `0.01`; commas group thousands.
    Point,
    /// `0,01`; points group thousands.
    Comma,
}

impl FromStr for DecimalMark {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "." | "point" => Ok(Self::Point),
            "," | "comma" => Ok(Self::Comma),
            _ => Err(OptionError::new(text, "one of point, comma")),
        }
    }
}

/// What to do with rows that say the same of the same series at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdenticalRows {
    /// They are samples of their own: a coarse clock makes them.
    Keep,
    /// All but the first are left out: pieces of a log that overlap make them.
    Drop,
}

impl FromStr for IdenticalRows {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "keep" => Ok(Self::Keep),
            "drop" => Ok(Self::Drop),
            _ => Err(OptionError::new(text, "one of keep, drop")),
        }
    }
}

/// What an attempt is of which only its begin was written: a date or a time with nothing behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MissingValues {
    /// No sample: nobody knows, and a long time of it is a gap.
    Gap,
    /// An attempt that began and had not ended at the next known moment of its series.
    Hung,
}

impl FromStr for MissingValues {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "gap" => Ok(Self::Gap),
            "hung" => Ok(Self::Hung),
            _ => Err(OptionError::new(text, "one of gap, hung")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_and_days_are_durations_in_columns_as_in_cells() {
        for (word, hours) in [("h", 1), ("hours", 1), ("d", 24), ("days", 24)] {
            let unit: ValueUnit = word.parse().unwrap();
            assert_eq!(unit.nanoseconds(), Some(hours * 3_600_000_000_000), "{word}");
        }
    }

    #[test]
    fn a_value_column_names_series_target_and_unit() {
        let full: ValueColumn = "elapsed=list:ls -n@s3://bucket/a [ms]".parse().unwrap();
        assert_eq!(
            (full.column.0.as_str(), full.task.as_str(), full.part.as_str()),
            ("elapsed", "list", "ls -n")
        );
        assert_eq!(
            (full.target.as_deref(), full.unit),
            (Some("s3://bucket/a"), Some(ValueUnit::Milliseconds))
        );
        let bare: ValueColumn = "home: ls -l @ night".parse().unwrap();
        assert_eq!((bare.task.as_str(), bare.part.as_str(), bare.target), ("home: ls -l @ night", "", None));
        let jobs: ValueColumn = "3=jobs[jobs]".parse().unwrap();
        assert_eq!(jobs.unit, Some(ValueUnit::Plain("jobs".into())));
        let inner: ValueColumn = "3=list@/data[1]/x".parse().unwrap();
        assert_eq!((inner.target.as_deref(), inner.unit), (Some("/data[1]/x"), None));
        let wrong = [
            "",
            "=list",
            "x=",
            "x=list@",
            "x=@/home",
            "x=list@/a[s",
            "x=list[S]",
            "x=list[Min]",
            "x=list[m]",
        ];
        for text in wrong {
            assert!(text.parse::<ValueColumn>().is_err(), "{text}");
        }
    }
}
