//! The time line: every attempt over time, what took longest and what went wrong always as vectors.

use iolag_analysis::figure::{BucketAxis, Figures, TimeLineForm};
use iolag_model::counted;

use super::hangs::Hangs;
use super::marks::rows_of;
use crate::figure::axis::Axis;
use crate::figure::drawings::cloud::{DOTS_MAX, Form, count, draw_dots, draw_longest, middle_ns};
use crate::figure::drawings::density::DensityGrid;
use crate::figure::drawings::marks::MarkRows;
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::{Chosen, Line};
use crate::figure::paper::sheet::{Along, AxisTexts, Key, Panel, Region, Sheet};
use crate::figure::scene::shapes::Align;

pub(crate) fn draw(
    sheet: &mut Sheet,
    figures: &Figures,
    mut chosen: Chosen<'_>,
    hangs: &Hangs<'_>,
) -> Result<(), FigureError> {
    let room = sheet.panels_max();
    let mut places = hangs.places_with(&chosen);
    places.truncate(room.0 * room.1);
    chosen.keep(|line| places.contains(&line.place()));
    let (hangs, hangs_left_out) = hangs.split(&places);
    let span_ns = span_ns(&chosen);
    let lines: Vec<&Line<'_>> = chosen.lines.iter().collect();
    let marks = rows_of(&lines, &hangs, span_ns, 1);
    let mut keys: Vec<(Key, String)> = Vec::new();
    for line in &chosen.lines {
        let name = line.series.operation.to_string();
        if !keys.iter().any(|(_, known)| *known == name) {
            keys.push((Key::Dot(line.paint), name));
        }
    }
    chosen.title(sheet, "Time taken over time");
    sheet.legend(&keys);
    let points: usize = chosen.lines.iter().map(|line| points_of(line, &figures.axis).count()).sum();
    let form = match points > DOTS_MAX || has_density(&chosen) {
        true => Form::Pixels,
        false => Form::Dots,
    };
    let mut sentences = sentences(&chosen, &marks, form);
    sentences.extend([hangs.sentence("Bars", &chosen), hangs_left_out.sentence("Not drawn", &chosen)]);
    chosen.caption(sheet, &sentences);
    let range = durations(figures, &chosen);
    if range.is_none() && marks.is_empty() {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen.");
        return Ok(());
    }
    let regions = sheet.grid(places.len(), room);
    let lowest = regions.iter().map(|region| region.bottom).max();
    for (place, mut region) in places.iter().zip(regions) {
        if places.len() > 1 {
            sheet.panel_name(&chosen.place_name(*place), &mut region);
        }
        let time = Axis::time(span_ns, sheet.labels_across(region.width()).max(4));
        let is_below = Some(region.bottom) == lowest;
        let lines = chosen.lines_of(*place);
        let hangs = hangs.split(&[*place]).0;
        let marks = rows_of(&lines, &hangs, span_ns, places.len());
        draw_place(sheet, figures, (&lines, &hangs, &marks), (region, is_below), (time, range), form)?;
    }
    Ok(())
}

/// A panel with its marks above it; text along the axis of time only below the last row of panels.
fn draw_place(
    sheet: &Sheet,
    figures: &Figures,
    (lines, hangs, marks): (&[&Line<'_>], &Hangs<'_>, &MarkRows),
    (region, is_below): (Region, bool),
    (x, range): (Axis, Option<(f64, f64)>),
    form: Form,
) -> Result<(), FigureError> {
    let strip = Region { bottom: region.top + marks.height(sheet), ..region };
    let region = Region { top: strip.bottom, ..region };
    let (shortest, longest) = range.unwrap_or((f64::NAN, f64::NAN));
    let y = Axis::durations(shortest, longest, sheet.labels_up(region.height()));
    let x_text = format!("time since the start in {}", x.unit);
    // A text that is longer than its axis would run into others.
    let y_text = if region.height() < 8 * sheet.text { "" } else { "time taken" };
    let texts = AxisTexts { x: if is_below { &x_text } else { "" }, y: y_text, ..AxisTexts::default() };
    let panel = sheet.panel(region, x, y, texts)?;
    hangs.shade(&panel);
    match form {
        Form::Pixels => {
            draw_pixels(&panel, figures, lines);
            for line in lines {
                draw_longest(&panel, points_of(line, &figures.axis), line.paint, lines.len());
            }
        }
        Form::Dots => {
            for line in lines {
                draw_dots(sheet, &panel, points_of(line, &figures.axis), line.paint);
            }
        }
    }
    if range.is_none() {
        let Region { left, right, top, bottom } = panel.region();
        let middle = (left.midpoint(right), top.midpoint(bottom));
        panel.label("no attempt ended in success", middle, Align::Middle);
    }
    panel.thresholds(Along::Y);
    marks.draw(sheet, strip, &panel);
    Ok(())
}

/// The longest span of the runs, at least 1 ns.
pub(crate) fn span_ns(chosen: &Chosen<'_>) -> f64 {
    chosen.runs.iter().map(|run| run.run.span_ns.0 as f64).fold(1.0, f64::max)
}

/// Moment since the begin and duration, both in ns, of the points of a line.
pub(crate) fn points_of<'a>(
    line: &'a Line<'_>,
    axis: &'a BucketAxis,
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let points = &line.run.time_line.points;
    let span_ns = line.run.run.span_ns.0 as f64;
    let columns = points.time.0.iter().zip(&points.bucket.0).zip(&points.series.0);
    columns.filter(|(_, series)| **series == line.index).filter_map(move |((time, bucket), _)| {
        Some((f64::from(*time) / 2_f64.powi(32) * span_ns, middle_ns(&axis.lowest_ns, *bucket)?))
    })
}

fn has_density(chosen: &Chosen<'_>) -> bool {
    chosen.lines.iter().any(|line| line.run.time_line.form == TimeLineForm::Density)
}

/// Shortest and longest duration of what is drawn, in ns.
pub(crate) fn durations(figures: &Figures, chosen: &Chosen<'_>) -> Option<(f64, f64)> {
    let mut range: Option<(f64, f64)> = None;
    let mut add = |ns: f64| {
        let (low, high) = range.unwrap_or((ns, ns));
        range = Some((low.min(ns), high.max(ns)));
    };
    for line in &chosen.lines {
        points_of(line, &figures.axis).for_each(|(_, ns)| add(ns));
        if line.run.time_line.form == TimeLineForm::Density {
            let known = [line.series.min_ns, line.series.max_ns];
            known.into_iter().flatten().for_each(|ns| add((ns.0 as f64).max(1.0)));
        }
    }
    range
}

fn sentences(chosen: &Chosen<'_>, marks: &MarkRows, form: Form) -> Vec<String> {
    let mut sentences = Vec::new();
    if form == Form::Pixels {
        sentences
            .push("Darker is more attempts; the longest of every moment are dots of their own.".to_owned());
    }
    for run in &chosen.runs {
        sentences.extend(run.time_line.decimation.clone());
        if run.counts.clamped > 0 {
            let edge = counted(
                run.counts.clamped,
                "attempt beyond the ends stands",
                "attempts beyond the ends stand",
            );
            sentences.push(format!("{edge} at the edge."));
        }
    }
    sentences.dedup();
    if !marks.in_words().is_empty() {
        sentences.push(format!("Above: {}; marks at one place are drawn once.", marks.in_words()));
    }
    if chosen.lines.iter().any(|line| line.series.max_ns.is_some_and(|longest| longest.0 > 100_000_000)) {
        sentences.push("Dashed lines: 0.1, 1 and 10 s.".to_owned());
    }
    sentences
}

fn draw_pixels(panel: &Panel<'_>, figures: &Figures, lines: &[&Line<'_>]) {
    let mut grid = DensityGrid::over(panel.region(), panel.line_width());
    let mut layers_done: Vec<(usize, u16)> = Vec::new();
    for line in lines {
        let mut counts = grid.counts();
        if line.run.time_line.form == TimeLineForm::Density {
            // Grids do not tell stages apart: a layer is painted once, in the colour of its first line.
            let layer = (line.run_index, line.series.layer);
            if layers_done.contains(&layer) {
                continue;
            }
            layers_done.push(layer);
            count_layer(panel, &grid, figures, line, &mut counts);
        } else {
            count(panel, &grid, points_of(line, &figures.axis), &mut counts);
        }
        grid.paint(&counts, line.paint);
    }
    let (columns, rows) = (grid.columns, grid.rows);
    panel.image(columns, rows, grid.into_rgba());
}

/// Spreads the cells of a density over the pixels that they cover.
fn count_layer(
    panel: &Panel<'_>,
    grid: &DensityGrid,
    figures: &Figures,
    line: &Line<'_>,
    counts: &mut [f32],
) {
    let Some(density) = &line.run.time_line.density else {
        return;
    };
    let span_ns = line.run.run.span_ns.0 as f64;
    let lowest = |bucket: u32| figures.axis.lowest_ns.get(bucket as usize).map(|ns| (*ns as f64).max(1.0));
    for layer in density.layers.iter().filter(|layer| layer.layer == line.series.layer) {
        for (index, count) in layer.counts.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            let columns = density.columns.max(1);
            let (row, column) = (index as u32 / columns, index as u32 % columns);
            let bucket = u32::from(layer.first_bucket) + row * u32::from(density.buckets_per_row);
            let Some(low) = lowest(bucket) else {
                continue;
            };
            let high = lowest(bucket + u32::from(density.buckets_per_row)).unwrap_or(low);
            let moment = |column: u32| f64::from(column) / f64::from(columns) * span_ns;
            let (left, bottom) = grid.pixel(panel.x.position(moment(column)), panel.y.position(low));
            let (right, top) = grid.pixel(panel.x.position(moment(column + 1)), panel.y.position(high));
            let (right, top) = (right.max(left + 1), top.min(bottom.saturating_sub(1)));
            let cells = ((right - left) * (bottom - top).max(1)) as f32;
            for column in left..right.min(grid.columns) {
                for row in (top + 1).min(bottom)..=bottom {
                    counts[grid.index((column, row))] += *count as f32 / cells;
                }
            }
        }
    }
}
