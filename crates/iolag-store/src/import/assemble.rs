//! From rows to samples: values, units, outcomes, and identities that an import repeated gives again.
//!
//! The identity of an imported sample is its position in time: the second since 1970 in the upper 40 bits, the fraction of the second in
//! the lower 24. Where samples of one series share a position, those later in the file take the next free one. So the same file, and
//! the same file grown at its end, give every sample the identity it had.

use std::collections::HashSet;

use iolag_model::{FailureCode, Nanoseconds, Outcome, ProbeId, Series, SeriesKind, WallTime};

use super::decimal::Decimal;
use super::error::{ImportError, Tolerance};
use super::imported::{ImportedSample, ImportedSeries};
use super::options::ImportOptions;
use super::quantity::{Cell, MarkEvidence, read_cell};
use super::report::{Gaps, SeriesReport};
use super::resolution::ResolutionEvidence;
use super::source::{RawObservation, RawRows};
use super::time_column::Certainty;
use super::value_options::{DecimalMark, IdenticalRows, MissingValues, ValueUnit};

/// Makes the samples of all series of `rows`, whose times are `times`.
///
/// # Errors
/// If too many rows are bad, or the file does not say which mark is the decimal one.
pub(super) fn assemble(
    rows: &RawRows,
    times: &[Option<WallTime>],
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
) -> Result<Vec<ImportedSeries>, ImportError> {
    let mark = decimal_mark(rows, options, tolerance.file())?;
    let mut series: Vec<SeriesAssembly<'_>> = Vec::with_capacity(rows.series.len());
    for index in 0..rows.series.len() {
        series.push(SeriesAssembly::new(rows, index, options));
    }
    // What a bare number means is known when all cells of its series have been seen.
    for observation in &rows.observations {
        series[observation.series as usize].look_at(rows.text(observation.value), mark);
    }
    series.iter_mut().for_each(SeriesAssembly::decide_unit);
    for observation in &rows.observations {
        // A row whose time is bad has been told already.
        if let Some(time) = times.get(observation.time).copied().flatten() {
            series[observation.series as usize].add(observation, time, mark, tolerance)?;
        }
    }
    Ok(series.into_iter().map(SeriesAssembly::finish).collect())
}

fn decimal_mark(rows: &RawRows, options: &ImportOptions, file: &str) -> Result<DecimalMark, ImportError> {
    if let Some(declared) = options.decimal_mark {
        return Ok(declared);
    }
    let mut evidence = MarkEvidence::default();
    rows.observations.iter().for_each(|observation| evidence.look_at(rows.text(observation.value)));
    evidence.mark().map_err(|text| {
        ImportError::undecided(
            file,
            format!("the comma in {text:?} may mark the fraction or group thousands, and no value of the file decides it"),
            "say which with --decimal comma or --decimal point",
        )
    })
}

struct SeriesAssembly<'a> {
    rows: &'a RawRows,
    options: &'a ImportOptions,
    index: usize,
    unit: ValueUnit,
    certainty: Certainty,
    /// Whether some cells name a unit of time, so that others mean something else without.
    has_time_cells: bool,
    has_bare_cells: bool,
    word: Option<&'a str>,
    has_words: bool,
    samples: Vec<ImportedSample>,
    missing: u64,
    /// When something came back without a value, for what hung before.
    without_value: Vec<WallTime>,
    evidence: ResolutionEvidence,
}

impl<'a> SeriesAssembly<'a> {
    fn new(rows: &'a RawRows, index: usize, options: &'a ImportOptions) -> Self {
        let declared = rows.series[index].unit.clone();
        Self {
            rows,
            options,
            index,
            certainty: if declared.is_some() { Certainty::Declared } else { Certainty::Assumed },
            unit: declared.unwrap_or(ValueUnit::Seconds),
            has_time_cells: false,
            has_bare_cells: false,
            word: None,
            has_words: false,
            samples: Vec::new(),
            missing: 0,
            without_value: Vec::new(),
            evidence: ResolutionEvidence::default(),
        }
    }

    fn look_at(&mut self, text: &'a str, mark: DecimalMark) {
        match read_cell(text, mark) {
            Some(Cell::Time { .. }) => self.has_time_cells = true,
            Some(Cell::Bare(number)) => self.has_bare_cells |= !number.is_zero(),
            Some(Cell::Worded { word, .. }) => {
                self.has_words = true;
                self.word = Some(word);
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
        } else if let Some(unit) = unit_in_name(&self.rows.series[self.index].column) {
            (self.unit, self.certainty) = (unit, Certainty::Guessed);
        } else if self.has_words {
            let word = self.word.filter(|word| prefix_factor(word).is_none()).unwrap_or("");
            (self.unit, self.certainty) = (ValueUnit::Plain(word.to_owned()), Certainty::Guessed);
        }
    }

    fn add(
        &mut self,
        observation: &RawObservation,
        time: WallTime,
        mark: DecimalMark,
        tolerance: &mut Tolerance<'_>,
    ) -> Result<(), ImportError> {
        let text = self.rows.text(observation.value);
        let ending = Ending::read(self.rows.text(observation.status));
        let line = self.rows.line(observation);
        let quantity = match self.quantity(text, mark) {
            Ok(quantity) => quantity,
            Err(what) => return tolerance.leave_out(line, text, what),
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
                if self.options.missing == MissingValues::Hung {
                    self.without_value.push(time);
                }
                return Ok(());
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
        self.samples.push(sample);
        Ok(())
    }

    /// Nothing says how it ended, neither a value nor a status.
    fn is_taken_for_hung(&self, observation: &RawObservation) -> bool {
        self.options.missing == MissingValues::Hung
            && self.unit.nanoseconds().is_some()
            && self.rows.text(observation.status).is_empty()
    }

    /// What hung had not ended at the next known moment of its series. Where there is none, nothing is known of how long it took.
    fn end_hangs(&mut self) {
        if self.options.missing == MissingValues::Gap {
            return;
        }
        let mut moments = std::mem::take(&mut self.without_value);
        moments.extend(self.samples.iter().map(|sample| sample.time));
        moments.sort_unstable();
        for sample in self.samples.iter_mut().filter(|sample| sample.outcome == Outcome::Hung) {
            let next = moments.get(moments.partition_point(|moment| *moment <= sample.time));
            sample.duration_ns = next.map_or(Nanoseconds::ZERO, |next| next.since(sample.time));
        }
        let all = self.samples.len();
        self.samples
            .retain(|sample| sample.outcome != Outcome::Hung || sample.duration_ns > Nanoseconds::ZERO);
        self.missing += (all - self.samples.len()) as u64;
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

    fn finish(mut self) -> ImportedSeries {
        // Where samples share a moment, their order is that of a file that ascends, so that sorting it otherwise changes nothing.
        if self.samples.first().map(|sample| sample.time) > self.samples.last().map(|sample| sample.time) {
            self.samples.reverse();
        }
        self.samples.sort_by_key(|sample| sample.time);
        self.end_hangs();
        let identical = self.count_identical();
        if self.options.identical_rows == IdenticalRows::Drop {
            self.drop_identical();
        }
        let sharing = self.samples.windows(2).filter(|pair| pair[0].time == pair[1].time).count() as u64;
        give_identities(&mut self.samples);
        let gaps = Gaps::of(&self.samples);
        let kind = match self.unit {
            ValueUnit::Plain(_) => SeriesKind::ImportedValue,
            _ => SeriesKind::ImportedDuration,
        };
        let resolution = self.evidence.conclude(self.options.resolution);
        let is_duration = kind.is_duration();
        let raw = &self.rows.series[self.index];
        let series = Series {
            key: raw.key.clone(),
            kind,
            resolution_ns: if is_duration { resolution.resolution_ns } else { Nanoseconds::ZERO },
            period_ns: gaps.period_ns,
            deadline_ns: if is_duration {
                self.options.deadline.unwrap_or_default()
            } else {
                Nanoseconds::ZERO
            },
            description: match raw.column.as_str() {
                "" => "imported".to_owned(),
                column => super::error::cleaned(format!("imported from column {column}").chars().take(300)),
            },
            unit: match &self.unit {
                ValueUnit::Plain(unit) => unit.clone(),
                _ => String::new(),
            },
            described: WallTime(0),
        };
        let count = |outcome| self.samples.iter().filter(|sample| sample.outcome == outcome).count() as u64;
        let report = SeriesReport {
            key: raw.key.clone(),
            samples: self.samples.len() as u64,
            missing: self.missing,
            timeouts: count(Outcome::Timeout),
            hung: count(Outcome::Hung),
            errors: count(Outcome::Error),
            sharing_a_time: sharing,
            identical,
            unit: self.unit,
            unit_certainty: self.certainty,
            resolution: is_duration.then_some(resolution),
            gaps,
        };
        ImportedSeries { series, samples: self.samples, report }
    }

    fn count_identical(&self) -> u64 {
        let mut seen = HashSet::new();
        self.samples.iter().filter(|sample| !seen.insert(sample.content())).count() as u64
    }

    fn drop_identical(&mut self) {
        let mut seen = HashSet::new();
        self.samples.retain(|sample| seen.insert(sample.content()));
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

/// Gives samples, which are in the order of time, their identities.
fn give_identities(samples: &mut [ImportedSample]) {
    let mut next_free = 1;
    for sample in samples {
        let identity = position_in_time(sample.time).max(next_free);
        sample.probe = ProbeId(identity);
        next_free = identity + 1;
    }
}

/// Seconds in the upper 40 bits, the fraction in units of 2⁻²⁴ s in the lower ones. Times are after 1970.
fn position_in_time(time: WallTime) -> u64 {
    let ns = u64::try_from(time.0).unwrap_or(0);
    let (seconds, fraction_ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
    (seconds << 24) | ((fraction_ns << 24) / 1_000_000_000)
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
    fn identities_are_positions_in_time_and_never_shared() {
        assert_eq!(position_in_time(WallTime::from_seconds(3)), 3 << 24);
        assert_eq!(position_in_time(WallTime(3_500_000_000)), (3 << 24) + (1 << 23));
        assert_eq!(position_in_time(WallTime(3_999_999_999)) >> 24, 3);
        let sample = |seconds| ImportedSample {
            probe: ProbeId(0),
            time: WallTime::from_seconds(seconds),
            duration_ns: Nanoseconds(1),
            value: None,
            outcome: Outcome::Ok,
            failure: FailureCode::NONE,
            exit_status: None,
        };
        let mut samples = [sample(5), sample(5), sample(5), sample(6)];
        give_identities(&mut samples);
        let second = 5 << 24;
        assert_eq!(samples.map(|sample| sample.probe.0), [second, second + 1, second + 2, 6 << 24]);
    }

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
