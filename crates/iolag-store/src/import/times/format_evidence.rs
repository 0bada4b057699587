//! What all times of a file together say about their format.

use std::collections::BTreeMap;

use super::moments::civil;
use super::time_text::TimeReading;
use crate::import::error::ImportError;
use crate::import::options::time_options::TimeFormat;
use crate::import::rows::RawTime;

/// Plausible numbers of seconds since 1970: from 1980 to 2100. Ranges of different units do not meet.
const PLAUSIBLE_SECONDS: std::ops::Range<u64> = 315_532_800..4_102_444_800;

/// What has to be known to tell formats apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    Number,
    Instant,
    Civil,
    Slashed,
    Named,
    Yearless,
}

impl Family {
    const fn of(reading: &TimeReading) -> Self {
        match reading {
            TimeReading::Number(_) => Self::Number,
            TimeReading::Instant(_) => Self::Instant,
            TimeReading::Civil(_) => Self::Civil,
            TimeReading::Slashed { .. } => Self::Slashed,
            TimeReading::Named { .. } => Self::Named,
            TimeReading::Yearless { .. } => Self::Yearless,
        }
    }
}

/// A row that shows something.
#[derive(Debug, Clone)]
struct Shown {
    line: u64,
    text: String,
}

impl Shown {
    fn of(raw: RawTime<'_>) -> Self {
        Self { line: raw.line, text: raw.text.to_owned() }
    }
}

/// What all times together say about their format.
#[derive(Default)]
pub(super) struct Evidence {
    pub counts: BTreeMap<Family, u64>,
    /// The first row that cannot be read, else the first one.
    unread: Option<Shown>,
    is_any_unread: bool,
    /// The first number.
    number: Option<Shown>,
    /// How many numbers are plausible in each of [`UNITS`].
    plausible: [u64; 4],
    day_first: Option<Shown>,
    month_first: Option<Shown>,
    /// The first row in which day and month are not the same, and what it may be.
    differing: Option<(Shown, TimeReading)>,
}

/// How many of each unit of numbers are in a second.
const UNITS: [(fn() -> TimeFormat, u64); 4] = [
    (|| TimeFormat::EpochSeconds, 1),
    (|| TimeFormat::EpochMilliseconds, 1_000),
    (|| TimeFormat::EpochMicroseconds, 1_000_000),
    (|| TimeFormat::EpochNanoseconds, 1_000_000_000),
];

impl Evidence {
    pub fn look_at(&mut self, raw: RawTime<'_>, reading: Option<TimeReading>) {
        if self.unread.is_none() || reading.is_none() && !self.is_any_unread {
            self.unread = Some(Shown::of(raw));
            self.is_any_unread = reading.is_none();
        }
        let Some(reading) = reading else { return };
        *self.counts.entry(Family::of(&reading)).or_default() += 1;
        match &reading {
            TimeReading::Number(number) => {
                self.number.get_or_insert_with(|| Shown::of(raw));
                let number = number.times(1).unwrap_or(0);
                for (count, (_, scale)) in self.plausible.iter_mut().zip(UNITS) {
                    let range = PLAUSIBLE_SECONDS.start * scale..PLAUSIBLE_SECONDS.end * scale;
                    *count += u64::from(range.contains(&number));
                }
            }
            TimeReading::Slashed { first, second, mark, .. } => {
                if *mark == b'.' || *first > 12 {
                    self.day_first.get_or_insert_with(|| Shown::of(raw));
                } else if *second > 12 {
                    self.month_first.get_or_insert_with(|| Shown::of(raw));
                } else if first != second {
                    self.differing.get_or_insert_with(|| (Shown::of(raw), reading));
                }
            }
            _ => {}
        }
    }

    pub fn unknown(&self, file: &str) -> ImportError {
        let (line, text) = self.unread.as_ref().map_or((0, ""), |shown| (shown.line, &shown.text));
        ImportError::undecided(
            file,
            format!(
                "line {line} has the time {:?}, which has no form that iolag knows",
                crate::import::error::shortened(text)
            ),
            "is it the right column (--time COLUMN)? If so, say how times are written: --time-format '%d.%m.%Y %H:%M'",
        )
    }

    pub fn epoch_unit(&self, rows: u64, file: &str) -> Result<TimeFormat, ImportError> {
        let best = UNITS.into_iter().zip(self.plausible).max_by_key(|(_, count)| *count);
        match best {
            Some(((format, _), count)) if count * 2 >= rows => Ok(format()),
            _ => Err(ImportError::undecided(
                file,
                format!(
                    "times are numbers like {}, which are no times since 1970 in any unit",
                    self.number.as_ref().map_or("", |shown| &shown.text)
                ),
                "is it the right column (--time COLUMN)? For times since a beginning say when that was with --origin; \
                 for dates without marks say how they are written: --time-format %Y%m%d%H%M%S",
            )),
        }
    }

    pub fn order_of_day_and_month(&self, file: &str) -> Result<TimeFormat, ImportError> {
        match (&self.day_first, &self.month_first, &self.differing) {
            (Some(_), None, _) => Ok(TimeFormat::DayMonthYear),
            (None, Some(_), _) | (None, None, None) => Ok(TimeFormat::MonthDayYear),
            (Some(day), Some(month), _) => Err(two_orders(file, day, month)),
            (None, None, Some((shown, reading))) => Err(either_order(file, shown, reading)),
        }
    }
}

fn two_orders(file: &str, day: &Shown, month: &Shown) -> ImportError {
    ImportError::undecided(
        file,
        format!(
            "line {} has {:?}, where the day comes first, and line {} has {:?}, where the month does",
            day.line, day.text, month.line, month.text
        ),
        "divide the file, or say which is right with --time-format day-month-year or month-day-year and let the \
         others be left out with --skip-bad N",
    )
}

fn either_order(file: &str, shown: &Shown, reading: &TimeReading) -> ImportError {
    let date = |format| {
        civil(reading, &format)
            .map_or_else(String::new, |civil| civil.date().strftime("%-d %B %Y").to_string())
    };
    ImportError::undecided(
        file,
        format!(
            "{:?} in line {} may be {} (day-month-year) or {} (month-day-year), and no row of the file decides it",
            shown.text,
            shown.line,
            date(TimeFormat::DayMonthYear),
            date(TimeFormat::MonthDayYear)
        ),
        "say which with --time-format",
    )
}
