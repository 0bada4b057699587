//! From rows to samples: values, units and outcomes.

use iolag_model::{FailureCode, Nanoseconds, Outcome, ProbeId, Series, SeriesKind, WallTime};

use super::arrangement::{Arranged, Arrangement, Found};
use super::imported::ImportedSeries;
use super::imported_samples::ImportedSample;
use super::report::SeriesReport;
use crate::import::certainty::Certainty;
use crate::import::error::{ImportError, Tolerance};
use crate::import::options::import_options::ImportOptions;
use crate::import::options::value_options::{DecimalMark, MissingValues, ValueUnit};
use crate::import::rows::{RawObservation, RawRows, RawSeries};
use crate::import::times::row_times::Times;
use crate::import::values::decimal::Decimal;
use crate::import::values::quantity::{Cell, MarkEvidence, read_cell};
use crate::import::values::resolution::ResolutionEvidence;

/// Makes the samples of all series of `rows`, whose times are `times`.
///
/// # Errors
/// If too many rows are bad, or the file does not say which mark is the decimal one.
pub(crate) fn assemble(
    rows: RawRows,
    times: &Times,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
) -> Result<Vec<ImportedSeries>, ImportError> {
    let mark = decimal_mark(&rows, options, tolerance.file())?;
    let mut series: Vec<_> = rows.series.iter().map(|raw| SeriesAssembly::new(raw, options)).collect();
    // What a bare number means is known when all cells of its series have been seen.
    let mut observations = rows.observations();
    while let Some(observation) = observations.next()? {
        series[observation.series].look_at(observation.value, mark);
    }
    series.iter_mut().for_each(SeriesAssembly::decide_unit);
    let (mut found, mut times) = (Arrangement::new(series.len(), &rows.directory), times.reader());
    let mut observations = rows.observations();
    while let Some(observation) = observations.next()? {
        let row = times.at(observation.time)?;
        // A row whose time is bad has been told already.
        if let Some(time) = row.time
            && let Some(what) =
                series[observation.series].read(&observation, time, row.line, mark, tolerance)?
        {
            found.push(observation.series, time, what)?;
        }
    }
    let arranged = found.arrange(options)?;
    Ok(series.into_iter().zip(arranged).map(|(series, arranged)| series.finish(arranged)).collect())
}

fn decimal_mark(rows: &RawRows, options: &ImportOptions, file: &str) -> Result<DecimalMark, ImportError> {
    if let Some(declared) = options.decimal_mark {
        return Ok(declared);
    }
    let (mut evidence, mut observations) = (MarkEvidence::default(), rows.observations());
    while let Some(observation) = observations.next()? {
        evidence.look_at(observation.value);
    }
    evidence.mark().map_err(|text| {
        ImportError::undecided(
            file,
            format!("the comma in {text:?} may mark the fraction or group thousands, and no value of the file decides it"),
            "say which with --decimal comma or --decimal point",
        )
    })
}

struct SeriesAssembly<'a> {
    raw: RawSeries,
    options: &'a ImportOptions,
    unit: ValueUnit,
    certainty: Certainty,
    /// Whether some cells name a unit of time, so that others mean something else without.
    has_time_cells: bool,
    has_bare_cells: bool,
    /// The last one behind a number.
    word: String,
    has_words: bool,
    missing: u64,
    evidence: ResolutionEvidence,
}

impl<'a> SeriesAssembly<'a> {
    fn new(raw: &RawSeries, options: &'a ImportOptions) -> Self {
        let declared = raw.unit.clone();
        Self {
            raw: raw.clone(),
            options,
            certainty: if declared.is_some() { Certainty::Declared } else { Certainty::Assumed },
            unit: declared.unwrap_or(ValueUnit::Seconds),
            has_time_cells: false,
            has_bare_cells: false,
            word: String::new(),
            has_words: false,
            missing: 0,
            evidence: ResolutionEvidence::default(),
        }
    }

    fn look_at(&mut self, text: &str, mark: DecimalMark) {
        match read_cell(text, mark) {
            Some(Cell::Time { .. }) => self.has_time_cells = true,
            Some(Cell::Bare(number)) => self.has_bare_cells |= !number.is_zero(),
            Some(Cell::Worded { word, .. }) => {
                self.has_words = true;
                word.clone_into(&mut self.word);
            }
            Some(Cell::Missing) | None => {}
        }
    }

    /// What bare numbers are: what the caller says, what the column's name says, or what the cells say.
    fn decide_unit(&mut self) {
        if self.certainty == Certainty::Declared {
            return;
        }
        if self.has_time_cells {
            self.certainty = Certainty::Guessed;
        } else if let Some(unit) = unit_in_name(&self.raw.column) {
            (self.unit, self.certainty) = (unit, Certainty::Guessed);
        } else if self.has_words {
            let is_unit = prefix_factor(&self.word).is_none();
            let word = if is_unit { self.word.clone() } else { String::new() };
            (self.unit, self.certainty) = (ValueUnit::Plain(word), Certainty::Guessed);
        }
    }

    /// What an observation is; nothing if it is left out, or says nothing.
    fn read(
        &mut self,
        observation: &RawObservation<'_>,
        time: WallTime,
        line: u64,
        mark: DecimalMark,
        tolerance: &mut Tolerance<'_>,
    ) -> Result<Option<Found>, ImportError> {
        let text = observation.value;
        let ending = Ending::read(observation.status);
        let quantity = match self.quantity(text, mark) {
            Ok(quantity) => quantity,
            Err(what) => return tolerance.leave_out(line, text, what).map(|()| None),
        };
        let mut sample = ImportedSample {
            probe: ProbeId(0),
            time,
            duration_ns: Nanoseconds::ZERO,
            value: None,
            outcome: ending.outcome,
            failure: ending.failure,
            exit_status: ending.exit_status,
        };
        match quantity {
            Quantity::Missing if self.is_taken_for_hung(observation) => sample.outcome = Outcome::Hung,
            // A failure is data also if nobody could say how long it took.
            Quantity::Missing if ending.outcome == Outcome::Ok => {
                self.missing += 1;
                let ends_hang = self.options.missing == MissingValues::Hung;
                return Ok(ends_hang.then_some(Found::WithoutValue));
            }
            Quantity::Missing if ending.outcome == Outcome::Timeout => {
                sample.duration_ns = self.options.deadline.unwrap_or_default();
            }
            Quantity::Missing => {}
            Quantity::Value(value) => sample.value = Some(value),
            Quantity::Duration { ns, printed_ns } => {
                self.evidence.look_at(ns, printed_ns);
                sample.duration_ns = Nanoseconds(ns);
                if sample.outcome == Outcome::Ok
                    && let Some(deadline) = self.options.deadline.filter(|deadline| ns >= deadline.0)
                {
                    sample.outcome = past_deadline(ns, deadline);
                }
            }
        }
        Ok(Some(Found::Sample(sample)))
    }

    /// Nothing says how it ended, neither a value nor a status.
    fn is_taken_for_hung(&self, observation: &RawObservation<'_>) -> bool {
        self.options.missing == MissingValues::Hung
            && self.unit.nanoseconds().is_some()
            && observation.status.is_empty()
    }

    fn quantity(&self, text: &str, mark: DecimalMark) -> Result<Quantity, String> {
        let cell = read_cell(text, mark)
            .ok_or_else(|| format!("this is no value, expected a number of {}", self.unit))?;
        let (number, unit_ns) = match (cell, self.unit.nanoseconds()) {
            (Cell::Missing, _) => return Ok(Quantity::Missing),
            (Cell::Bare(number), Some(_))
                if self.certainty == Certainty::Guessed && self.has_time_cells && !number.is_zero() =>
            {
                return Err(
                    "this number has no unit, others of its series have one; --unit says which it is"
                        .to_owned(),
                );
            }
            (Cell::Bare(number), Some(unit_ns)) => (number, unit_ns),
            (Cell::Time { number, unit_ns }, Some(_)) => (number, unit_ns),
            (Cell::Worded { word, .. }, Some(_)) => {
                return Err(format!(
                    "{word:?} is no unit of time; --unit plain makes values of it, not durations"
                ));
            }
            (Cell::Bare(number), None) => return plain(number, 1.0),
            (Cell::Time { number, unit_ns }, None) => return plain(number, unit_ns as f64 / 1e9),
            (Cell::Worded { number, word }, None) => {
                return plain(number, prefix_factor(word).unwrap_or(1.0));
            }
        };
        if number.is_negative() {
            return Err("no duration is negative".to_owned());
        }
        let ns = number.times(unit_ns).ok_or("no duration is so long")?;
        Ok(Quantity::Duration { ns, printed_ns: number.quantum(unit_ns) })
    }

    fn finish(self, arranged: Arranged) -> ImportedSeries {
        let Arranged { samples, counts, gaps } = arranged;
        let kind = match self.unit {
            ValueUnit::Plain(_) => SeriesKind::ImportedValue,
            _ => SeriesKind::ImportedDuration,
        };
        let resolution = self.evidence.conclude(self.options.resolution);
        let is_duration = kind.is_duration();
        let series = Series {
            key: self.raw.key.clone(),
            kind,
            resolution_ns: if is_duration { resolution.resolution_ns } else { Nanoseconds::ZERO },
            period_ns: gaps.period_ns,
            deadline_ns: if is_duration {
                self.options.deadline.unwrap_or_default()
            } else {
                Nanoseconds::ZERO
            },
            description: match self.raw.column.as_str() {
                "" => "imported".to_owned(),
                column => {
                    crate::import::error::cleaned(format!("imported from column {column}").chars().take(300))
                }
            },
            unit: match &self.unit {
                ValueUnit::Plain(unit) => unit.clone(),
                _ => String::new(),
            },
            described: WallTime(0),
        };
        let report = SeriesReport {
            key: self.raw.key,
            samples: samples.len(),
            missing: self.missing + counts.hung_without_end,
            timeouts: counts.timeouts,
            hung: counts.hung,
            errors: counts.errors,
            sharing_a_time: counts.sharing_a_time,
            identical: counts.identical,
            unit: self.unit,
            unit_certainty: self.certainty,
            resolution: is_duration.then_some(resolution),
            gaps,
        };
        ImportedSeries { series, samples, span: counts.span, report }
    }
}

/// What a cell says, in the unit of its series.
enum Quantity {
    Missing,
    Value(f64),
    Duration { ns: u64, printed_ns: u64 },
}

fn plain(number: Decimal, factor: f64) -> Result<Quantity, String> {
    let value = number.to_float() * factor;
    if value.is_finite() { Ok(Quantity::Value(value)) } else { Err("this number is too large".to_owned()) }
}

/// Prefixes that Grafana puts behind large numbers.
fn prefix_factor(word: &str) -> Option<f64> {
    Some(match word {
        "K" | "k" => 1e3,
        "Mil" => 1e6,
        "Bil" => 1e9,
        "Tri" => 1e12,
        _ => return None,
    })
}

/// A unit of time in a column's name: `real_ms`, `elapsed (s)`, `latency [µs]`. No hours and days: `restarts/day` and `queue_d` are no durations.
fn unit_in_name(name: &str) -> Option<ValueUnit> {
    let last = name.trim_end_matches([')', ']', '}', ' ']);
    let begin = last.rfind(['(', '[', '{', '_', ' ', '/', '.']).map_or(last, |at| &last[at..]);
    let word = begin.trim_start_matches(['(', '[', '{', '_', ' ', '/', '.']);
    let unit = if word.len() == last.len() { None } else { ValueUnit::of_time(word) };
    unit.filter(|unit| !matches!(unit, ValueUnit::Hours | ValueUnit::Days))
}

/// How a row says that it ended.
struct Ending {
    outcome: Outcome,
    failure: FailureCode,
    exit_status: Option<i32>,
}

impl Ending {
    fn read(status: &str) -> Self {
        const GOOD: [&str; 9] =
            ["", "ok", "success", "succeeded", "done", "true", "pass", "passed", "completed"];
        const TIMED_OUT: [&str; 6] = ["timeout", "timed out", "timed-out", "time-out", "timedout", "hung"];
        let word = status.trim().to_ascii_lowercase();
        let exit_status = word.parse::<i32>().ok();
        // 124 is what timeout(1) exits with.
        if exit_status == Some(124) || TIMED_OUT.contains(&word.as_str()) {
            Self { outcome: Outcome::Timeout, failure: FailureCode::NONE, exit_status }
        } else if exit_status == Some(0) || GOOD.contains(&word.as_str()) {
            Self { outcome: Outcome::Ok, failure: FailureCode::NONE, exit_status }
        } else {
            Self { outcome: Outcome::Error, failure: FailureCode::EXIT, exit_status }
        }
    }
}

/// Whoever is ended at a deadline takes a little longer to be gone; what took clearly longer ended by itself, late.
fn past_deadline(ns: u64, deadline: Nanoseconds) -> Outcome {
    let ended_there = ns <= deadline.0.saturating_add(deadline.0 / 20);
    if ended_there { Outcome::Timeout } else { Outcome::Late }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_clearly_longer_than_the_deadline_ended_late() {
        let of = |seconds: u64| past_deadline(seconds * 1_000_000_000, Nanoseconds::from_seconds(600));
        let expected = [Outcome::Timeout, Outcome::Timeout, Outcome::Late];
        assert_eq!([of(600), of(629), of(14_400)], expected);
    }

    #[test]
    fn names_of_columns_tell_units() {
        for (name, unit) in [
            ("real_ms", Some(ValueUnit::Milliseconds)),
            ("restarts/day", None),
            ("queue_h", None),
            ("elapsed (s)", Some(ValueUnit::Seconds)),
            ("latency [µs]", Some(ValueUnit::Microseconds)),
            ("jobs", None),
            ("ms", None),
            ("list", None),
            ("", None),
        ] {
            assert_eq!(unit_in_name(name), unit, "{name}");
        }
    }

    #[test]
    fn statuses_are_outcomes() {
        for (status, outcome, exit_status) in [
            ("", Outcome::Ok, None),
            ("0", Outcome::Ok, Some(0)),
            ("OK", Outcome::Ok, None),
            ("124", Outcome::Timeout, Some(124)),
            ("Timed out", Outcome::Timeout, None),
            ("2", Outcome::Error, Some(2)),
            ("No such file", Outcome::Error, None),
        ] {
            let ending = Ending::read(status);
            assert_eq!((ending.outcome, ending.exit_status), (outcome, exit_status), "{status}");
        }
    }
}
