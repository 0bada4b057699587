//! The figures for terminals: title, legend, canvas between its axes, and how many samples stand behind it.

use std::collections::BTreeMap;

use iolag_model::{Outcome, format_count};
use unicode_width::UnicodeWidthStr;

use super::canvas::{BrailleCanvas, fitted, line_sample, point_sample};
use super::size::TerminalSize;
use crate::figure::axis::Axis;
use crate::figure::drawings::steps::Steps;
use crate::text::table::{Colour, Tone, wrapped};

/// Columns left of the canvas, for labels.
pub(super) const LABEL_COLUMNS: usize = 8;
/// Lines of the legend at most.
const LEGEND_LINES_MAX: usize = 3;
/// Lines that a figure needs in the lowest of terminals, and of its hangs' sentence there.
const FIGURE_LINES_MIN: usize = 14;
const BARS_LINES_MIN: usize = 2;
/// The gravest last, so that it is what is seen at a place.
const MARKS: [(Outcome, char); 5] = [
    (Outcome::Late, '◇'),
    (Outcome::Skipped, '|'),
    (Outcome::Error, '×'),
    (Outcome::Timeout, '△'),
    (Outcome::Hung, '■'),
];

/// A curve of an ECDF; pattern and colour follow its number.
pub(super) struct NumberedSteps {
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) steps: Steps,
}

/// Attempts of a time line, at their moments and durations in ns; form and colour follow their number.
pub(super) struct NumberedDots {
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// What stands above a time line.
pub(super) struct Above {
    /// Outcome, moment in ns, and how many.
    pub(super) marks: Vec<(u8, f64, u64)>,
    /// From where to where something lasted, in ns.
    pub(super) spans: Vec<(f64, f64)>,
    pub(super) sentence: String,
}

/// The share of attempts that took at most so long, on a logarithmic axis.
pub(super) fn ecdf(
    title: &str,
    curves: &[NumberedSteps],
    (size, foot_lines): (TerminalSize, usize),
    colour: Colour,
) -> String {
    let entries = curves.iter().map(|one| (line_sample(one.number, colour), one.name.clone()));
    let head = head(title, entries.collect(), size, LEGEND_LINES_MAX);
    let Some((shortest, longest)) = Steps::durations(curves.iter().map(|one| &one.steps)) else {
        return nothing(&head, size);
    };
    let mut frame = Frame::new(size, head.len() + foot_lines);
    let x = Axis::durations(shortest, longest, frame.canvas_columns() / 10);
    let y = Axis::percent(if frame.canvas_lines() >= 21 { 11 } else { 5 });
    thresholds(|ns| frame.canvas.upright(frame.canvas.dot_at(x.position(ns), 0.0).0), &x);
    for one in curves {
        let mut dots = vec![frame.canvas.dot_at(0.0, 0.0)];
        for (ns, share) in &one.steps.share {
            let (at, before) = (frame.canvas.dot_at(x.position(*ns), *share), dots[dots.len() - 1]);
            dots.extend([(at.0, before.1), at]);
        }
        dots.dedup();
        frame.canvas.line(&dots, one.number, colour);
    }
    let y = y.relabelled(|label| format!("{label} %"));
    frame.render(head, &x, &y, None, colour)
}

/// Every attempt over time, on a logarithmic axis of the time taken; what went wrong stands on top.
pub(super) fn time_line(
    title: &str,
    (dots, above): (&[NumberedDots], &Above),
    (x, range): (&Axis, Option<(f64, f64)>),
    (size, foot_lines): (TerminalSize, usize),
    colour: Colour,
) -> String {
    let mut counts: BTreeMap<u8, u64> = BTreeMap::new();
    above.marks.iter().for_each(|(outcome, _, count)| *counts.entry(*outcome).or_default() += count);
    let entries = dots.iter().map(|one| (point_sample(one.number, colour), one.name.clone()));
    let of_marks = MARKS.iter().rev().filter_map(|(outcome, sign)| {
        let count = counts.get(&(*outcome as u8))?;
        Some((sign.to_string(), format!("{outcome} ({})", format_count(*count))))
    });
    let spare = size.lines.saturating_sub(FIGURE_LINES_MIN);
    let bars = first_lines(&foot(&above.sentence, size), spare + BARS_LINES_MIN, size);
    let legend_lines = LEGEND_LINES_MAX - bars.len().saturating_sub(spare).min(BARS_LINES_MIN);
    let mut head = head(title, entries.chain(of_marks).collect(), size, legend_lines);
    if range.is_none() && counts.is_empty() && above.spans.is_empty() {
        return nothing(&head, size);
    }
    head.extend(bars);
    let (shortest, longest) = range.unwrap_or((f64::NAN, f64::NAN));
    let strip = usize::from(!counts.is_empty() || !above.spans.is_empty());
    let mut frame = Frame::new(size, head.len() + strip + foot_lines);
    let y = Axis::durations(shortest, longest, frame.canvas_lines() / 2);
    thresholds(|ns| frame.canvas.level(frame.canvas.dot_at(0.0, y.position(ns)).1), &y);
    for one in dots {
        for (moment, ns) in &one.points {
            let dot = frame.canvas.dot_at(x.position(*moment), y.position(*ns));
            frame.canvas.point(dot, one.number, colour);
        }
    }
    let mark_line = (strip == 1).then(|| mark_line(above, x, frame.canvas_columns(), colour));
    frame.render(head, x, &y, mark_line, colour)
}

/// Sentences in as many lines as they need.
pub(super) fn foot(text: &str, size: TerminalSize) -> String {
    let lines = wrapped(text, size.columns, "");
    lines.lines().map(|line| fitted(line, size.columns)).collect::<Vec<String>>().join("\n")
}

/// As many lines of a text as there is room for; where it goes on, the last one says so.
fn first_lines(text: &str, lines_max: usize, size: TerminalSize) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().take(lines_max).map(str::to_owned).collect();
    if let (Some(last), true) = (lines.last_mut(), text.lines().count() > lines_max) {
        *last = format!("{} …", fitted(last, size.columns - 2));
    }
    lines
}

/// Figures below each other, with what is said about all of them.
pub(super) fn joined(figures: impl Iterator<Item = String>, foot: &str) -> String {
    format!("{}{foot}\n", figures.collect::<Vec<String>>().join("\n"))
}

fn mark_line(above: &Above, x: &Axis, columns: usize, colour: Colour) -> String {
    let mut line = vec![' '; columns];
    let column_of = |moment| ((x.position(moment) * columns as f64) as usize).min(columns - 1);
    let gravity = |sign: char| MARKS.iter().position(|(_, known)| *known == sign);
    for (outcome, moment, _) in &above.marks {
        let Some((_, sign)) = MARKS.iter().find(|(known, _)| *known as u8 == *outcome) else {
            continue;
        };
        let column = column_of(*moment);
        if gravity(line[column]) < gravity(*sign) {
            line[column] = *sign;
        }
    }
    // Behind the marks.
    for (from, to) in &above.spans {
        let bar = &mut line[column_of(*from)..=column_of(*to)];
        bar.iter_mut().filter(|sign| **sign == ' ').for_each(|sign| *sign = '■');
    }
    let line: String = line.into_iter().collect();
    colour.paint(Tone::Serious, line.trim_end())
}

fn thresholds(draw: impl FnMut(f64), axis: &Axis) {
    let (begin, end) = axis.ends();
    [1e8, 1e9, 1e10].into_iter().filter(|ns| *ns > begin && *ns < end).for_each(draw);
}

/// Title and legend.
fn head(
    title: &str,
    entries: Vec<(String, String)>,
    size: TerminalSize,
    legend_lines_max: usize,
) -> Vec<String> {
    let mut lines = vec![fitted(title, size.columns)];
    let (mut line, mut width) = (String::new(), 0);
    let total = entries.len();
    for (index, (sample, name)) in entries.into_iter().enumerate() {
        let name = fitted(&name, size.columns / 2);
        // Samples are up to 5 columns wide; escape sequences take none.
        let needed = 5.min(sample.chars().filter(|c| !c.is_ascii()).count().max(1)) + 1 + name.width() + 3;
        if width > 0 && width + needed > size.columns {
            lines.push(line.trim_end().to_owned());
            (line, width) = (String::new(), 0);
        }
        if lines.len() > legend_lines_max {
            lines.push(format!("and {} more", total - index));
            break;
        }
        line.push_str(&format!("{sample} {name}   "));
        width += needed;
    }
    if width > 0 {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

fn nothing(head: &[String], size: TerminalSize) -> String {
    let text = "There is nothing to draw: no attempt of what was chosen has a duration.";
    format!("{}\n{}\n", head.join("\n"), fitted(text, size.columns))
}

/// The canvas between its axes.
struct Frame {
    canvas: BrailleCanvas,
}

impl Frame {
    /// `taken` lines are needed besides the canvas and its axis.
    fn new(size: TerminalSize, taken: usize) -> Self {
        let lines = size.lines.saturating_sub(taken + 2).max(3);
        Self { canvas: BrailleCanvas::new(size.columns - LABEL_COLUMNS - 1, lines) }
    }

    fn canvas_columns(&self) -> usize {
        self.canvas.width() / 2
    }

    fn canvas_lines(&self) -> usize {
        self.canvas.height() / 4
    }

    fn render(
        self,
        head: Vec<String>,
        x: &Axis,
        y: &Axis,
        mark_line: Option<String>,
        colour: Colour,
    ) -> String {
        let mut lines = head;
        lines.extend(mark_line.map(|marks| format!("{:LABEL_COLUMNS$} {marks}", "").trim_end().to_owned()));
        let rows = self.canvas.rows(colour);
        let mut labels = vec![String::new(); rows.len()];
        for (at, text) in y.ticks() {
            let (_, dot) = self.canvas.dot_at(0.0, y.position(*at));
            labels[(dot as usize / 4).min(rows.len() - 1)].clone_from(text);
        }
        for (label, row) in labels.iter().zip(&rows) {
            let axis = if label.is_empty() { '│' } else { '┤' };
            lines.push(format!("{label:>LABEL_COLUMNS$}{axis}{row}").trim_end().to_owned());
        }
        lines.extend(self.x_axis(x));
        lines.join("\n") + "\n"
    }

    /// The line of the axis and its labels.
    fn x_axis(&self, x: &Axis) -> [String; 2] {
        let columns = self.canvas_columns();
        let mut axis = vec!['─'; columns];
        let mut labels = vec![' '; LABEL_COLUMNS + 1 + columns];
        let mut free_from = 0;
        for (at, text) in x.ticks() {
            let column = (self.canvas.dot_at(x.position(*at), 0.0).0 as usize / 2).min(columns - 1);
            let length = text.chars().count();
            let middle = LABEL_COLUMNS + 1 + column;
            let begin = middle.saturating_sub(length / 2).min(labels.len().saturating_sub(length));
            axis[column] = '┬';
            if begin >= free_from && begin + length <= labels.len() {
                labels[begin..begin + length].iter_mut().zip(text.chars()).for_each(|(place, c)| *place = c);
                free_from = begin + length + 1;
            }
        }
        let axis: String = axis.into_iter().collect();
        let labels: String = labels.into_iter().collect();
        [format!("{:LABEL_COLUMNS$}└{axis}", ""), labels.trim_end().to_owned()]
    }
}
