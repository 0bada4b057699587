//! The pictures for terminals: title, legend, canvas between its axes, and how many samples stand behind it.

use std::collections::BTreeMap;

use iolag_analysis::figure::{Distribution, Figures, TimeLineForm};
use iolag_model::{Outcome, format_count};
use unicode_width::UnicodeWidthStr;

use super::canvas::{BrailleCanvas, PATTERN_COUNT, fitted, line_sample, point_sample};
use super::size::TerminalSize;
use crate::figure::axis::Axis;
use crate::figure::choice::{Chosen, FigureSelection, Line, Place, Room};
use crate::figure::drawings::hangs::Hangs;
use crate::figure::drawings::{ecdf as curves, marks, time_line as points};
use crate::text::table::{Colour, Tone, wrapped};

/// Columns left of the canvas, for labels.
const LABEL_COLUMNS: usize = 8;
/// Operations that can be told apart; of every run and target.
const ROOM: Room = Room { operations: PATTERN_COUNT, lines: usize::MAX };
/// Lines of the legend at most.
const LEGEND_LINES_MAX: usize = 3;
/// Lines that a picture needs in the lowest of terminals, and of its hangs' sentence there.
const PICTURE_LINES_MIN: usize = 14;
const BARS_LINES_MIN: usize = 2;
/// The gravest last, so that it is what is seen at a place.
const MARKS: [(Outcome, char); 5] = [
    (Outcome::Late, '◇'),
    (Outcome::Skipped, '|'),
    (Outcome::Error, '×'),
    (Outcome::Timeout, '△'),
    (Outcome::Hung, '■'),
];

/// What one picture shows.
struct Part<'a, 'b> {
    title: String,
    places: Vec<Place>,
    lines: Vec<Numbered<'a, 'b>>,
}

/// A line with its number, which pattern, form and colour follow, and its name in the legend.
struct Numbered<'a, 'b> {
    number: usize,
    name: String,
    line: &'b Line<'a>,
}

/// One picture if a reader can tell its lines apart; else one per place, in which a number is an operation.
fn parts<'a, 'b>(chosen: &'b Chosen<'a>, places: Vec<Place>, what: &str) -> Vec<Part<'a, 'b>> {
    if chosen.lines.len() <= PATTERN_COUNT {
        let title = match chosen.runs.as_slice() {
            [run] => format!("{what}: {}", run.run.title),
            runs => format!("{what} of {} runs", runs.len()),
        };
        let lines = chosen.lines.iter().enumerate();
        let lines = lines.map(|(number, line)| Numbered { number, name: line.name.clone(), line });
        return vec![Part { title, places, lines: lines.collect() }];
    }
    let operations = chosen.operations();
    let number = |line: &Line<'_>| operations.iter().position(|known| *known == line.series.operation);
    let numbered = |line: &'b Line<'a>| Numbered {
        number: number(line).unwrap_or_default(),
        name: line.series.operation.to_string(),
        line,
    };
    let part = |place: Place| Part {
        title: format!("{what}: {}", chosen.place_name(place)),
        places: vec![place],
        lines: chosen.lines_of(place).into_iter().map(numbered).collect(),
    };
    places.into_iter().map(part).collect()
}

/// The share of attempts that took at most so long, on a logarithmic axis.
pub fn terminal_ecdf(
    figures: &Figures,
    selection: &FigureSelection,
    size: TerminalSize,
    colour: Colour,
) -> String {
    let size = size.at_least_readable();
    let chosen = Chosen::new(figures, selection, ROOM);
    let open = |line: &Line<'_>| curves::distribution_of(line).is_some_and(|own| own.at_least.is_some());
    let end = match chosen.lines.iter().any(open) {
        true => " A curve that ends below 100 % goes on: the rest did not end.",
        false => "",
    };
    let foot = foot(&format!("{}{end}", chosen.coverage()), size);
    let drawn = parts(&chosen, chosen.places(), "Share that took at most so long").into_iter();
    joined(drawn.map(|part| ecdf_of(&part, (size, foot.lines().count()), colour)), &foot)
}

fn ecdf_of(part: &Part<'_, '_>, (size, foot_lines): (TerminalSize, usize), colour: Colour) -> String {
    let lines: Vec<(&Numbered<'_, '_>, &Distribution)> =
        part.lines.iter().filter_map(|one| Some((one, curves::distribution_of(one.line)?))).collect();
    let entries = lines.iter().map(|(one, _)| (line_sample(one.number, colour), one.name.clone()));
    let head = head(&part.title, entries.collect(), size, LEGEND_LINES_MAX);
    let Some((shortest, longest)) = curves::durations(lines.iter().map(|(_, distribution)| *distribution))
    else {
        return nothing(&head, size);
    };
    let mut frame = Frame::new(size, head.len() + foot_lines);
    let x = Axis::durations(shortest, longest, frame.canvas_columns() / 10);
    let y = Axis::percent(if frame.canvas_lines() >= 21 { 11 } else { 5 });
    thresholds(|ns| frame.canvas.upright(frame.canvas.dot_at(x.position(ns), 0.0).0), &x);
    for (one, distribution) in &lines {
        let mut dots = vec![frame.canvas.dot_at(0.0, 0.0)];
        for (ns, share) in curves::steps(distribution, usize::MAX) {
            let (at, before) = (frame.canvas.dot_at(x.position(ns), share), dots[dots.len() - 1]);
            dots.extend([(at.0, before.1), at]);
        }
        dots.dedup();
        frame.canvas.line(&dots, one.number, colour);
    }
    let y = y.relabelled(|label| format!("{label} %"));
    frame.render(head, &x, &y, None, colour)
}

/// Every attempt over time, on a logarithmic axis of the time taken; what went wrong stands on top.
pub fn terminal_time_line(
    figures: &Figures,
    selection: &FigureSelection,
    size: TerminalSize,
    colour: Colour,
) -> String {
    let size = size.at_least_readable();
    let chosen = Chosen::new(figures, selection, ROOM);
    let x = Axis::time(points::span_ns(&chosen), size.columns.saturating_sub(LABEL_COLUMNS + 1) / 8);
    let foot = foot(&format!("{} Time since the start in {}.", chosen.coverage(), x.unit), size);
    let y = points::durations(figures, &chosen);
    let hangs = Hangs::new(figures, selection);
    let picture = |part: &Part<'_, '_>| {
        let own = hangs.split(&part.places).0;
        let bars = own.sentence("■ Bars", &chosen);
        time_line_of(figures, part, (&own, &bars), (&x, y), (size, foot.lines().count()), colour)
    };
    joined(parts(&chosen, hangs.places_with(&chosen), "Time taken over time").iter().map(picture), &foot)
}

fn time_line_of(
    figures: &Figures,
    part: &Part<'_, '_>,
    (hangs, bars): (&Hangs<'_>, &str),
    (x, range): (&Axis, Option<(f64, f64)>),
    (size, foot_lines): (TerminalSize, usize),
    colour: Colour,
) -> String {
    let lines: Vec<&Line<'_>> = part.lines.iter().map(|one| one.line).collect();
    let mut counts: BTreeMap<u8, u64> = BTreeMap::new();
    marks::for_each_mark(&lines, |outcome, _, count| *counts.entry(outcome).or_default() += count);
    let entries = part.lines.iter().map(|one| (point_sample(one.number, colour), one.name.clone()));
    let of_marks = MARKS.iter().rev().filter_map(|(outcome, sign)| {
        let count = counts.get(&(*outcome as u8))?;
        Some((sign.to_string(), format!("{outcome} ({})", format_count(*count))))
    });
    let spare = size.lines.saturating_sub(PICTURE_LINES_MIN);
    let bars = first_lines(&foot(bars, size), spare + BARS_LINES_MIN, size);
    let legend_lines = LEGEND_LINES_MAX - bars.len().saturating_sub(spare).min(BARS_LINES_MIN);
    let mut head = head(&part.title, entries.chain(of_marks).collect(), size, legend_lines);
    if range.is_none() && counts.is_empty() && hangs.is_empty() {
        return nothing(&head, size);
    }
    head.extend(bars);
    let (shortest, longest) = range.unwrap_or((f64::NAN, f64::NAN));
    let strip = usize::from(!counts.is_empty() || !hangs.is_empty());
    let mut frame = Frame::new(size, head.len() + strip + foot_lines);
    let y = Axis::durations(shortest, longest, frame.canvas_lines() / 2);
    thresholds(|ns| frame.canvas.level(frame.canvas.dot_at(0.0, y.position(ns)).1), &y);
    for Numbered { number, line, .. } in &part.lines {
        draw_cells(&mut frame.canvas, figures, line, (x, &y), *number, colour);
        for (moment, ns) in points::points_of(line, &figures.axis) {
            let dot = frame.canvas.dot_at(x.position(moment), y.position(ns));
            frame.canvas.point(dot, *number, colour);
        }
    }
    let mark_line = (strip == 1).then(|| mark_line(&lines, hangs, x, frame.canvas_columns(), colour));
    frame.render(head, x, &y, mark_line, colour)
}

/// Sentences in as many lines as they need.
fn foot(text: &str, size: TerminalSize) -> String {
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

/// Pictures below each other, with what is said about all of them.
fn joined(pictures: impl Iterator<Item = String>, foot: &str) -> String {
    format!("{}{foot}\n", pictures.collect::<Vec<String>>().join("\n"))
}

/// Draws the cells of a density that hold an attempt.
fn draw_cells(
    canvas: &mut BrailleCanvas,
    figures: &Figures,
    line: &Line<'_>,
    (x, y): (&Axis, &Axis),
    number: usize,
    colour: Colour,
) {
    let time_line = &line.run.time_line;
    let (TimeLineForm::Density, Some(density)) = (time_line.form, &time_line.density) else {
        return;
    };
    let columns = density.columns.max(1);
    let span_ns = line.run.run.span_ns.0 as f64;
    for layer in density.layers.iter().filter(|layer| layer.layer == line.series.layer) {
        for (index, _) in layer.counts.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (row, column) = (index as u32 / columns, index as u32 % columns);
            let bucket = u32::from(layer.first_bucket) + row * u32::from(density.buckets_per_row);
            let moment = (f64::from(column) + 0.5) / f64::from(columns) * span_ns;
            if let Some(ns) = u16::try_from(bucket).ok().and_then(|b| points::middle_ns(&figures.axis, b)) {
                canvas.point(canvas.dot_at(x.position(moment), y.position(ns)), number, colour);
            }
        }
    }
}

fn mark_line(lines: &[&Line<'_>], hangs: &Hangs<'_>, x: &Axis, columns: usize, colour: Colour) -> String {
    let mut line = vec![' '; columns];
    let column_of = |moment| ((x.position(moment) * columns as f64) as usize).min(columns - 1);
    let gravity = |sign: char| MARKS.iter().position(|(_, known)| *known == sign);
    marks::for_each_mark(lines, |outcome, moment, _| {
        let Some((_, sign)) = MARKS.iter().find(|(known, _)| *known as u8 == outcome) else {
            return;
        };
        let column = column_of(moment);
        if gravity(line[column]) < gravity(*sign) {
            line[column] = *sign;
        }
    });
    // Behind the marks.
    for (from, to) in hangs.spans_ns() {
        let bar = &mut line[column_of(from)..=column_of(to)];
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
