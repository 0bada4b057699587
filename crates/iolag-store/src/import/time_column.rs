//! All times of a file: which format they have, and which moments they are.
//!
//! Invariants: a format is decided from all rows, never from the first ones; what two readings fit is refused and both are shown;
//! times of a zone that has no such time, or has it twice, are counted and told.

use std::collections::BTreeMap;

use iolag_model::WallTime;

use super::decimal::Decimal;
use super::error::{ImportError, Tolerance};
use super::moments::{Refusal, Resolution, civil, order_repeated_hours};
use super::options::{ImportOptions, TimeFormat};
use super::source::RawRows;
use super::time_text::{TimeReading, read_by_format, read_time};

/// How times were read, with an example to be checked by eye.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuessedTime {
    /// The format.
    pub format: TimeFormat,
    /// Whether the caller said so.
    pub certainty: Certainty,
    /// A text of the file.
    pub example: String,
    /// What it was taken for.
    pub parsed: WallTime,
}

/// Where something known about a file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// The caller said so.
    Declared,
    /// It was concluded from all rows.
    Guessed,
    /// Nothing said so: it is what is most common.
    Assumed,
}

/// The times of a file as moments, in its order; nothing where a row was left out.
pub(super) struct ResolvedTimes {
    pub times: Vec<Option<WallTime>>,
    pub guessed: Option<GuessedTime>,
    pub notes: Vec<String>,
}

/// Plausible numbers of seconds since 1970: from 1980 to 2100. Ranges of different units do not meet.
const PLAUSIBLE_SECONDS: std::ops::Range<u64> = 315_532_800..4_102_444_800;

/// Decides the format of all times of `rows` and reads them.
///
/// # Errors
/// If nothing fits, several readings do, a zone or year is needed, or too many rows are bad.
pub(super) fn resolve_times(
    rows: &RawRows,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
) -> Result<ResolvedTimes, ImportError> {
    let mut readings = Vec::with_capacity(rows.times.len());
    for time in &rows.times {
        let text = rows.text(time.text);
        readings.push(match &options.time_format {
            Some(TimeFormat::Strftime(format)) => read_by_format(format, text),
            _ => read_time(text),
        });
    }
    let column = Column { rows, options, readings };
    let Some((format, certainty)) = column.format(tolerance.file())? else {
        return Ok(ResolvedTimes { times: Vec::new(), guessed: None, notes: Vec::new() });
    };
    column.resolve(format, certainty, tolerance)
}

struct Column<'a> {
    rows: &'a RawRows,
    options: &'a ImportOptions,
    readings: Vec<Option<TimeReading>>,
}

/// What has to be known to tell formats apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
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

impl Column<'_> {
    /// The format that most rows have; nothing if there are no rows.
    fn format(&self, file: &str) -> Result<Option<(TimeFormat, Certainty)>, ImportError> {
        if self.rows.times.is_empty() {
            return Ok(None);
        }
        if let Some(declared) = &self.options.time_format {
            return Ok(Some((declared.clone(), Certainty::Declared)));
        }
        let mut counts = BTreeMap::<Family, usize>::new();
        for reading in self.readings.iter().flatten() {
            *counts.entry(Family::of(reading)).or_default() += 1;
        }
        let best = counts.into_iter().max_by_key(|(_, count)| *count);
        let Some((family, _)) = best.filter(|(_, count)| count * 2 >= self.rows.times.len()) else {
            return Err(self.unknown(file));
        };
        let format = match family {
            Family::Number => self.epoch_unit(file)?,
            Family::Instant => TimeFormat::Rfc3339,
            Family::Civil => TimeFormat::YearMonthDay,
            Family::Slashed => self.order_of_day_and_month(file)?,
            Family::Named => TimeFormat::DateOutput,
            Family::Yearless => TimeFormat::Syslog,
        };
        Ok(Some((format, Certainty::Guessed)))
    }

    fn unknown(&self, file: &str) -> ImportError {
        let unread = self.readings.iter().position(Option::is_none).unwrap_or(0);
        let time = &self.rows.times[unread];
        ImportError::undecided(
            file,
            format!(
                "line {} has the time {:?}, which has no form that iolag knows",
                time.line,
                super::error::shortened(self.rows.text(time.text))
            ),
            "is it the right column (--time COLUMN)? If so, say how times are written: --time-format '%d.%m.%Y %H:%M'",
        )
    }

    fn epoch_unit(&self, file: &str) -> Result<TimeFormat, ImportError> {
        if self.options.origin.is_some() {
            return Ok(TimeFormat::EpochSeconds);
        }
        let units = [
            (TimeFormat::EpochSeconds, 1),
            (TimeFormat::EpochMilliseconds, 1_000),
            (TimeFormat::EpochMicroseconds, 1_000_000),
            (TimeFormat::EpochNanoseconds, 1_000_000_000),
        ];
        let numbers: Vec<u64> = self.numbers().filter_map(|number| number.times(1)).collect();
        let fitting = |scale: u64| {
            let range = PLAUSIBLE_SECONDS.start * scale..PLAUSIBLE_SECONDS.end * scale;
            numbers.iter().filter(|number| range.contains(number)).count()
        };
        let (format, count) = units
            .map(|(format, scale)| (format, fitting(scale)))
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .unwrap_or((TimeFormat::EpochSeconds, 0));
        if count * 2 >= self.rows.times.len() {
            return Ok(format);
        }
        let example = self.example(|reading| matches!(reading, TimeReading::Number(_)));
        Err(ImportError::undecided(
            file,
            format!("times are numbers like {example}, which are no times since 1970 in any unit"),
            "is it the right column (--time COLUMN)? For times since a beginning say when that was with --origin; \
             for dates without marks say how they are written: --time-format %Y%m%d%H%M%S",
        ))
    }

    fn numbers(&self) -> impl Iterator<Item = Decimal> + '_ {
        self.readings.iter().flatten().filter_map(|reading| match reading {
            TimeReading::Number(number) => Some(*number),
            _ => None,
        })
    }

    fn example(&self, fits: impl Fn(&TimeReading) -> bool) -> &str {
        let position = self.readings.iter().position(|reading| reading.as_ref().is_some_and(&fits));
        position.map_or("", |position| self.rows.text(self.rows.times[position].text))
    }

    fn order_of_day_and_month(&self, file: &str) -> Result<TimeFormat, ImportError> {
        let slashed = self.readings.iter().enumerate().filter_map(|(index, reading)| match reading {
            Some(TimeReading::Slashed { first, second, mark, .. }) => Some((index, *first, *second, *mark)),
            _ => None,
        });
        let (mut day_first, mut month_first, mut differing) = (None, None, None);
        for (index, first, second, mark) in slashed {
            if mark == b'.' || first > 12 {
                day_first.get_or_insert(index);
            } else if second > 12 {
                month_first.get_or_insert(index);
            } else if first != second {
                differing.get_or_insert(index);
            }
        }
        match (day_first, month_first, differing) {
            (Some(_), None, _) => Ok(TimeFormat::DayMonthYear),
            (None, Some(_), _) | (None, None, None) => Ok(TimeFormat::MonthDayYear),
            (Some(day), Some(month), _) => Err(self.two_orders(file, day, month)),
            (None, None, Some(index)) => Err(self.either_order(file, index)),
        }
    }

    fn two_orders(&self, file: &str, day: usize, month: usize) -> ImportError {
        let [day, month] = [day, month].map(|index| &self.rows.times[index]);
        ImportError::undecided(
            file,
            format!(
                "line {} has {:?}, where the day comes first, and line {} has {:?}, where the month does",
                day.line,
                self.rows.text(day.text),
                month.line,
                self.rows.text(month.text)
            ),
            "divide the file, or say which is right with --time-format day-month-year or month-day-year and let the \
             others be left out with --skip-bad N",
        )
    }

    fn either_order(&self, file: &str, index: usize) -> ImportError {
        let time = &self.rows.times[index];
        let reading = |format| {
            self.readings[index]
                .as_ref()
                .and_then(|reading| civil(reading, &format))
                .map_or_else(String::new, |civil| civil.date().strftime("%-d %B %Y").to_string())
        };
        ImportError::undecided(
            file,
            format!(
                "{:?} in line {} may be {} (day-month-year) or {} (month-day-year), and no row of the file decides it",
                self.rows.text(time.text),
                time.line,
                reading(TimeFormat::DayMonthYear),
                reading(TimeFormat::MonthDayYear)
            ),
            "say which with --time-format",
        )
    }

    fn resolve(
        &self,
        format: TimeFormat,
        certainty: Certainty,
        tolerance: &mut Tolerance<'_>,
    ) -> Result<ResolvedTimes, ImportError> {
        let mut resolution = Resolution::new(self.options, &format);
        let mut times = Vec::with_capacity(self.readings.len());
        for (raw, reading) in self.rows.times.iter().zip(&self.readings) {
            let text = self.rows.text(raw.text);
            let moment = match reading {
                None => Err(Refusal::row(format!("this is no time of the form {format}"))),
                Some(reading) => resolution.moment(reading, raw.line, text),
            };
            times.push(match moment {
                Ok(moment) => Some(moment),
                Err(Refusal::Row(what)) => {
                    tolerance.leave_out(raw.line, text, what)?;
                    None
                }
                Err(Refusal::File { what, advice }) => {
                    return Err(ImportError::undecided(tolerance.file(), what, advice));
                }
            });
        }
        let groups: Vec<u32> = self.rows.times.iter().map(|raw| raw.group).collect();
        let mut times = order_repeated_hours(&times, &groups);
        for (time, raw) in times.iter_mut().zip(&self.rows.times) {
            // Identities of samples count from 1970.
            if time.is_some_and(|time| time.0 <= 0) {
                tolerance.leave_out(
                    raw.line,
                    self.rows.text(raw.text),
                    "times before 1970 cannot be kept",
                )?;
                *time = None;
            }
        }
        let notes = resolution.notes();
        let example = times.iter().position(Option::is_some);
        let guessed = example.and_then(|index| {
            let example = self.rows.text(self.rows.times[index].text).to_owned();
            times[index].map(|parsed| GuessedTime { format, certainty, example, parsed })
        });
        Ok(ResolvedTimes { times, guessed, notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::options::parse_time_zone;

    fn resolve(texts: &[&str], options: &ImportOptions) -> Result<ResolvedTimes, ImportError> {
        let mut rows = RawRows::default();
        for (line, text) in (1..).zip(texts) {
            rows.add_time(line, text, 0);
        }
        resolve_times(&rows, options, &mut Tolerance::new("log", options.bad_rows_max))
    }

    fn shown(texts: &[&str], options: &ImportOptions) -> Vec<String> {
        let times = resolve(texts, options).map_err(|error| error.to_string()).unwrap().times;
        times
            .into_iter()
            .map(|time| time.map_or("-".into(), |time| time.to_string()[..19].to_owned()))
            .collect()
    }

    fn refused(texts: &[&str], options: &ImportOptions) -> String {
        resolve(texts, options).map(|_| ()).unwrap_err().to_string()
    }

    fn options() -> ImportOptions {
        ImportOptions::new("nid4100")
    }

    fn in_zone(zone: &str) -> ImportOptions {
        ImportOptions { time_zone: Some(parse_time_zone(zone).unwrap()), ..options() }
    }

    #[test]
    fn units_of_numbers_are_told_by_their_size() {
        for (text, format) in [
            ("1210204800", TimeFormat::EpochSeconds),
            ("1210204800.000", TimeFormat::EpochSeconds),
            ("1210204800000", TimeFormat::EpochMilliseconds),
            ("1210204800000000", TimeFormat::EpochMicroseconds),
            ("1210204800000000000", TimeFormat::EpochNanoseconds),
        ] {
            let guessed = resolve(&[text], &options()).unwrap().guessed.unwrap();
            assert_eq!(
                (guessed.format, guessed.parsed),
                (format, WallTime::from_seconds(1_210_204_800)),
                "{text}"
            );
        }
        let error = refused(&["0", "900"], &options());
        assert!(error.contains("no times since 1970") && error.contains("--origin"), "{error}");
        let since = ImportOptions { origin: Some(WallTime::from_seconds(1_210_204_800)), ..options() };
        assert_eq!(shown(&["0", "900"], &since), ["2008-05-08T00:00:00", "2008-05-08T00:15:00"]);
    }

    #[test]
    fn the_whole_column_decides_about_day_and_month() {
        let zone = in_zone("UTC");
        assert_eq!(shown(&["05/08/2008 14:15", "05/13/2008 14:15"], &zone)[0], "2008-05-08T14:15:00");
        assert_eq!(shown(&["05/08/2008 14:15", "13/08/2008 14:15"], &zone)[0], "2008-08-05T14:15:00");
        assert_eq!(shown(&["05.08.2008"], &zone)[0], "2008-08-05T00:00:00");
        assert_eq!(shown(&["05/05/2008"], &zone)[0], "2008-05-05T00:00:00");
        assert_eq!(
            refused(&["05/08/2008 14:15", "05/09/2008 14:15"], &zone),
            "log: \"05/08/2008 14:15\" in line 1 may be 5 August 2008 (day-month-year) or 8 May 2008 (month-day-year), \
             and no row of the file decides it; say which with --time-format"
        );
        let error = refused(&["13/08/2008", "05/13/2008"], &zone);
        assert!(
            error.contains("line 1 has \"13/08/2008\", where the day comes first, and line 2"),
            "{error}"
        );
        let declared = ImportOptions { time_format: Some(TimeFormat::DayMonthYear), ..in_zone("UTC") };
        assert_eq!(shown(&["05/08/2008 14:15"], &declared)[0], "2008-08-05T14:15:00");
    }

    #[test]
    fn local_times_need_a_zone_and_syslog_a_year() {
        assert!(refused(&["2008-05-08 14:15"], &options()).contains("--time-zone"));
        assert!(refused(&["May  8 14:15:02"], &in_zone("UTC")).contains("--year"));
        let year = ImportOptions { year: Some(2007), ..in_zone("America/Los_Angeles") };
        assert_eq!(
            shown(
                &[
                    "Dec 31 23:59:00",
                    "Jan  1 00:01:00",
                    "Dec 31 23:59:59",
                    "Jan  1 00:02:00",
                    "Feb 29 12:00:00"
                ],
                &year
            ),
            [
                "2008-01-01T07:59:00",
                "2008-01-01T08:01:00",
                "2008-01-01T07:59:59",
                "2008-01-01T08:02:00",
                "2008-02-29T20:00:00"
            ]
        );
    }

    #[test]
    fn an_hour_that_comes_twice_is_told_apart_by_order() {
        let zone = in_zone("America/Los_Angeles");
        let local = [
            "2008-11-02 00:45",
            "2008-11-02 01:15",
            "2008-11-02 01:45",
            "2008-11-02 01:15",
            "2008-11-02 01:45",
            "2008-11-02 02:15",
        ];
        let moments = [
            "2008-11-02T07:45:00",
            "2008-11-02T08:15:00",
            "2008-11-02T08:45:00",
            "2008-11-02T09:15:00",
            "2008-11-02T09:45:00",
            "2008-11-02T10:15:00",
        ];
        assert_eq!(shown(&local, &zone), moments);
        let backward: Vec<&str> = local.iter().rev().copied().collect();
        let mut expected = moments;
        expected.reverse();
        assert_eq!(shown(&backward, &zone), expected);
        let notes = resolve(&local, &zone).unwrap().notes;
        assert!(
            notes[0].starts_with(
                "times in an hour that America/Los_Angeles had twice when clocks were set back: 4"
            ),
            "{notes:?}"
        );
    }

    #[test]
    fn an_hour_that_does_not_exist_is_told() {
        let resolved = resolve(
            &["2008-03-09 01:59", "2008-03-09 02:15", "2008-03-09 03:30"],
            &in_zone("America/Los_Angeles"),
        );
        let resolved = resolved.unwrap();
        assert_eq!(resolved.times[1].unwrap().to_string(), "2008-03-09T10:15:00.000Z");
        assert!(
            resolved.notes[0].starts_with(
                "times in an hour that America/Los_Angeles left out when clocks were set forward: 1, first \"2008-03-09 02:15\" in line 2;"
            ),
            "{:?}",
            resolved.notes
        );
    }

    #[test]
    fn abbreviations_decide_where_they_can() {
        let texts = ["Sun Nov  2 01:30:00 PDT 2008", "Sun Nov  2 01:30:00 PST 2008"];
        let moments = ["2008-11-02T08:30:00", "2008-11-02T09:30:00"];
        assert_eq!(shown(&texts, &options()), moments);
        assert_eq!(shown(&texts, &in_zone("America/Los_Angeles")), moments);
        let indian = "Thu May  8 14:15:02 IST 2008";
        assert!(refused(&[indian], &options()).contains("IST"));
        assert_eq!(shown(&[indian], &in_zone("Asia/Kolkata")), ["2008-05-08T08:45:02"]);
        assert_eq!(shown(&[indian], &in_zone("Asia/Jerusalem")), ["2008-05-08T11:15:02"]);
    }

    #[test]
    fn rows_of_another_form_are_bad_rows() {
        let texts = ["2008-05-08T00:00:00Z", "2008-05-08T00:15:00Z", "yesterday"];
        assert_eq!(
            refused(&texts, &options()),
            "log:3: this is no time of the form rfc3339: \"yesterday\"; correct it, or allow rows to be left out with --skip-bad N"
        );
        let tolerant = ImportOptions { bad_rows_max: 1, ..options() };
        assert_eq!(shown(&texts, &tolerant)[2], "-");
        assert!(refused(&["yesterday", "today"], &options()).contains("which has no form that iolag knows"));
    }
}
