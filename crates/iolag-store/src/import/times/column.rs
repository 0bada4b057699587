//! All times of a file: which format they have, and which moments they are.
//!
//! Invariants: a format is decided from all rows, never from the first ones; what two readings fit is refused and both are shown;
//! times of a zone that has no such time, or has it twice, are counted and told.

use iolag_model::WallTime;

use super::format_evidence::{Evidence, Family};
use super::moments::{Direction, Moment, Refusal, RepeatedHours, Resolution};
use super::row_times::{RowTime, Times};
use super::time_text::{TimeReading, read_by_format, read_time};
use crate::import::aside::bytes::{Aside, AsideError, AsideReader};
use crate::import::certainty::Certainty;
use crate::import::error::{ImportError, Tolerance};
use crate::import::options::import_options::ImportOptions;
use crate::import::options::time_options::TimeFormat;
use crate::import::rows::RawRows;

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

/// The times of a file as moments.
pub(crate) struct ResolvedTimes {
    pub times: Times,
    pub guessed: Option<GuessedTime>,
    pub notes: Vec<String>,
}

/// Decides the format of all times of `rows` and reads them.
///
/// # Errors
/// If nothing fits, several readings do, a zone or year is needed, or too many rows are bad.
pub(crate) fn resolve_times(
    rows: &RawRows,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
) -> Result<ResolvedTimes, ImportError> {
    let column = Column { rows, options };
    let Some((format, certainty)) = column.format(tolerance.file())? else {
        let times = Times::new(&rows.directory);
        return Ok(ResolvedTimes { times, guessed: None, notes: Vec::new() });
    };
    column.resolve(format, certainty, tolerance)
}

struct Column<'a> {
    rows: &'a RawRows,
    options: &'a ImportOptions,
}

impl Column<'_> {
    fn reading(&self, text: &str) -> Option<TimeReading> {
        match &self.options.time_format {
            Some(TimeFormat::Strftime(format)) => read_by_format(format, text),
            _ => read_time(text),
        }
    }

    /// The format that most rows have; nothing if there are no rows.
    fn format(&self, file: &str) -> Result<Option<(TimeFormat, Certainty)>, ImportError> {
        let rows = self.rows.times_count();
        if rows == 0 {
            return Ok(None);
        }
        if let Some(declared) = &self.options.time_format {
            return Ok(Some((declared.clone(), Certainty::Declared)));
        }
        let (mut evidence, mut times) = (Evidence::default(), self.rows.times());
        while let Some(raw) = times.next()? {
            evidence.look_at(raw, self.reading(raw.text));
        }
        let best = evidence.counts.iter().max_by_key(|(_, count)| **count);
        let Some((family, _)) = best.filter(|(_, count)| **count * 2 >= rows) else {
            return Err(evidence.unknown(file));
        };
        let format = match family {
            Family::Number if self.options.origin.is_some() => TimeFormat::EpochSeconds,
            Family::Number => evidence.epoch_unit(rows, file)?,
            Family::Instant => TimeFormat::Rfc3339,
            Family::Civil => TimeFormat::YearMonthDay,
            Family::Slashed => evidence.order_of_day_and_month(file)?,
            Family::Named => TimeFormat::DateOutput,
            Family::Yearless => TimeFormat::Syslog,
        };
        Ok(Some((format, Certainty::Guessed)))
    }

    fn resolve(
        &self,
        format: TimeFormat,
        certainty: Certainty,
        tolerance: &mut Tolerance<'_>,
    ) -> Result<ResolvedTimes, ImportError> {
        let (moments, direction, notes) = self.moments(&format, tolerance)?;
        let mut moments = moments.read_from(0);
        let mut hours = RepeatedHours::new(direction.ascends());
        let mut times = Times::new(&self.rows.directory);
        let (mut raws, mut example) = (self.rows.times(), None);
        while let Some(raw) = raws.next()? {
            let mut time = read_moment(&mut moments)?.map(|moment| hours.decide(moment, raw.group));
            // Identities of samples count from 1970.
            if time.is_some_and(|time| time.0 <= 0) {
                tolerance.leave_out(raw.line, raw.text, "times before 1970 cannot be kept")?;
                time = None;
            }
            if example.is_none() {
                example = time.map(|parsed| (raw.text.to_owned(), parsed));
            }
            times.push(RowTime { line: raw.line, time })?;
        }
        let guessed = example.map(|(example, parsed)| GuessedTime { format, certainty, example, parsed });
        Ok(ResolvedTimes { times, guessed, notes })
    }

    /// The moments of all rows, put aside as [`put_moment`] does.
    fn moments(
        &self,
        format: &TimeFormat,
        tolerance: &mut Tolerance<'_>,
    ) -> Result<(Aside, Direction, Vec<String>), ImportError> {
        let mut resolution = Resolution::new(self.options, format);
        let (mut moments, mut direction) = (Aside::new(&self.rows.directory), Direction::default());
        let mut times = self.rows.times();
        while let Some(raw) = times.next()? {
            let moment = match self.reading(raw.text) {
                None => Err(Refusal::row(format!("this is no time of the form {format}"))),
                Some(reading) => resolution.moment(&reading, raw.line, raw.text),
            };
            let moment = match moment {
                Ok(moment) => {
                    direction.look_at(moment, raw.group);
                    Some(moment)
                }
                Err(Refusal::Row(what)) => {
                    tolerance.leave_out(raw.line, raw.text, what)?;
                    None
                }
                Err(Refusal::File { what, advice }) => {
                    return Err(ImportError::undecided(tolerance.file(), what, advice));
                }
            };
            moments.write_with(|bytes| put_moment(bytes, moment))?;
        }
        Ok((moments, direction, resolution.notes()))
    }
}

fn put_moment(bytes: &mut Vec<u8>, moment: Option<Moment>) {
    let (tag, times) = match moment {
        None => (0, [None; 2]),
        Some(Moment::Certain(time)) => (1, [Some(time), None]),
        Some(Moment::Repeated { earlier, later }) => (2, [Some(earlier), Some(later)]),
    };
    bytes.push(tag);
    bytes.extend(times.into_iter().flatten().flat_map(|time| time.0.to_le_bytes()));
}

fn read_moment(reader: &mut AsideReader<'_>) -> Result<Option<Moment>, AsideError> {
    let [tag] = reader.bytes()?;
    let mut time = || reader.bytes().map(|bytes| WallTime(i64::from_le_bytes(bytes)));
    Ok(match tag {
        0 => None,
        1 => Some(Moment::Certain(time()?)),
        _ => Some(Moment::Repeated { earlier: time()?, later: time()? }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::options::time_options::parse_time_zone;

    fn resolve(texts: &[&str], options: &ImportOptions) -> Result<ResolvedTimes, ImportError> {
        let mut rows = RawRows::of_lines(0, 0, &options.directory);
        for (line, text) in (1..).zip(texts) {
            rows.add_time(line, text, 0).unwrap();
        }
        resolve_times(&rows, options, &mut Tolerance::new("log", options.bad_rows_max))
    }

    fn moments(resolved: &ResolvedTimes, texts: &[&str]) -> Vec<Option<WallTime>> {
        let mut times = resolved.times.reader();
        (0..texts.len() as u64).map(|number| times.at(number).unwrap().time).collect()
    }

    fn shown(texts: &[&str], options: &ImportOptions) -> Vec<String> {
        let resolved = resolve(texts, options).map_err(|error| error.to_string()).unwrap();
        moments(&resolved, texts)
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
        let texts = ["2008-03-09 01:59", "2008-03-09 02:15", "2008-03-09 03:30"];
        let resolved = resolve(&texts, &in_zone("America/Los_Angeles")).unwrap();
        assert_eq!(moments(&resolved, &texts)[1].unwrap().to_string(), "2008-03-09T10:15:00.000Z");
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
