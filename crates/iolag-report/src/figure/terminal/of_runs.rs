//! Runs in the terminal.

use iolag_analysis::figure::{Figures, TimeLineForm};

use super::canvas::PATTERN_COUNT;
use super::drawing::{Above, LABEL_COLUMNS, NumberedDots, NumberedSteps, ecdf, foot, joined, time_line};
use super::size::TerminalSize;
use crate::figure::axis::Axis;
use crate::figure::drawings::cloud::middle_ns;
use crate::figure::of_runs::choice::{Chosen, FigureSelection, Line, Place, Room};
use crate::figure::of_runs::hangs::Hangs;
use crate::figure::of_runs::{ecdf as curves, marks, time_line as points};
use crate::text::table::Colour;

/// Operations that can be told apart; of every run and target.
const ROOM: Room = Room { operations: PATTERN_COUNT, lines: usize::MAX };

/// What one figure shows.
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

/// One figure if a reader can tell its lines apart; else one per place, in which a number is an operation.
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
    let curves = |part: &Part<'_, '_>| -> Vec<NumberedSteps> {
        let of_line = |one: &Numbered<'_, '_>| {
            let steps = curves::steps_of(curves::distribution_of(one.line)?);
            Some(NumberedSteps { number: one.number, name: one.name.clone(), steps })
        };
        part.lines.iter().filter_map(of_line).collect()
    };
    let figure = |part: Part<'_, '_>| ecdf(&part.title, &curves(&part), (size, foot.lines().count()), colour);
    joined(drawn.map(figure), &foot)
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
    let figure = |part: &Part<'_, '_>| {
        let own = hangs.split(&part.places).0;
        let dots: Vec<NumberedDots> = part.lines.iter().map(|one| dots_of(figures, one)).collect();
        let lines: Vec<&Line<'_>> = part.lines.iter().map(|one| one.line).collect();
        let mut found = Vec::new();
        marks::for_each_mark(&lines, |outcome, moment, count| found.push((outcome, moment, count)));
        let sentence = own.sentence("■ Bars", &chosen);
        let above = Above { marks: found, spans: own.spans_ns().collect(), sentence };
        time_line(&part.title, (&dots, &above), (&x, y), (size, foot.lines().count()), colour)
    };
    joined(parts(&chosen, hangs.places_with(&chosen), "Time taken over time").iter().map(figure), &foot)
}

/// The cells of a density that hold an attempt, and single attempts.
fn dots_of(figures: &Figures, one: &Numbered<'_, '_>) -> NumberedDots {
    let mut found = cells_of(figures, one.line);
    found.extend(points::points_of(one.line, &figures.axis));
    NumberedDots { number: one.number, name: one.name.clone(), points: found }
}

fn cells_of(figures: &Figures, line: &Line<'_>) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    let time_line = &line.run.time_line;
    let (TimeLineForm::Density, Some(density)) = (time_line.form, &time_line.density) else {
        return found;
    };
    let columns = density.columns.max(1);
    let span_ns = line.run.run.span_ns.0 as f64;
    for layer in density.layers.iter().filter(|layer| layer.layer == line.series.layer) {
        for (index, _) in layer.counts.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (row, column) = (index as u32 / columns, index as u32 % columns);
            let bucket = u32::from(layer.first_bucket) + row * u32::from(density.buckets_per_row);
            let moment = (f64::from(column) + 0.5) / f64::from(columns) * span_ns;
            if let Some(ns) = u16::try_from(bucket).ok().and_then(|b| middle_ns(&figures.axis.lowest_ns, b)) {
                found.push((moment, ns));
            }
        }
    }
    found
}
