//! What an import read and how it understood it, to be checked by eye before it is stored.

use std::fmt;

use iolag_model::{SeriesKey, WallSpan, WallTime, counted, format_count, format_duration};

use super::gaps::Gaps;
use crate::import::certainty::Certainty;
use crate::import::error::BadRows;
use crate::import::options::file_options::{ImportForm, Separator};
use crate::import::options::value_options::ValueUnit;
use crate::import::times::column::GuessedTime;
use crate::import::values::resolution::GuessedResolution;

/// What was read and how. Its display text is lines for people.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportReport {
    /// Name of the file.
    pub file: String,
    /// Of its bytes, hexadecimal; not shown.
    pub hash: String,
    /// What kind of file it is.
    pub form: ImportForm,
    /// Whether the caller said so.
    pub form_certainty: Certainty,
    /// What stands between columns, if it has any.
    pub separator: Option<Separator>,
    /// Lines of the file.
    pub lines: u64,
    /// Rows with a time.
    pub rows: u64,
    /// Lines that are comments or noise.
    pub ignored: u64,
    /// Dates that no value follows: a measurement that did not come back leaves such.
    pub dates_alone: u64,
    /// Rows that were left out.
    pub bad: BadRows,
    /// How times are written.
    pub time: Option<GuessedTime>,
    /// From the first moment to the last one.
    pub span: Option<WallSpan>,
    /// Every series.
    pub series: Vec<SeriesReport>,
    /// Events.
    pub events: u64,
    /// Remarks: encoding, clocks set forward and back, what was assumed.
    pub notes: Vec<String>,
}

/// What was read of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesReport {
    /// Which series.
    pub key: SeriesKey,
    /// Samples.
    pub samples: u64,
    /// Rows without a value.
    pub missing: u64,
    /// Samples that were ended at their deadline.
    pub timeouts: u64,
    /// Samples of which only the begin is known, and that they had not ended at the next one.
    pub hung: u64,
    /// Samples that failed.
    pub errors: u64,
    /// Samples with the time of the one before.
    pub sharing_a_time: u64,
    /// Samples that say the same as an earlier one.
    pub identical: u64,
    /// Unit of bare numbers.
    pub unit: ValueUnit,
    /// Where the unit comes from.
    pub unit_certainty: Certainty,
    /// What its clock could tell from zero; absent for values.
    pub resolution: Option<GuessedResolution>,
    /// How regular it is.
    pub gaps: Gaps,
}

impl fmt::Display for ImportReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator =
            self.separator.map_or(String::new(), |separator| format!(", separator {}", separator.name()));
        writeln!(
            formatter,
            "{}: {} read as {}{}{separator}",
            self.file,
            counted(self.lines, "line", "lines"),
            self.form.name(),
            said(self.form_certainty)
        )?;
        if let Some(time) = &self.time {
            writeln!(
                formatter,
                "  time: {}{}: {:?} is {}",
                time.format,
                said(time.certainty),
                time.example,
                time.parsed
            )?;
        }
        if let Some(span) = self.span {
            writeln!(formatter, "  from {} to {}", span.begin, span.end)?;
        }
        for series in &self.series {
            writeln!(formatter, "  {series}")?;
        }
        if self.events > 0 {
            writeln!(formatter, "  {}", counted(self.events, "event", "events"))?;
        }
        for note in &self.notes {
            writeln!(formatter, "  note: {note}")?;
        }
        self.fmt_left_out(formatter)
    }
}

impl ImportReport {
    fn fmt_left_out(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ignored > 0 {
            writeln!(formatter, "  {} without a value passed over", counted(self.ignored, "line", "lines"))?;
        }
        if self.dates_alone > 0 {
            writeln!(
                formatter,
                "  {} did not come back?",
                counted(
                    self.dates_alone,
                    "date without a value behind it: a measurement that",
                    "dates without a value behind them: measurements that"
                )
            )?;
        }
        if self.bad.count > 0 {
            writeln!(
                formatter,
                "  {} left out:",
                counted(self.bad.count, "unreadable row", "unreadable rows")
            )?;
        }
        for row in &self.bad.first {
            writeln!(formatter, "    line {}: {}: {:?}", row.line, row.what, row.text)?;
        }
        Ok(())
    }
}

impl fmt::Display for SeriesReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.key, counted(self.samples, "sample", "samples"))?;
        match self.unit {
            ValueUnit::Plain(_) => {
                write!(formatter, " of values, unit: {}{}", self.unit, said(self.unit_certainty))?
            }
            _ => write!(formatter, " in {}{}", self.unit, said(self.unit_certainty))?,
        }
        if let Some(resolution) = self.resolution.filter(|resolution| resolution.resolution_ns.0 > 0) {
            let shown = format_duration(resolution.resolution_ns);
            write!(formatter, "; clock resolution {shown}{}", said(resolution.certainty))?;
            if resolution.zeros > 0 {
                write!(formatter, ", {} below it", format_count(resolution.zeros))?;
            }
        }
        for (count, what) in [
            (self.timeouts, ["time-out", "time-outs"]),
            (self.hung, ["hung"; 2]),
            (self.errors, ["error", "errors"]),
            (self.missing, ["without a value"; 2]),
            (self.sharing_a_time, ["with the time of the one before"; 2]),
            (self.identical, ["identical to an earlier one"; 2]),
        ] {
            if count > 0 {
                write!(formatter, "; {}", counted(count, what[0], what[1]))?;
            }
        }
        if self.gaps.period_ns.0 > 0 {
            write!(formatter, "; every {}", format_duration(self.gaps.period_ns))?;
        }
        if let Some(longest) = self.gaps.longest {
            let length = format_duration(longest.end.since(longest.begin));
            match self.gaps.count {
                1 => write!(formatter, ", 1 gap of {length} from {}", longest.begin)?,
                count => write!(
                    formatter,
                    ", {} gaps, the longest {length} from {}",
                    format_count(count),
                    longest.begin
                )?,
            }
        }
        Ok(())
    }
}

const fn said(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Declared => "",
        Certainty::Guessed => " (guessed)",
        Certainty::Assumed => " (assumed)",
    }
}

/// From the first of `times` to the last.
pub(crate) fn span_of(times: impl Iterator<Item = WallTime>) -> Option<WallSpan> {
    times.fold(None, |span, time| {
        let WallSpan { begin, end } = span.unwrap_or(WallSpan { begin: time, end: time });
        Some(WallSpan { begin: begin.min(time), end: end.max(time) })
    })
}
