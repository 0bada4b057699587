//! Time against copies: all runs of set-ups, the means with their intervals, and the line through them, a colour for each target.

use iolag_analysis::{CopiesFigure, CopiesLevel, CopiesPoint};
use iolag_model::counted;

use crate::figure::axis::Axis;
use crate::figure::drawings::palette::PALETTE;
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::FigureSelection;
use crate::figure::paper::sheet::{AxisTexts, Key, Panel, Sheet};
use crate::figure::scene::shapes::{Align, Dash, Paint, Stroke};
use crate::text::copies_sentence;

/// Units of time, the longest first: how many ns one is.
const UNITS: [(&str, f64); 3] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
/// More sentences than these fill a figure.
const SENTENCES_MAX: usize = 4;

pub(crate) fn draw(
    sheet: &mut Sheet,
    figures: &[CopiesFigure],
    selection: &FigureSelection,
) -> Result<(), FigureError> {
    let wanted =
        |figure: &&CopiesFigure| selection.targets.is_empty() || selection.targets.contains(&figure.target);
    let drawn: Vec<(&CopiesFigure, Paint)> =
        figures.iter().filter(wanted).zip(PALETTE.into_iter().cycle()).collect();
    sheet.title("Time of a copy against copies at once");
    let width = sheet.text / 9;
    let key = |(figure, paint): &(&CopiesFigure, Paint)| (Key::Dot(*paint), figure.target.clone());
    sheet.legend(&drawn.iter().map(key).collect::<Vec<_>>());
    sheet.caption(&caption(&drawn));
    let points = || drawn.iter().flat_map(|(figure, _)| &figure.points);
    let longest = points().map(|point| point.time.median_ns.0 as f64).fold(0.0, f64::max);
    let most = points().map(|point| point.copies).max().unwrap_or(1);
    let (unit, unit_ns) = UNITS.into_iter().find(|(_, ns)| longest >= *ns).unwrap_or(UNITS[2]);
    let region = sheet.free;
    let x = Axis::amount(f64::from(most), sheet.labels_across(region.width()).min(most as usize));
    let y = Axis::amount(longest / unit_ns, sheet.labels_up(region.height()).min(10));
    let y_text = format!("time of a copy in {unit}");
    let panel = sheet.panel(region, x, y, AxisTexts { x: "copies", y: &y_text, ..AxisTexts::default() })?;
    for (figure, paint) in drawn {
        draw_figure(&panel, figure, unit_ns, Stroke::solid(paint, width));
    }
    Ok(())
}

fn draw_figure(panel: &Panel<'_>, figure: &CopiesFigure, unit_ns: f64, stroke: Stroke) {
    let copies_of = |level: &CopiesLevel| f64::from(level.copies);
    let means = figure.levels.iter().filter_map(|level| Some((copies_of(level), level.mean_ns? / unit_ns)));
    panel.line(means, stroke);
    for level in &figure.levels {
        let ends = level.interval_ns.into_iter().flatten();
        panel.line(ends.map(|end| (copies_of(level), (end / unit_ns).max(0.0))), stroke);
    }
    if let Some(line) = &figure.line {
        let at = |copies: f64| (copies, ((line.base_ns + line.slope_ns * copies) / unit_ns).max(0.0));
        let ends = [figure.levels.first(), figure.levels.last()].into_iter().flatten();
        panel.line(ends.map(|level| at(copies_of(level))), Stroke { dash: Dash::Strokes, ..stroke });
    }
    let place =
        |point: &CopiesPoint| panel.place(f64::from(point.copies), point.time.median_ns.0 as f64 / unit_ns);
    panel.dots(figure.points.iter().map(place).collect(), stroke.width * 4, stroke.paint);
    for point in figure.points.iter().filter(|point| point.time.is_at_least) {
        let (x, y) = place(point);
        panel.label("↑", (x, y - stroke.width * 2), Align::Middle);
    }
}

fn caption(drawn: &[(&CopiesFigure, Paint)]) -> String {
    let runs: usize = drawn.iter().map(|(figure, _)| figure.points.len()).sum();
    let mut sentences = vec![format!(
        "{}. Dots: runs; bars: 95 % intervals of their means; strokes: lines of least squares.",
        counted(runs as u64, "run", "runs")
    )];
    if drawn.len() <= SENTENCES_MAX {
        sentences.extend(drawn.iter().map(|(figure, _)| copies_sentence(figure)));
    }
    sentences.join(" ")
}
