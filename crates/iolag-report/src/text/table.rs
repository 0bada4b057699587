//! A small table renderer: groups of columns side by side, sections, numbers to the right.
//!
//! Widths are those of a terminal (wide characters count twice). Lines have no trailing blanks.

use std::borrow::Cow;

use iolag_model::one_line;
use unicode_width::UnicodeWidthStr;

/// Whether text is marked with colours. NO_COLOR and terminals are the caller's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Never,
    /// ANSI escape sequences.
    Always,
}

/// What a text means, for colouring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// A heading.
    Strong,
    /// Of little weight.
    Faint,
    /// Needs a look.
    Warning,
    /// Bad.
    Serious,
    /// Good.
    Good,
}

impl Colour {
    /// The text in this tone.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match (self, tone) {
            (Self::Never, _) | (_, Tone::Plain) => return text.to_owned(),
            (_, Tone::Strong) => "1",
            (_, Tone::Faint) => "2",
            (_, Tone::Warning) => "33",
            (_, Tone::Serious) => "1;31",
            (_, Tone::Good) => "32",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// On which side of its column a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A text in a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub text: String,
    pub tone: Tone,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::toned(text, Tone::Plain)
    }

    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: one_line(&text.into()), tone }
    }
}

/// Columns under a common title.
#[derive(Debug, Clone)]
pub(crate) struct ColumnGroup {
    pub title: String,
    pub columns: Vec<(Cow<'static, str>, Side)>,
}

/// Columns of these names.
pub(crate) fn columns<const N: usize>(columns: [(&'static str, Side); N]) -> Vec<(Cow<'static, str>, Side)> {
    columns.map(|(name, side)| (Cow::Borrowed(name), side)).to_vec()
}

#[derive(Debug, Clone)]
enum Row {
    Section(String),
    Cells(Vec<Cell>),
}

/// A table. Groups stand three blanks apart, columns two.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    groups: Vec<ColumnGroup>,
    rows: Vec<Row>,
}

const BETWEEN_GROUPS: usize = 3;
const BETWEEN_COLUMNS: usize = 2;

impl Table {
    pub(crate) const fn new(groups: Vec<ColumnGroup>) -> Self {
        Self { groups, rows: Vec::new() }
    }

    /// A heading for the rows below.
    pub(crate) fn section(&mut self, title: &str) {
        self.rows.push(Row::Section(title.to_owned()));
    }

    /// A row with a cell for every column of every group.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns().count(), "a cell for every column");
        self.rows.push(Row::Cells(cells));
    }

    fn columns(&self) -> impl Iterator<Item = &(Cow<'static, str>, Side)> {
        self.groups.iter().flat_map(|group| &group.columns)
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns().map(|(name, _)| name.width()).collect();
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = (*width).max(cell.text.width());
                }
            }
        }
        // A long title widens the last column of its group.
        let mut first = 0;
        for group in &self.groups {
            let last = first + group.columns.len() - 1;
            let missing = group.title.width().saturating_sub(span(&widths[first..=last]));
            widths[last] += missing;
            first = last + 1;
        }
        widths
    }

    /// Columns of the terminal that the table takes.
    pub(crate) fn width(&self) -> usize {
        let widths = self.widths();
        let mut first = 0;
        let mut sum = 0;
        for group in &self.groups {
            sum += span(&widths[first..first + group.columns.len()]);
            first += group.columns.len();
        }
        sum + BETWEEN_GROUPS * self.groups.len().saturating_sub(1)
    }

    pub(crate) fn render(&self, colour: Colour) -> String {
        let widths = self.widths();
        let mut text = String::new();
        if self.groups.iter().any(|group| !group.title.is_empty()) {
            text.push_str(&self.titles(&widths, colour));
        }
        let names: Vec<Cell> =
            self.columns().map(|(name, _)| Cell::toned(name.as_ref(), Tone::Faint)).collect();
        if names.iter().any(|name| !name.text.is_empty()) {
            text.push_str(&self.line(&names, &widths, colour));
        }
        for row in &self.rows {
            match row {
                Row::Section(title) => {
                    text.push_str(&colour.paint(Tone::Strong, title));
                    text.push('\n');
                }
                Row::Cells(cells) => text.push_str(&self.line(cells, &widths, colour)),
            }
        }
        text
    }

    fn titles(&self, widths: &[usize], colour: Colour) -> String {
        let mut line = Line::default();
        let mut first = 0;
        for group in &self.groups {
            let width = span(&widths[first..first + group.columns.len()]);
            line.put(&group.title, Tone::Strong, width, Side::Left, colour);
            line.gap(BETWEEN_GROUPS);
            first += group.columns.len();
        }
        line.end()
    }

    fn line(&self, cells: &[Cell], widths: &[usize], colour: Colour) -> String {
        let mut line = Line::default();
        let mut index = 0;
        for group in &self.groups {
            for (place, (_, side)) in group.columns.iter().enumerate() {
                if place > 0 {
                    line.gap(BETWEEN_COLUMNS);
                }
                line.put(&cells[index].text, cells[index].tone, widths[index], *side, colour);
                index += 1;
            }
            line.gap(BETWEEN_GROUPS);
        }
        line.end()
    }
}

fn span(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + BETWEEN_COLUMNS * widths.len().saturating_sub(1)
}

/// A line that keeps blanks back until something follows them.
#[derive(Default)]
struct Line {
    text: String,
    blanks: usize,
}

impl Line {
    fn put(&mut self, text: &str, tone: Tone, width: usize, side: Side, colour: Colour) {
        let missing = width.saturating_sub(text.width());
        if text.is_empty() {
            self.blanks += width;
            return;
        }
        if side == Side::Right {
            self.blanks += missing;
        }
        self.text.extend(std::iter::repeat_n(' ', self.blanks));
        self.blanks = if side == Side::Left { missing } else { 0 };
        self.text.push_str(&colour.paint(tone, text));
    }

    const fn gap(&mut self, width: usize) {
        self.blanks += width;
    }

    fn end(mut self) -> String {
        self.text.push('\n');
        self.text
    }
}

/// Breaks a text at blanks so that no line is wider than `width`, unless a single word is. Numbers stay whole and with their
/// units. Blanks at its begin are kept; further lines begin with `indent`.
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let words = text.trim_start_matches(' ');
    let mut lines = " ".repeat(text.len() - words.len());
    let mut column = lines.len();
    let mut is_first = true;
    for word in unbroken(words) {
        if !is_first && column + 1 + word.width() > width {
            lines.push('\n');
            lines.push_str(indent);
            column = indent.width();
        } else if !is_first {
            lines.push(' ');
            column += 1;
        }
        is_first = false;
        lines.push_str(word);
        column += word.width();
    }
    lines
}

/// What no line may end in: words, and numbers with all their digits and their unit.
fn unbroken(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let now = rest?;
        let mut end = 0;
        loop {
            let Some(blank) = now[end..].find(' ').map(|at| end + at) else {
                rest = None;
                return Some(now);
            };
            if !goes_on(&now[..blank], &now[blank + 1..]) {
                rest = Some(&now[blank + 1..]);
                return Some(&now[..blank]);
            }
            end = blank + 1;
        }
    })
}

/// Whether a number that ends with `before` goes on with a group of digits, its interval or its unit at the begin of `after`.
fn goes_on(before: &str, after: &str) -> bool {
    const UNITS: [&str; 15] =
        ["ns", "µs", "ms", "s", "min", "h", "d", "%", "B", "KiB", "MiB", "GiB", "TiB", "objects/s", "MiB/s"];
    let next = after.split(' ').next().unwrap_or_default();
    let digits = next.bytes().take_while(u8::is_ascii_digit).count();
    let is_group = before.ends_with(|last: char| last.is_ascii_digit()) && digits == 3;
    let has_unit = before.ends_with(|last: char| last.is_ascii_digit() || last == ']')
        && UNITS.contains(&next.trim_end_matches([',', '.', ';', ':', ')', '?']));
    let has_interval = before.ends_with(|last: char| last.is_ascii_digit()) && next.starts_with('[');
    is_group || has_unit || has_interval
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let label = ColumnGroup { title: String::new(), columns: columns([("", Side::Left)]) };
        let numbers = ColumnGroup {
            title: "/home".into(),
            columns: columns([("n", Side::Right), ("max", Side::Right)]),
        };
        let mut table = Table::new(vec![label, numbers]);
        table.section("Tasks");
        table.row(vec![Cell::new("目録"), Cell::new("4"), Cell::toned("1.25 ms", Tone::Serious)]);
        table.row(vec![Cell::new("ls"), Cell::new("400"), Cell::default()]);
        table
    }

    #[test]
    fn columns_stand_below_each_other_whatever_the_characters() {
        let expected = "       /home\n         n      max\nTasks\n目録     4  1.25 ms\nls     400\n";
        assert_eq!(table().render(Colour::Never), expected);
        assert_eq!(table().width(), 19);
    }

    #[test]
    fn colour_changes_no_column() {
        let coloured = table().render(Colour::Always);
        assert!(coloured.contains("\x1b[1;31m1.25 ms\x1b[0m"));
        let mut plain = coloured;
        for code in ["1", "2", "1;31", "0"] {
            plain = plain.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(plain, table().render(Colour::Never));
    }

    #[test]
    fn long_texts_are_broken_at_blanks() {
        assert_eq!(wrapped("aa bb cc", 5, "  "), "aa bb\n  cc");
        assert_eq!(wrapped("  aa bb cc", 5, "  "), "  aa\n  bb\n  cc");
        assert_eq!(wrapped("a-very-long-word b", 5, ""), "a-very-long-word\nb");
        assert_eq!(wrapped("a  b", 80, ""), "a  b");
    }

    #[test]
    fn a_name_is_one_line_whatever_it_is_called() {
        assert_eq!(
            one_line("/x\nVerdict\t\u{1b}[2J\u{85}é"),
            "/x\u{fffd}Verdict\u{fffd}\u{fffd}[2J\u{fffd}é"
        );
        let mut table = table();
        table.row(vec![Cell::new("a\nb"), Cell::new("1"), Cell::new("2")]);
        assert_eq!(table.render(Colour::Never).lines().count(), 6);
    }

    #[test]
    fn numbers_stay_whole_and_with_their_units() {
        assert_eq!(wrapped("it did 1 022 076 of them", 12, ""), "it did\n1 022 076 of\nthem");
        assert_eq!(wrapped("the longest took 16.0 ms.", 21, ""), "the longest took\n16.0 ms.");
        assert_eq!(wrapped("took 1.2 [1.1–1.4] ms, or", 20, ""), "took\n1.2 [1.1–1.4] ms, or");
        assert_eq!(wrapped("in 2008 1000 files", 8, ""), "in 2008\n1000\nfiles");
    }
}
