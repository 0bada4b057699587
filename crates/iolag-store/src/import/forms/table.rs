//! A separated file as rows and cells: which mark separates them, which row is the header, which line a row is of.

use std::collections::HashMap;
use std::io::BufRead;

use crate::import::aside::bytes::{AsideError, AsideReader};
use crate::import::error::ImportError;
use crate::import::options::file_options::{ColumnName, HeaderRow, Separator};
use crate::import::options::import_options::ImportOptions;
use crate::import::source::Text;

/// A row as its cells.
#[derive(Default, Clone)]
pub(crate) struct Row {
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

/// A separated file, of which one row at a time is read.
pub(crate) struct Table<'a> {
    text: &'a Text,
    file: &'a str,
    comment: Option<char>,
    /// What stands between its columns.
    pub separator: Separator,
    /// Names of the columns, if the first row has them.
    pub header: Option<Row>,
    /// The most cells that a row has.
    pub width: usize,
    /// Rows besides the header.
    pub rows_count: u64,
    /// Lines of the file.
    pub lines: u64,
    /// Rows that are comments.
    pub ignored: u64,
    /// The line that says what separates.
    told: Told,
}

/// Bytes and lines before the table.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    bytes: u64,
    lines: u64,
}

impl<'a> Table<'a> {
    /// Divides `text` into rows and cells. `is_header` judges the first row if the caller does not say.
    ///
    /// # Errors
    /// If it is not CSV at all.
    pub fn read(
        text: &'a Text,
        file: &'a str,
        options: &ImportOptions,
        is_header: impl Fn(&Row) -> bool,
    ) -> Result<Self, ImportError> {
        let lines = Lines::of(text, options.comment)?;
        let comment = options.comment;
        let separator = options.separator.or(lines.separator);
        let mut table = Self {
            text,
            file,
            comment,
            separator: separator.unwrap_or_else(|| guess_separator(&lines.first, comment)),
            header: None,
            width: 0,
            rows_count: 0,
            lines: lines.count + lines.told.lines,
            ignored: 0,
            told: lines.told,
        };
        let first = table.look_through(lines.comments)?;
        let has_header = match options.header {
            HeaderRow::Present => true,
            HeaderRow::Absent => false,
            HeaderRow::Guess => first.as_ref().is_some_and(is_header),
        };
        table.header = first.filter(|_| has_header);
        table.rows_count -= u64::from(table.header.is_some());
        Ok(table)
    }

    /// Learns what only all rows can tell; gives the first one.
    fn look_through(&mut self, comments: u64) -> Result<Option<Row>, ImportError> {
        let (mut first, mut width, mut count) = (None, 0, 0);
        let (mut rows, mut row) = (self.rows(), Row::default());
        while rows.read(&mut row)? {
            width = row.len().max(width);
            count += 1;
            first.get_or_insert_with(|| row.clone());
        }
        // With spaces between cells a comment may be indented.
        self.ignored = if self.separator.byte().is_some() { comments } else { rows.ignored };
        (self.width, self.rows_count) = (width, count);
        Ok(first)
    }

    /// All rows but the header, from the first one on.
    pub fn rows(&self) -> Rows<'_> {
        let begin = self.told.bytes;
        let reader = self.text.reader_from(begin);
        let input = match self.separator.byte() {
            Some(separator) => Input::Marked {
                records: csv::ReaderBuilder::new()
                    .has_headers(false)
                    .flexible(true)
                    .delimiter(separator)
                    .comment(self.comment.and_then(|mark| u8::try_from(mark).ok()).filter(u8::is_ascii))
                    .from_reader(reader),
                lines: LineCounter {
                    text: self.text.reader_from(begin),
                    comment: self.comment,
                    at: 0,
                    line: self.told.lines + 1,
                },
            },
            None => Input::Spaced { lines: reader, line: self.told.lines, content: String::new() },
        };
        Rows {
            file: self.file,
            comment: self.comment,
            input,
            ignored: 0,
            has_header_before: self.header.is_some(),
        }
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
            ([], Some(number)) if number <= self.width => Ok(number - 1),
            _ => Err(ImportError::options(
                file,
                format!("it has no column {:?}; {}", name.0, self.described()),
            )),
        }
    }

    /// Names of the columns with their index.
    pub fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.header.iter().flat_map(|header| (0..header.len()).map(|index| (index, header.cell(index))))
    }

    /// What columns there are, for people.
    pub fn described(&self) -> String {
        let names: Vec<&str> = self.names().map(|(_, name)| name).take(40).collect();
        match names.is_empty() {
            true => {
                format!("its columns are numbered 1 to {} (separator: {})", self.width, self.separator.name())
            }
            false => format!("its columns are {} (separator: {})", names.join(", "), self.separator.name()),
        }
    }
}

/// What Excel and Grafana may say in a line of its own, `sep=;`, and the text behind it.
pub(crate) fn told_separator(text: &str) -> (Option<Separator>, &str) {
    let told = text.split_once('\n').and_then(|(first, rest)| {
        let separator = first.trim_end_matches('\r').strip_prefix("sep=")?.parse().ok()?;
        Some((Some(separator), rest))
    });
    told.unwrap_or((None, text))
}

/// What the lines of a separated file say before they are cells.
struct Lines {
    /// What the file says about what separates.
    separator: Option<Separator>,
    told: Told,
    count: u64,
    comments: u64,
    /// The first lines that have something in them, to guess by.
    first: String,
}

impl Lines {
    fn of(text: &Text, comment: Option<char>) -> Result<Self, AsideError> {
        let (mut reader, mut line) = (text.reader(), String::new());
        reader.read_line(&mut line).map_err(|source| reader.failed(source))?;
        let (separator, _) = told_separator(&line);
        let told = match separator {
            Some(_) => Told { bytes: line.len() as u64, lines: 1 },
            None => Told::default(),
        };
        let mut lines = Self { separator, told, count: 0, comments: 0, first: String::new() };
        let mut first_lines = 0;
        let mut reader = text.reader_from(told.bytes);
        while reader.line(&mut line)? {
            lines.count += 1;
            let is_comment = comment.is_some_and(|mark| line.starts_with(mark));
            lines.comments += u64::from(is_comment);
            if first_lines < LINES_LOOKED_AT && !is_comment && !line.trim().is_empty() {
                first_lines += 1;
                lines.first += &line;
                lines.first.push('\n');
            }
        }
        Ok(lines)
    }
}

/// Reads the rows of a separated file.
pub(crate) struct Rows<'a> {
    file: &'a str,
    comment: Option<char>,
    input: Input<'a>,
    /// Comments between spaced rows so far.
    ignored: u64,
    has_header_before: bool,
}

enum Input<'a> {
    Marked {
        records: csv::Reader<AsideReader<'a>>,
        lines: LineCounter<'a>,
    },
    /// Cells with any number of spaces between; quotes hold spaces together.
    Spaced {
        lines: AsideReader<'a>,
        line: u64,
        content: String,
    },
}

impl Rows<'_> {
    /// Reads the next row into `row`; says whether there was one.
    ///
    /// # Errors
    /// If it is not CSV at all.
    pub fn read(&mut self, row: &mut Row) -> Result<bool, ImportError> {
        if std::mem::take(&mut self.has_header_before) && !self.read_any(row)? {
            return Ok(false);
        }
        self.read_any(row)
    }

    fn read_any(&mut self, row: &mut Row) -> Result<bool, ImportError> {
        match &mut self.input {
            Input::Marked { records, lines } => loop {
                let read = records.read_record(&mut row.cells);
                if !read.map_err(|error| {
                    ImportError::undecided(self.file, error.to_string(), "is it a text file?")
                })? {
                    return Ok(false);
                }
                row.line = lines.line_of(row.cells.position().map_or(0, csv::Position::byte))?;
                if row.cells.iter().any(|cell| !cell.trim().is_empty()) {
                    return Ok(true);
                }
            },
            Input::Spaced { lines, line, content } => {
                while lines.line(content)? {
                    *line += 1;
                    let content = content.trim();
                    if self.comment.is_some_and(|mark| content.starts_with(mark)) {
                        self.ignored += 1;
                    } else if !content.is_empty() {
                        (row.line, row.cells) = (*line, spaced_cells(content).into());
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

/// Tells lines of records, whose positions ascend: the reader's own count begins before the comments and empty lines in front of a record.
struct LineCounter<'a> {
    text: AsideReader<'a>,
    comment: Option<char>,
    at: u64,
    line: u64,
}

impl LineCounter<'_> {
    fn line_of(&mut self, byte: u64) -> Result<u64, AsideError> {
        self.count_lines_to(byte).map_err(|source| self.text.failed(source))?;
        Ok(self.line)
    }

    fn count_lines_to(&mut self, byte: u64) -> std::io::Result<()> {
        while self.at < byte {
            let bytes = self.text.fill_buf()?;
            let length = usize::try_from(byte - self.at).unwrap_or(usize::MAX).min(bytes.len());
            if length == 0 {
                break;
            }
            self.line += bytes[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
            self.text.consume(length);
            self.at += length as u64;
        }
        let comment = self.comment.and_then(|mark| u8::try_from(mark).ok());
        while let Some(first) = self.text.fill_buf()?.first().copied() {
            if !matches!(first, b'\r' | b'\n') && Some(first) != comment {
                break;
            }
            self.line += u64::from(self.skip_line()?);
        }
        Ok(())
    }

    /// Says whether it had an end.
    fn skip_line(&mut self) -> std::io::Result<bool> {
        loop {
            let bytes = self.text.fill_buf()?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(bytes.len(), |end| end + 1);
            self.text.consume(length);
            self.at += length as u64;
            if end.is_some() || length == 0 {
                return Ok(end.is_some());
            }
        }
    }
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

/// How many lines are looked at to tell what separates.
const LINES_LOOKED_AT: usize = 200;

/// The separator by which most of the first lines have the same number of columns, and more than one.
pub(crate) fn guess_separator(text: &str, comment: Option<char>) -> Separator {
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
    use std::path::Path;
    use std::sync::Arc;

    use super::*;

    fn text(text: &str) -> Text {
        Text::read(text.as_bytes(), "a.csv", 1 << 20, &Arc::from(Path::new("/tmp"))).unwrap()
    }

    fn rows(table: &Table<'_>) -> Vec<Row> {
        let (mut rows, mut row, mut all) = (table.rows(), Row::default(), Vec::new());
        while rows.read(&mut row).unwrap() {
            all.push(row.clone());
        }
        all
    }

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
        let text = self::text(text);
        let table = Table::read(&text, "a.csv", &options, |_| true).unwrap();
        let rows = rows(&table);
        assert_eq!((table.separator, table.ignored, table.lines), (Separator::Semicolon, 1, 7));
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [4, 7]);
        assert_eq!((rows[0].cell(1), rows[1].cell(1)), ("two\r\nlines", "a \"quote\""));
    }

    #[test]
    fn columns_have_names_or_numbers() {
        let options = ImportOptions::new("host");
        let text = text("time,real,real\n1,2,3\n");
        let table = Table::read(&text, "a.csv", &options, |_| true).unwrap();
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
