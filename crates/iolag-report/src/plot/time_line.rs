//! The time line: every attempt over time, what took longest and what went wrong always as vectors.

use std::collections::BTreeMap;

use iolag_analysis::figure::{BucketAxis, Figures, TimeLineForm};
use iolag_model::counted;

use super::PlotError;
use super::axis::Axis;
use super::choice::{Chosen, Line};
use super::density::DensityGrid;
use super::hangs::Hangs;
use super::marks::MarkRows;
use super::sheet::{Along, AxisTexts, Key, Panel, Region, Sheet};

/// More attempts than this are drawn as pixels.
const DOTS_MAX: usize = 6_000;
/// Columns of which the longest attempt is a vector where the others are pixels, over all lines.
const LONGEST_MAX: usize = 2_800;

pub(super) fn draw(
    sheet: &mut Sheet,
    figures: &Figures,
    chosen: &Chosen<'_>,
    hangs: &Hangs<'_>,
) -> Result<(), PlotError> {
    let span_ns = span_ns(chosen);
    let marks = MarkRows::new(chosen, hangs, span_ns);
    let keys: Vec<(Key, String)> =
        chosen.lines.iter().map(|line| (Key::Dot(line.paint), line.name.clone())).collect();
    chosen.title(sheet, "Time taken over time");
    sheet.legend(&keys);
    let points: usize = chosen.lines.iter().map(|line| points_of(line, &figures.axis).count()).sum();
    let as_pixels = points > DOTS_MAX || has_density(chosen);
    let mut sentences = sentences(chosen, &marks, as_pixels);
    sentences.push(hangs.sentence());
    chosen.caption(sheet, &sentences);
    let Some((shortest, longest)) = durations(figures, chosen) else {
        return draw_without_durations(sheet, &marks, hangs, span_ns);
    };
    let strip = Region { bottom: sheet.free.top + marks.height(sheet), ..sheet.free };
    let region = Region { top: strip.bottom, ..sheet.free };
    let x = Axis::time(span_ns, sheet.labels_across(region.width()));
    let y = Axis::durations(shortest, longest, sheet.labels_up(region.height()));
    let x_text = format!("time since the start in {}", x.unit);
    let panel = sheet.panel(region, x, y, AxisTexts { x: &x_text, y: "time taken" })?;
    hangs.shade(&panel);
    if as_pixels {
        draw_pixels(&panel, figures, chosen);
        draw_longest(&panel, figures, chosen);
    } else {
        for line in &chosen.lines {
            let points = points_of(line, &figures.axis).map(|(x, y)| panel.place(x, y)).collect();
            panel.dots(points, sheet.text / 5, line.paint.with_opacity(0.7));
        }
    }
    panel.thresholds(Along::Y);
    marks.draw(sheet, strip, &panel);
    Ok(())
}

/// The longest span of the runs, at least 1 ns.
pub(super) fn span_ns(chosen: &Chosen<'_>) -> f64 {
    chosen.runs.iter().map(|run| run.run.span_ns.0 as f64).fold(1.0, f64::max)
}

/// Middle of a bucket in ns.
pub(super) fn middle_ns(axis: &BucketAxis, bucket: u16) -> Option<f64> {
    let lowest = *axis.lowest_ns.get(usize::from(bucket))? as f64;
    let next = axis.lowest_ns.get(usize::from(bucket) + 1).map_or(lowest, |next| *next as f64);
    Some(lowest.midpoint(next).max(1.0))
}

/// Moment since the begin and duration, both in ns, of the points of a line.
pub(super) fn points_of<'a>(
    line: &'a Line<'_>,
    axis: &'a BucketAxis,
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let points = &line.run.time_line.points;
    let span_ns = line.run.run.span_ns.0 as f64;
    let columns = points.time.0.iter().zip(&points.bucket.0).zip(&points.series.0);
    columns.filter(|(_, series)| **series == line.index).filter_map(move |((time, bucket), _)| {
        Some((f64::from(*time) / 2_f64.powi(32) * span_ns, middle_ns(axis, *bucket)?))
    })
}

fn has_density(chosen: &Chosen<'_>) -> bool {
    chosen.lines.iter().any(|line| line.run.time_line.form == TimeLineForm::Density)
}

/// Shortest and longest duration of what is drawn, in ns.
pub(super) fn durations(figures: &Figures, chosen: &Chosen<'_>) -> Option<(f64, f64)> {
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

fn sentences(chosen: &Chosen<'_>, marks: &MarkRows, as_pixels: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    if as_pixels {
        sentences
            .push("Darker is more attempts; the longest of every moment are dots of their own.".to_owned());
    }
    for run in &chosen.runs {
        sentences.extend(run.time_line.decimation.clone());
        if run.counts.clamped > 0 {
            let count = counted(
                run.counts.clamped,
                "attempt beyond the ends stands",
                "attempts beyond the ends stand",
            );
            sentences.push(format!("{count} at the edge."));
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

fn draw_without_durations(
    sheet: &Sheet,
    marks: &MarkRows,
    hangs: &Hangs<'_>,
    span_ns: f64,
) -> Result<(), PlotError> {
    if marks.is_empty() {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen.");
        return Ok(());
    }
    let strip = Region { bottom: sheet.free.top + marks.height(sheet), ..sheet.free };
    let region = Region { top: strip.bottom, ..sheet.free };
    let x = Axis::time(span_ns, sheet.labels_across(region.width()));
    let x_text = format!("time since the start in {}", x.unit);
    let y = Axis::durations(f64::NAN, f64::NAN, sheet.labels_up(region.height()));
    let panel = sheet.panel(region, x, y, AxisTexts { x: &x_text, y: "time taken" })?;
    hangs.shade(&panel);
    marks.draw(sheet, strip, &panel);
    let Region { left, right, top, bottom } = panel.region();
    panel.label(
        "no attempt ended in success",
        (left.midpoint(right), top.midpoint(bottom)),
        super::scene::Align::Middle,
    );
    Ok(())
}

fn draw_pixels(panel: &Panel<'_>, figures: &Figures, chosen: &Chosen<'_>) {
    let mut grid = DensityGrid::over(panel.region(), panel.line_width());
    let mut layers_done: Vec<(usize, u16)> = Vec::new();
    for line in &chosen.lines {
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
            for (moment, ns) in points_of(line, &figures.axis) {
                let pixel = grid.pixel(panel.x.position(moment), panel.y.position(ns));
                counts[grid.index(pixel)] += 1.0;
            }
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

/// The longest attempt of every column of every line, as dots.
fn draw_longest(panel: &Panel<'_>, figures: &Figures, chosen: &Chosen<'_>) {
    let columns = (LONGEST_MAX / chosen.lines.len().max(1)) as f64;
    for line in &chosen.lines {
        let mut longest: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (moment, ns) in points_of(line, &figures.axis) {
            let column = (panel.x.position(moment) * columns) as u32;
            let kept = longest.entry(column).or_insert((moment, ns));
            if ns > kept.1 {
                *kept = (moment, ns);
            }
        }
        let points = longest.values().map(|(moment, ns)| panel.place(*moment, *ns)).collect();
        panel.dots(points, panel.line_width() * 3 / 2, line.paint);
    }
}
