//! Text logs: lines of a time and a value, dates followed by what time(1) printed, and lines that a regular expression matches.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};

use super::separated::SeriesTable;
use crate::import::aside::bytes::{Aside, AsideError, put_number};
use crate::import::error::{ImportError, Tolerance};
use crate::import::options::import_options::ImportOptions;
use crate::import::options::time_options::TimeFormat;
use crate::import::options::value_options::{DecimalMark, MissingValues, ValueColumn};
use crate::import::rows::RawRows;
use crate::import::source::Text;
use crate::import::times::time_text::{TimeReading, read_prefix_by_format, read_time};
use crate::import::values::quantity::{Cell, read_cell};

/// Finds all values of a text log.
///
/// # Errors
/// If too many rows are bad, or there are more values after a date than options name.
pub(crate) fn read_log(
    text: &Text,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
) -> Result<RawRows, ImportError> {
    let mut log = Log {
        options,
        rows: RawRows::of_lines(0, 0, &options.directory),
        series: SeriesTable { options, file: tolerance.file(), found: HashMap::new() },
        date: None,
        label: None,
        alone: Aside::new(&options.directory),
    };
    let (mut lines, mut content) = (text.reader(), String::new());
    while lines.line(&mut content)? {
        log.rows.lines += 1;
        let (line, content) = (log.rows.lines, content.trim());
        if content.is_empty() || options.comment.is_some_and(|mark| content.starts_with(mark)) {
            log.rows.ignored += u64::from(!content.is_empty());
            continue;
        }
        log.take_line(line, content, tolerance)?;
    }
    log.end_of_date()?;
    log.keep_dates_alone()?;
    Ok(log.rows)
}

struct Log<'a> {
    options: &'a ImportOptions,
    rows: RawRows,
    series: SeriesTable<'a>,
    date: Option<LoggedDate>,
    /// The line that names the value that follows.
    label: Option<usize>,
    /// Dates that no value follows.
    alone: Aside,
}

/// A date whose values follow.
struct LoggedDate {
    time: u64,
    line: u64,
    values: usize,
}

impl Log<'_> {
    fn take_line(
        &mut self,
        line: u64,
        content: &str,
        tolerance: &mut Tolerance<'_>,
    ) -> Result<(), ImportError> {
        // What time(1) prints may begin with a number, which is no time.
        if let Some(cell) = elapsed_of(content) {
            return self.take_value(line, content, cell, tolerance);
        }
        if let Some(length) = time_at_begin(content, self.options) {
            self.end_of_date()?;
            let (time, rest) = content.split_at(length);
            let time = self.rows.add_time(line, time, 0)?;
            self.date = Some(LoggedDate { time, line, values: 0 });
            return self.take_rest(line, content, rest.trim(), tolerance);
        }
        if let Some(label) = self.label_of(content) {
            self.label = Some(label);
        } else if self.date.is_some() && is_value(content) {
            return self.take_value(line, content, content, tolerance);
        } else if is_dated_badly(content) {
            return tolerance.leave_out(line, content, "this line begins with no time that iolag knows");
        } else {
            self.rows.ignored += 1;
        }
        Ok(())
    }

    /// What stands behind the time in its line: nothing, one value, or several.
    fn take_rest(
        &mut self,
        line: u64,
        content: &str,
        rest: &str,
        tolerance: &mut Tolerance<'_>,
    ) -> Result<(), ImportError> {
        let rest = rest.trim_start_matches([',', ';', '\t', ' ', '|']);
        if rest.is_empty() {
            return Ok(());
        }
        if let Some(cell) = elapsed_of(rest) {
            return self.take_value(line, content, cell, tolerance);
        }
        if is_value(rest) {
            return self.take_value(line, content, rest, tolerance);
        }
        let cells: Vec<&str> = rest.split([' ', '\t', ',', ';']).filter(|cell| !cell.is_empty()).collect();
        if cells.iter().all(|cell| is_value(cell)) {
            return cells.into_iter().try_for_each(|cell| self.take_value(line, content, cell, tolerance));
        }
        if let Some(label) = self.label_of(rest) {
            self.label = Some(label);
            return Ok(());
        }
        self.date = None;
        tolerance.leave_out(
            line,
            content,
            "behind the time there is no value; --pattern with a regular expression says where it is in lines of another form",
        )
    }

    fn take_value(
        &mut self,
        line: u64,
        content: &str,
        cell: &str,
        tolerance: &mut Tolerance<'_>,
    ) -> Result<(), ImportError> {
        let label = self.label.take();
        let Some(date) = &mut self.date else {
            return tolerance.leave_out(line, content, "a value without a date before it");
        };
        date.values += 1;
        let number = date.values.to_string();
        let named = label.or_else(|| self.options.values.iter().position(|value| value.column.0 == number));
        let time = date.time;
        let (task, part, target, unit) = match named.map(|index| &self.options.values[index]) {
            Some(ValueColumn { task, part, target, unit, .. }) => {
                (task, part.as_str(), target.as_ref().unwrap_or(&self.options.target), unit.as_ref())
            }
            None if date.values == 1 && self.options.values.is_empty() => {
                (&self.options.task, "", &self.options.target, None)
            }
            None if self.options.values.is_empty() => {
                return tolerance.leave_out(
                    line,
                    content,
                    format!(
                        "value {number} after the date of line {}; say what each is: --value 1=compile --value 2=list",
                        date.line
                    ),
                );
            }
            None => {
                self.rows.ignored += 1;
                return Ok(());
            }
        };
        let index = self.series.find([task, part, target], unit, "", &mut self.rows)?;
        Ok(self.rows.add_value(time, index, cell, "")?)
    }

    /// The value that a line announces: its text without marks is what an option calls a column, unless that is a number.
    fn label_of(&self, content: &str) -> Option<usize> {
        let bare = content.trim_matches(|character: char| !character.is_alphanumeric());
        self.options.values.iter().position(|ValueColumn { column, .. }| {
            column.number().is_none() && (column.0 == content || column.0 == bare)
        })
    }

    fn end_of_date(&mut self) -> Result<(), AsideError> {
        self.label = None;
        if let Some(LoggedDate { values: 0, time, .. }) = self.date.take() {
            self.rows.dates_alone += 1;
            self.alone.write_with(|bytes| put_number(bytes, time))?;
        }
        Ok(())
    }

    /// A script that wrote its date and no value got as far as the first task: that one has no value, the others were not begun.
    fn keep_dates_alone(&mut self) -> Result<(), AsideError> {
        let mut alone = self.alone.read_from(0);
        if self.options.missing == MissingValues::Hung && !self.rows.series.is_empty() {
            while !alone.is_at_end() {
                self.rows.add_value(alone.number()?, 0, "", "")?;
            }
        }
        Ok(())
    }
}

/// Length of the time at the begin of a line: the most words that are one.
fn time_at_begin(line: &str, options: &ImportOptions) -> Option<usize> {
    const WORDS_MAX: usize = 8;
    if let Some(TimeFormat::Strftime(format)) = &options.time_format {
        return read_prefix_by_format(format, line).map(|(_, length)| length).filter(|length| {
            line[*length..].starts_with(|next: char| next.is_whitespace() || ",;|".contains(next))
                || *length == line.len()
        });
    }
    let mut ends = Vec::with_capacity(WORDS_MAX);
    let mut was_space = true;
    for (at, character) in line.char_indices().take(80) {
        let is_space = character.is_whitespace() || ",;|".contains(character);
        if is_space && !was_space {
            ends.push(at);
        }
        was_space = is_space;
    }
    if !was_space && line.chars().count() <= 80 {
        ends.push(line.len());
    }
    ends.truncate(WORDS_MAX);
    ends.into_iter().rev().find(|end| match read_time(&line[..*end]) {
        // A small number is a value, unless times are counted from a beginning.
        Some(TimeReading::Number(number)) => {
            options.origin.is_some() || number.times(1).is_some_and(|number| number >= 100_000_000)
        }
        Some(_) => true,
        None => false,
    })
}

/// Whether a line looks as if it began with a time that has a mistake in it, so that it is not passed over as noise.
fn is_dated_badly(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("");
    let digits = first.bytes().filter(u8::is_ascii_digit).count();
    (digits >= 8 || (digits >= 6 && first.contains(['-', '/', ':']))) && digits * 2 > first.len()
}

fn is_value(text: &str) -> bool {
    [DecimalMark::Point, DecimalMark::Comma].iter().any(|mark| {
        read_cell(text, *mark)
            .is_some_and(|cell| !matches!(cell, Cell::Worded { word, .. } if matches!(word, "user" | "sys")))
    })
}

/// The elapsed time in a line that some time(1) printed:
/// `real 0m1.234s` (bash, ksh), `real 0.01` (POSIX), `0.01 real 0.00 user 0.00 sys` (BSD), `0.00user 0.00system 0:00.01elapsed 0%CPU` (GNU),
/// `Elapsed (wall clock) time (h:mm:ss or m:ss): 0:00.01` (GNU, verbose), `0.000u 0.004s 0:00.01 0.0%` (csh), `0.00s user 0.00s system 85% cpu 0.003 total` (zsh).
pub(crate) fn elapsed_of(line: &str) -> Option<&str> {
    if let Some((_, clock)) =
        line.split_once("Elapsed (wall clock) time").and_then(|(_, rest)| rest.split_once("): "))
    {
        return Some(clock.trim());
    }
    let words: Vec<&str> = line.split_whitespace().take(64).collect();
    let read = |word: &&str| is_value(word);
    if let Some(position) = words.iter().position(|word| word.eq_ignore_ascii_case("real")) {
        return match position {
            0 => words.get(1).copied().filter(read),
            1 => words.first().copied().filter(read),
            _ => None,
        };
    }
    if let Some(word) = words.iter().find(|word| word.ends_with("elapsed") && word.contains(':')) {
        return Some(word).copied().filter(read);
    }
    match words.as_slice() {
        [user, system, clock, ..] if user.ends_with('u') && system.ends_with('s') && clock.contains(':') => {
            Some(*clock).filter(read)
        }
        [.., seconds, "total"] if words.contains(&"cpu") || words.contains(&"user") => {
            Some(*seconds).filter(read)
        }
        _ => None,
    }
}

/// Finds all values of lines that the caller's pattern matches.
///
/// # Errors
/// If the pattern is none, lacks a group, or matches no line.
pub(crate) fn read_by_pattern(
    text: &Text,
    pattern: &str,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
) -> Result<RawRows, ImportError> {
    let file = tolerance.file();
    let expression = compile(pattern, file)?;
    let mut rows = RawRows::of_lines(0, 0, &options.directory);
    let mut series = SeriesTable { options, file, found: HashMap::new() };
    let is_long = ["task", "target", "part"]
        .iter()
        .any(|wanted| expression.capture_names().flatten().any(|name| name == *wanted));
    let mut first = None;
    let (mut lines, mut content) = (text.reader(), String::new());
    while lines.line(&mut content)? {
        rows.lines += 1;
        if first.is_none() && !content.trim().is_empty() {
            first = Some(crate::import::error::shortened(&content));
        }
        let Some(found) = expression.captures(&content) else {
            rows.ignored += u64::from(!content.trim().is_empty());
            continue;
        };
        let group = |name: &str| found.name(name).map_or("", |piece| piece.as_str()).trim();
        let or = |text, otherwise| if str::is_empty(text) { otherwise } else { text };
        let names = [or(group("task"), &options.task), group("part"), or(group("target"), &options.target)];
        let index = series.find(names, None, "", &mut rows)?;
        let time = rows.add_time(rows.lines, group("time"), if is_long { index } else { 0 })?;
        rows.add_value(time, index, group("value"), group("status"))?;
    }
    if rows.times_count() == 0 && rows.lines > 0 {
        return Err(ImportError::undecided(
            file,
            format!(
                "none of its {} lines matches the pattern; the first one is {:?}",
                rows.lines,
                first.unwrap_or_default()
            ),
            "correct the pattern, for instance '^(?<time>\\S+ \\S+) .* took (?<value>\\S+)'",
        ));
    }
    Ok(rows)
}

fn compile(pattern: &str, file: &str) -> Result<Regex, ImportError> {
    const COMPILED_BYTES_MAX: usize = 4 << 20;
    let expression = RegexBuilder::new(pattern)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| {
            ImportError::options(file, format!("the pattern is no regular expression: {error}"))
        })?;
    for wanted in ["time", "value"] {
        if !expression.capture_names().flatten().any(|name| name == wanted) {
            return Err(ImportError::options(file, format!("the pattern has no group (?<{wanted}>…)")));
        }
    }
    Ok(expression)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_command_is_understood() {
        for (line, expected) in [
            ("real\t0m1.234s", Some("0m1.234s")),
            ("real 0.01", Some("0.01")),
            ("        0.01 real         0.00 user         0.00 sys", Some("0.01")),
            (
                "0.00user 0.01system 0:00.01elapsed 85%CPU (0avgtext+0avgdata 2048maxresident)k",
                Some("0:00.01elapsed"),
            ),
            ("\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:00.01", Some("0:00.01")),
            ("0.000u 0.004s 0:00.01 0.0%\t0+0k 0+0io 0pf+0w", Some("0:00.01")),
            ("ls -l  0.00s user 0.00s system 85% cpu 0.003 total", Some("0.003")),
            ("user\t0m0.001s", None),
            ("sys 0.00", None),
            ("a real problem 5", None),
            ("total 24", None),
        ] {
            assert_eq!(elapsed_of(line), expected, "{line}");
        }
    }

    #[test]
    fn times_are_told_from_values_at_the_begin_of_a_line() {
        let options = ImportOptions::new("host");
        for (line, time) in [
            ("1210204800 0.01", Some("1210204800")),
            ("Thu May  8 14:15:02 PDT 2008 real 0m1.234s", Some("Thu May  8 14:15:02 PDT 2008")),
            ("Thu May  8 14:15:02 PDT 2008", Some("Thu May  8 14:15:02 PDT 2008")),
            ("May  8 14:15:02 0.01", Some("May  8 14:15:02")),
            ("2008-05-08 14:15,0.01", Some("2008-05-08 14:15")),
            ("2008-05-08 14:15 0.01", Some("2008-05-08 14:15")),
            ("0.01", None),
            ("total 24", None),
            ("drwxr-xr-x 2 user group 4096 May  8 14:15 .", None),
        ] {
            assert_eq!(time_at_begin(line, &options).map(|length| &line[..length]), time, "{line}");
        }
        let format =
            ImportOptions { time_format: Some(TimeFormat::Strftime("%d.%m.%y %H:%M".into())), ..options };
        assert_eq!(time_at_begin("08.05.08 14:15 0.01", &format), Some(14));
        assert_eq!(time_at_begin("08.05.08 14:155 0.01", &format), None);
    }
}
