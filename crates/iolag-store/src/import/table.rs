//! A separated file as rows and cells: which mark separates them, which row is the header, which line a row is of.

use std::collections::HashMap;

use super::error::ImportError;
use super::options::{ColumnName, HeaderRow, ImportOptions, Separator};

/// A row as its cells.
pub(super) struct Row {
    pub line: u64,
    cells: csv::StringRecord,
}

impl Row {
    /// A cell; empty if the row is too short.
    pub fn cell(&self, column: usize) -> &str {
        self.cells.get(column).unwrap_or("").trim()
    }

    /// How many cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Several cells as one text.
    pub fn joined(&self, columns: &[usize]) -> String {
        let cells: Vec<&str> = columns.iter().map(|column| self.cell(*column)).collect();
        cells.join(" ").trim().to_owned()
    }

    /// The row as it may be shown.
    pub fn shown(&self) -> String {
        self.cells.iter().collect::<Vec<_>>().join(", ")
    }
}

/// The rows of a separated file.
pub(super) struct Table {
    /// What stands between its columns.
    pub separator: Separator,
    /// Names of the columns, if the first row has them.
    pub header: Option<Row>,
    /// All other rows.
    pub rows: Vec<Row>,
    /// Lines of the file.
    pub lines: u64,
    /// Rows that are comments.
    pub ignored: u64,
}

impl Table {
    /// Divides `text` into rows and cells. `is_header` judges the first row if the caller does not say.
    ///
    /// # Errors
    /// If it is not CSV at all.
    pub fn read(
        text: &str,
        file: &str,
        options: &ImportOptions,
        is_header: impl Fn(&Row) -> bool,
    ) -> Result<Self, ImportError> {
        let (told, text) = told_separator(text);
        let skipped = u64::from(told.is_some());
        let separator = options.separator.or(told).unwrap_or_else(|| guess_separator(text, options.comment));
        let lines = text.lines().count() as u64 + skipped;
        let mut rows = Vec::new();
        let ignored = match separator.byte() {
            Some(byte) => read_marked(text, byte, options.comment, skipped, file, &mut rows)?,
            None => read_spaced(text, options.comment, skipped, &mut rows),
        };
        let has_header = match options.header {
            HeaderRow::Present => true,
            HeaderRow::Absent => false,
            HeaderRow::Guess => rows.first().is_some_and(is_header),
        };
        let header = (has_header && !rows.is_empty()).then(|| rows.remove(0));
        Ok(Self { separator, header, rows, lines, ignored })
    }

    /// Index of the column that `name` means: by name, else by number from 1.
    ///
    /// # Errors
    /// If there is none, or several have that name.
    pub fn column(&self, name: &ColumnName, file: &str) -> Result<usize, ImportError> {
        let named: Vec<usize> =
            self.names().filter(|(_, column)| *column == name.0).map(|(index, _)| index).collect();
        let folded = || {
            self.names()
                .filter(|(_, column)| column.eq_ignore_ascii_case(&name.0))
                .map(|(index, _)| index)
                .collect()
        };
        let named: Vec<usize> = if named.is_empty() { folded() } else { named };
        let width = self.rows.iter().chain(&self.header).map(Row::len).max().unwrap_or(0);
        match (named.as_slice(), name.number()) {
            ([index], _) => Ok(*index),
            ([first, second, ..], _) => Err(ImportError::options(
                file,
                format!(
                    "columns {} and {} are both named {:?}; give the number of the one that you mean",
                    first + 1,
                    second + 1,
                    name.0
                ),
            )),
            ([], Some(number)) if number <= width => Ok(number - 1),
            _ => Err(ImportError::options(
                file,
                format!("it has no column {:?}; {}", name.0, self.described(width)),
            )),
        }
    }

    /// Names of the columns with their index.
    pub fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.header.iter().flat_map(|header| (0..header.len()).map(|index| (index, header.cell(index))))
    }

    /// What columns there are, for people.
    pub fn described(&self, width: usize) -> String {
        let names: Vec<&str> = self.names().map(|(_, name)| name).take(40).collect();
        match names.is_empty() {
            true => format!("its columns are numbered 1 to {width} (separator: {})", self.separator.name()),
            false => format!("its columns are {} (separator: {})", names.join(", "), self.separator.name()),
        }
    }
}

/// What Excel and Grafana may say in a line of its own, `sep=;`, and the text behind it.
pub(super) fn told_separator(text: &str) -> (Option<Separator>, &str) {
    let told = text.split_once('\n').and_then(|(first, rest)| {
        let separator = first.trim_end_matches('\r').strip_prefix("sep=")?.parse().ok()?;
        Some((Some(separator), rest))
    });
    told.unwrap_or((None, text))
}

fn read_marked(
    text: &str,
    separator: u8,
    comment: Option<char>,
    lines_before: u64,
    file: &str,
    rows: &mut Vec<Row>,
) -> Result<u64, ImportError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .comment(comment.and_then(|mark| u8::try_from(mark).ok()).filter(u8::is_ascii))
        .from_reader(text.as_bytes());
    let mut lines = LineCounter { text: text.as_bytes(), comment, at: 0, line: lines_before + 1 };
    for record in reader.records() {
        let cells =
            record.map_err(|error| ImportError::undecided(file, error.to_string(), "is it a text file?"))?;
        let line = lines.line_of(cells.position().map_or(0, csv::Position::byte));
        if cells.iter().any(|cell| !cell.trim().is_empty()) {
            rows.push(Row { line, cells });
        }
    }
    Ok(comment.map_or(0, |mark| text.lines().filter(|line| line.starts_with(mark)).count() as u64))
}

/// Tells lines of records, whose positions ascend: the reader's own count begins before the comments and empty lines in front of a record.
struct LineCounter<'a> {
    text: &'a [u8],
    comment: Option<char>,
    at: usize,
    line: u64,
}

impl LineCounter<'_> {
    fn line_of(&mut self, byte: u64) -> u64 {
        let begin = usize::try_from(byte).unwrap_or(usize::MAX).min(self.text.len());
        self.advance_to(begin);
        let comment = self.comment.and_then(|mark| u8::try_from(mark).ok());
        while let Some(first) = self.text.get(self.at) {
            let is_passed_over = matches!(first, b'\r' | b'\n') || Some(*first) == comment;
            let Some(end) =
                self.text[self.at..].iter().position(|byte| *byte == b'\n').filter(|_| is_passed_over)
            else {
                break;
            };
            self.advance_to(self.at + end + 1);
        }
        self.line
    }

    fn advance_to(&mut self, end: usize) {
        if end > self.at {
            self.line += self.text[self.at..end].iter().filter(|byte| **byte == b'\n').count() as u64;
            self.at = end;
        }
    }
}

/// Cells with any number of spaces between; quotes hold spaces together.
fn read_spaced(text: &str, comment: Option<char>, lines_before: u64, rows: &mut Vec<Row>) -> u64 {
    let mut ignored = 0;
    for (line, content) in (lines_before + 1..).zip(text.lines()) {
        let content = content.trim();
        if comment.is_some_and(|mark| content.starts_with(mark)) {
            ignored += 1;
        } else if !content.is_empty() {
            rows.push(Row { line, cells: spaced_cells(content).into() });
        }
    }
    ignored
}

fn spaced_cells(line: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('"').and_then(|inner| inner.split_once('"'));
        let (cell, behind) = match quoted {
            Some((cell, behind)) if behind.is_empty() || behind.starts_with(char::is_whitespace) => {
                (cell, behind)
            }
            _ => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        cells.push(cell);
        rest = behind.trim_start();
    }
    cells
}

/// The separator by which most of the first lines have the same number of columns, and more than one.
pub(super) fn guess_separator(text: &str, comment: Option<char>) -> Separator {
    const LINES_LOOKED_AT: usize = 200;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !comment.is_some_and(|mark| line.starts_with(mark)))
        .take(LINES_LOOKED_AT)
        .collect();
    let agreeing = |separator: Separator| -> usize {
        let mut counts = HashMap::<usize, usize>::new();
        for line in &lines {
            *counts.entry(cells_of(line, separator)).or_default() += 1;
        }
        counts.into_iter().filter(|(cells, _)| *cells > 1).map(|(_, lines)| lines).max().unwrap_or(0)
    };
    let best = |candidates: &[Separator]| {
        let counted = candidates.iter().map(|separator| (*separator, agreeing(*separator)));
        // Of equals the first in the order of the list.
        counted.reduce(|best, next| if next.1 > best.1 { next } else { best })
    };
    // Spaces are in dates and names too: they separate only if nothing else does.
    match best(&Separator::ALL[..4]) {
        Some((separator, agreeing)) if agreeing * 5 >= lines.len() * 4 && agreeing > 0 => separator,
        _ => Separator::Spaces,
    }
}

fn cells_of(line: &str, separator: Separator) -> usize {
    match separator.byte() {
        None => line.split_whitespace().count(),
        Some(mark) => {
            let mut is_quoted = false;
            1 + line
                .bytes()
                .filter(|byte| {
                    is_quoted ^= *byte == b'"';
                    *byte == mark && !is_quoted
                })
                .count()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_told_by_agreement() {
        for (text, separator) in [
            ("time,value\n1,2\n3,4\n", Separator::Comma),
            ("time;value\n1;0,01\n3;0,02\n", Separator::Semicolon),
            ("a\tb c\n1\t2 3\n", Separator::Tab),
            ("1210204800 0.01\n1210205700 0.02\n", Separator::Spaces),
            ("\"a,b\";\"c\"\n\"1,5\";2\n", Separator::Semicolon),
            ("# a,b,c\n1|2\n", Separator::Bar),
            ("", Separator::Spaces),
        ] {
            assert_eq!(guess_separator(text, Some('#')), separator, "{text}");
        }
    }

    #[test]
    fn lines_are_counted_through_quotes_comments_and_what_excel_adds() {
        let options = ImportOptions::new("host");
        let text =
            "sep=;\r\n# made by hand\r\ntime;text\r\n1;\"two\r\nlines\"\r\n\r\n2;\"a \"\"quote\"\"\"\r\n";
        let table = Table::read(text, "a.csv", &options, |_| true).unwrap();
        assert_eq!((table.separator, table.ignored, table.lines), (Separator::Semicolon, 1, 7));
        assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [4, 7]);
        assert_eq!((table.rows[0].cell(1), table.rows[1].cell(1)), ("two\r\nlines", "a \"quote\""));
    }

    #[test]
    fn columns_have_names_or_numbers() {
        let options = ImportOptions::new("host");
        let table = Table::read("time,real,real\n1,2,3\n", "a.csv", &options, |_| true).unwrap();
        assert_eq!(table.column(&ColumnName("Time".into()), "a.csv").unwrap(), 0);
        assert_eq!(table.column(&ColumnName("3".into()), "a.csv").unwrap(), 2);
        let twice = table.column(&ColumnName("real".into()), "a.csv").unwrap_err().to_string();
        assert!(twice.contains("columns 2 and 3 are both named \"real\""), "{twice}");
        let none = table.column(&ColumnName("user".into()), "a.csv").unwrap_err().to_string();
        assert!(
            none.contains("it has no column \"user\"; its columns are time, real, real (separator: comma)"),
            "{none}"
        );
    }

    #[test]
    fn quotes_hold_spaces_together() {
        assert_eq!(
            spaced_cells("1 \"two words\"  3\t\"open 4\"x"),
            ["1", "two words", "3", "\"open", "4\"x"]
        );
    }
}
