//! A history in the terminal: a figure for each task.

use std::collections::BTreeSet;

use iolag_model::WallTime;

use super::canvas::PATTERN_COUNT;
use super::drawing::{Above, LABEL_COLUMNS, NumberedDots, NumberedSteps, ecdf, foot, joined, time_line};
use super::size::TerminalSize;
use crate::figure::calendar::calendar_axis;
use crate::figure::of_histories::backdrop::{Backdrop, events, events_in_words};
use crate::figure::of_histories::choice::{Chosen, HistorySelection, Line, PlottedHistory, Task};
use crate::figure::of_histories::ecdf::steps_of;
use crate::figure::of_histories::samples::{for_each_mark, has_below, longest_of, points_of, range_of};
use crate::text::table::Colour;

/// The tasks, of as many places as can be told apart.
fn tasks<'a>(history: &'a PlottedHistory<'a>) -> Chosen<'a> {
    let mut chosen = Chosen::of(history, &HistorySelection::default());
    let told: BTreeSet<String> =
        chosen.places().iter().take(PATTERN_COUNT).map(|line| line.name.clone()).collect();
    chosen.keep_lines(|line| told.contains(&line.name), "for which there is no room");
    chosen
}

/// Number and name of a place: the same in each figure.
fn number(chosen: &Chosen<'_>, line: &Line<'_>) -> usize {
    chosen.places().iter().position(|place| place.name == line.name).unwrap_or_default()
}

/// The share of attempts of each task that took at most so long, on a logarithmic axis.
pub fn terminal_history_ecdf(history: &PlottedHistory<'_>, size: TerminalSize, colour: Colour) -> String {
    let size = size.at_least_readable();
    let chosen = tasks(history);
    let is_open = |line: &Line<'_>| line.series.by_attempt.end.is_some();
    let end = match chosen.lines().any(is_open) {
        true => " A curve that ends below 100 % goes on: the rest did not end.",
        false => "",
    };
    let foot = foot(&format!("{}{end}", chosen.coverage()), size);
    let figure = |task: &Task<'_>| {
        let curve = |line: &Line<'_>| NumberedSteps {
            number: number(&chosen, line),
            name: line.name.clone(),
            steps: steps_of(&line.series.by_attempt),
        };
        let curves: Vec<NumberedSteps> = task.lines.iter().map(curve).collect();
        let title = format!("Share that took at most so long: {}", task.name);
        ecdf(&title, &curves, (size, foot.lines().count()), colour)
    };
    joined(chosen.tasks.iter().map(figure), &foot)
}

/// Every attempt of each task over time, on a logarithmic axis of the time taken; what went wrong stands on top.
pub fn terminal_history_time_line(
    history: &PlottedHistory<'_>,
    size: TerminalSize,
    colour: Colour,
) -> String {
    let size = size.at_least_readable();
    let chosen = tasks(history);
    let axis = &history.figures.axis;
    let labels_max = size.columns.saturating_sub(LABEL_COLUMNS + 1) / 8;
    let x = calendar_axis(WallTime(axis.begin_ns), axis.span_ns, history.local_time, labels_max);
    let events = events(&chosen);
    let below = match chosen.lines().any(has_below) {
        true => "What was shorter than the clock could tell is not drawn.",
        false => "",
    };
    let times = format!("Times: {}.", history.zone);
    let told = [chosen.coverage(), below.to_owned(), events_in_words(&chosen, &events), times];
    let told: Vec<String> = told.into_iter().filter(|text| !text.is_empty()).collect();
    let foot = foot(&told.join(" "), size);
    let figure = |task: &Task<'_>| {
        let dots = |line: &Line<'_>| NumberedDots {
            number: number(&chosen, line),
            name: line.name.clone(),
            points: points_of(line.series, axis).chain(longest_of(line.series, axis)).collect(),
        };
        let dots: Vec<NumberedDots> = task.lines.iter().map(dots).collect();
        let mut marks = Vec::new();
        for line in &task.lines {
            for_each_mark(line.series, axis, |state, moment, count| marks.push((state, moment, count)));
        }
        let backdrop = Backdrop::of(&chosen, &events, &task.lines, 1);
        let spans: Vec<(f64, f64)> = backdrop.outages.into_iter().chain(backdrop.hangs).collect();
        let sentence = if spans.is_empty() {
            String::new()
        } else {
            "■ Bars: an outage, or an attempt of any task that hung.".to_owned()
        };
        let above = Above { marks, spans, sentence };
        let title = format!("Time taken over time: {}", task.name);
        let range = Some(range_of(&task.lines)).filter(|_| !dots.iter().all(|one| one.points.is_empty()));
        time_line(&title, (&dots, &above), (&x, range), (size, foot.lines().count()), colour)
    };
    joined(chosen.tasks.iter().map(figure), &foot)
}
