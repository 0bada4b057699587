//! The time line of a history: a panel for each task, all places in it, as figures 1 to 3 of study 000.

use iolag_analysis::history::{ChangeMark, EventMark, Knowledge};
use iolag_model::WallTime;

use super::backdrop::{self, Backdrop};
use super::choice::{Chosen, Line, Task};
use super::samples::{BELOW, for_each_mark, has_below, longest_of, paint_ribbon, points_of, range_of};
use crate::figure::axis::{Axis, short_duration};
use crate::figure::calendar::calendar_axis;
use crate::figure::drawings::cloud::{DOTS_MAX, Form, count, draw_dots, draw_longest};
use crate::figure::drawings::density::DensityGrid;
use crate::figure::drawings::marks::{KINDS, MarkRow, MarkRows, Thinned};
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{Along, AxisTexts, Key, Panel, Region, Sheet};
use crate::figure::scene::shapes::{Align, MarkShape, Paint, Stroke};

/// How much of the height the band of what the clock could not tell takes.
const BAND: f64 = 0.07;
/// Lines that a panel needs besides its rows of marks, its name and labels included; and title, legend and caption of a figure.
const PANEL_LINES: usize = 8;
const CAPTION_LINES: usize = 11;
const BAND_PAINT: Paint = Paint::opaque(0xe6, 0xe9, 0xee);

pub(crate) fn draw(sheet: &mut Sheet, mut chosen: Chosen<'_>) -> Result<(), FigureError> {
    let room = room_of(sheet, &chosen);
    chosen.keep(room.0 * room.1);
    let axis = &chosen.history.figures.axis;
    chosen.title(sheet, "Time taken over time");
    let key = |line: &Line<'_>| (Key::Dot(line.paint), line.name.clone());
    sheet.legend(&chosen.places().into_iter().map(key).collect::<Vec<_>>());
    let points: usize = chosen.lines().map(|line| points_of(line.series, axis).count()).sum();
    let has_ribbons = chosen.lines().any(|line| line.series.ribbons.is_some());
    let form = if points > DOTS_MAX || has_ribbons { Form::Pixels } else { Form::Dots };
    let events = backdrop::events(&chosen);
    chosen.caption(sheet, &sentences(&chosen, &events, form));
    if chosen.tasks.is_empty() {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen.");
        return Ok(());
    }
    let regions = sheet.grid(chosen.tasks.len(), room);
    let lowest = regions.iter().map(|region| region.bottom).max();
    for (task, mut region) in chosen.tasks.iter().zip(regions) {
        if chosen.tasks.len() > 1 {
            sheet.panel_name(&task.name, &mut region);
        }
        draw_task(sheet, &chosen, (task, &events), (region, Some(region.bottom) == lowest), form)?;
    }
    Ok(())
}

/// How many panels fit side by side, and above each other with the rows of marks that they need.
fn room_of(sheet: &Sheet, chosen: &Chosen<'_>) -> (usize, usize) {
    let events = backdrop::events(chosen);
    let rows = chosen.tasks.iter().map(|task| marks_of(sheet, chosen, (task, &events), 1).1.0.len());
    let needed = rows.max().unwrap_or(0) + PANEL_LINES;
    let lines = (sheet.free.height() / sheet.text) as usize;
    (sheet.panels_max().0, (lines.saturating_sub(CAPTION_LINES) / needed).max(1))
}

/// What stands behind and above the panel of a task so wide, and what was below the clock's resolution.
fn marks_of(
    sheet: &Sheet,
    chosen: &Chosen<'_>,
    (task, events): (&Task<'_>, &[&EventMark]),
    width: i32,
) -> (Backdrop, MarkRows, Vec<(Paint, Vec<f64>)>) {
    let backdrop = Backdrop::of(chosen, events, &task.lines, chosen.tasks.len());
    let ns_per_unit = chosen.history.figures.axis.span_ns as f64 / f64::from(width.max(1));
    let (of_outcomes, below) = rows_of(chosen, &task.lines);
    let rows = backdrop.rows(sheet, ns_per_unit).into_iter().chain(of_outcomes).collect();
    (backdrop, MarkRows(rows), below)
}

fn draw_task(
    sheet: &Sheet,
    chosen: &Chosen<'_>,
    (task, events): (&Task<'_>, &[&EventMark]),
    (region, is_below): (Region, bool),
    form: Form,
) -> Result<(), FigureError> {
    let axis = &chosen.history.figures.axis;
    let (backdrop, marks, below) = marks_of(sheet, chosen, (task, events), region.width());
    let strip = Region { bottom: region.top + marks.height(sheet), ..region };
    let region = Region { top: strip.bottom, ..region };
    let (low, high) = range_of(&task.lines);
    let y = Axis::durations(low, high, sheet.labels_up(region.height()));
    let band_top = y.ends().0;
    let has_below = task.lines.iter().any(has_below);
    let y = if has_below { y.with_room_below(BAND) } else { y };
    let x = calendar_axis(
        WallTime(axis.begin_ns),
        axis.span_ns,
        chosen.history.local_time,
        sheet.dates_across(region.width()),
    );
    let x_text = format!("time ({})", chosen.history.zone);
    let resolution =
        task.lines.iter().filter(|line| self::has_below(line)).map(|line| line.series.resolution_ns);
    let band_name = resolution.max().map_or(String::new(), |ns| format!("< {}", short_duration(ns as f64)));
    // Names of rows and of the band stand where labels of the axis do.
    let names = marks.0.iter().map(|row| sheet.font().width(row.name, sheet.text * 4 / 5) - sheet.text / 2);
    let labels_width = names.max().unwrap_or(0).max(sheet.font().width(&band_name, sheet.text));
    let y_text = if region.height() < 8 * sheet.text { "" } else { "time taken" };
    let texts = AxisTexts { x: if is_below { &x_text } else { "" }, y: y_text, labels_width };
    let panel = sheet.panel(region, x, y, texts)?;
    backdrop.shade(&panel);
    if has_below {
        draw_band(sheet, &panel, band_top, &band_name, &below);
    }
    draw_attempts(sheet, chosen, &panel, &task.lines, form);
    for line in &task.lines {
        draw_levels(&panel, axis.begin_ns, axis.span_ns, line, band_top);
    }
    panel.thresholds(Along::Y);
    backdrop.draw_events(&panel);
    marks.draw(sheet, strip, &panel);
    Ok(())
}

fn draw_attempts(sheet: &Sheet, chosen: &Chosen<'_>, panel: &Panel<'_>, lines: &[Line<'_>], form: Form) {
    let axis = &chosen.history.figures.axis;
    if form == Form::Dots {
        lines.iter().for_each(|line| draw_dots(sheet, panel, points_of(line.series, axis), line.paint));
        return;
    }
    let mut grid = DensityGrid::over(panel.region(), panel.line_width());
    for line in lines {
        match &line.series.ribbons {
            Some(ribbons) => paint_ribbon(panel, &mut grid, ribbons, axis, line.paint),
            None => {
                let mut counts = grid.counts();
                count(panel, &grid, points_of(line.series, axis), &mut counts);
                grid.paint(&counts, line.paint);
            }
        }
    }
    let (columns, rows) = (grid.columns, grid.rows);
    panel.image(columns, rows, grid.into_rgba());
    let all = chosen.lines().count();
    for line in lines {
        let points = points_of(line.series, axis).chain(longest_of(line.series, axis));
        draw_longest(panel, points, line.paint, all);
    }
}

/// Rows of marks by outcome, in the colours of their places; and what was below the clock's resolution.
fn rows_of(chosen: &Chosen<'_>, lines: &[Line<'_>]) -> (Vec<MarkRow>, Vec<(Paint, Vec<f64>)>) {
    let axis = &chosen.history.figures.axis;
    let mut rows: Vec<MarkRow> =
        KINDS.into_iter().map(|(outcome, shape, paint)| MarkRow::new(outcome.name(), shape, paint)).collect();
    let mut below = Vec::new();
    for line in lines {
        let mut found = Thinned::new(axis.span_ns as f64, chosen.lines().count());
        for_each_mark(line.series, axis, |state, moment, times| found.add(state, moment, times));
        for (row, (outcome, ..)) in rows.iter_mut().zip(KINDS) {
            let (total, moments) = found.take(outcome as u8);
            row.total += total;
            row.marks.push((line.paint, moments));
        }
        below.push((line.paint, found.take(BELOW).1));
    }
    (rows.into_iter().filter(|row| !row.is_empty()).collect(), below)
}

/// The band below the axis, with a stroke for each moment at which something was that short.
fn draw_band(sheet: &Sheet, panel: &Panel<'_>, band_top: f64, name: &str, below: &[(Paint, Vec<f64>)]) {
    let ((left, right), (bottom, _)) = (panel.x.ends(), panel.y.ends());
    panel.rectangle((left, bottom), (right, band_top), BAND_PAINT);
    let (x, y_bottom) = panel.place(left, bottom);
    let middle = panel.place(left, band_top).1.midpoint(y_bottom);
    for (paint, moments) in below {
        let points = moments.iter().map(|moment| (panel.place(*moment, bottom).0, middle)).collect();
        panel.marks(points, MarkShape::Bar, paint.with_opacity(0.6));
    }
    let size = sheet.text * 9 / 10;
    panel.label(name, (x - sheet.text / 2, middle + size / 3), Align::End);
}

/// Levels with their medians, broken where the level changed; one below the resolution in the middle of its band.
fn draw_levels(panel: &Panel<'_>, begin_ns: i64, span_ns: u64, line: &Line<'_>, band_top: f64) {
    let changes = &line.series.changes;
    let (bottom, _) = panel.y.ends();
    let level = |seconds: f64, known: Knowledge| match known {
        Knowledge::AtMost => (bottom * band_top).sqrt(),
        _ => seconds * 1e9,
    };
    let first = changes.first().map(|change| level(change.median_before, change.median_before_is));
    let after = changes.iter().map(|change| level(change.median_after, change.median_after_is));
    let at = |change: &ChangeMark| (change.last_before_ns.midpoint(change.first_after_ns) - begin_ns) as f64;
    let borders = changes.iter().map(at).chain([span_ns as f64]);
    let mut from = 0.0;
    let mut corners = Vec::new();
    for (level, to) in first.into_iter().chain(after).zip(borders) {
        corners.extend([(from, level), (to, level)]);
        from = to;
    }
    panel.line(corners, Stroke::solid(line.paint, panel.line_width() * 3 / 2));
}

fn sentences(chosen: &Chosen<'_>, events: &[&EventMark], form: Form) -> Vec<String> {
    let figures = chosen.history.figures;
    let mut sentences = vec![backdrop::events_in_words(chosen, events)];
    if chosen.lines().any(|line| !line.series.changes.is_empty()) {
        sentences.push("Lines: medians of levels, broken where the level changed.".to_owned());
    }
    if form == Form::Pixels {
        let darker = if chosen.lines().any(|line| line.series.ribbons.is_some()) {
            "Ribbons: 5 to 95 %, the middle half darker, and the median"
        } else {
            "Darker is more attempts"
        };
        sentences.push(format!("{darker}; the longest of every moment are dots of their own."));
    }
    sentences.extend(figures.decimation.clone());
    let marked: Vec<String> = chosen
        .tasks
        .iter()
        .map(|task| MarkRows(rows_of(chosen, &task.lines).0).in_words())
        .filter(|words| !words.is_empty())
        .collect();
    if !marked.is_empty() {
        sentences.push(format!("Above: {}; marks at one place are drawn once.", marked.join("; ")));
    }
    let backdrops = chosen.tasks.iter().map(|task| Backdrop::of(chosen, events, &task.lines, 1));
    let has = backdrops.fold([false; 2], |[bad, unknown], one| {
        [bad || !one.outages.is_empty() || !one.hangs.is_empty(), unknown || !one.gaps.is_empty()]
    });
    let shades = [
        (has[0], "Red: an outage, or an attempt of any task that hung."),
        (has[1], "Grey: nothing is known."),
    ];
    sentences.extend(shades.into_iter().filter(|(is_there, _)| *is_there).map(|(_, text)| text.to_owned()));
    if chosen.lines().any(has_below) {
        sentences.push("The band at the bottom holds what was shorter than the clock could tell.".to_owned());
    }
    sentences.push("Dashed lines: 0.1, 1 and 10 s.".to_owned());
    sentences
}
