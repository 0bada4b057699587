//! Time against copies: all runs of set-ups, the means with their intervals, and the line through them, a colour for each target.

use iolag_analysis::{CopiesFigure, CopiesLevel, CopiesPoint};
use iolag_model::counted;

use crate::figure::axis::Axis;
use crate::figure::drawings::beside::{Beside, Look};
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::FigureSelection;
use crate::figure::paper::sheet::{AxisTexts, Panel, Sheet};
use crate::figure::scene::shapes::{Align, Dash, Stroke};
use crate::text::copies_sentence;

/// Units of time, the longest first: how many ns one is.
const UNITS: [(&str, f64); 3] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
/// Bars that end at more times the longest run are cut off.
const BARS_ROOM: f64 = 1.5;
/// More sentences than these fill a figure.
const SENTENCES_MAX: usize = 4;

pub(crate) fn draw(
    sheet: &mut Sheet,
    figures: &[CopiesFigure],
    selection: &FigureSelection,
) -> Result<(), FigureError> {
    let wanted =
        |figure: &&CopiesFigure| selection.targets.is_empty() || selection.targets.contains(&figure.target);
    let wanted: Vec<&CopiesFigure> = figures.iter().filter(wanted).collect();
    let points = || wanted.iter().flat_map(|figure| &figure.points);
    let most = points().map(|point| point.copies).max().unwrap_or(1);
    let side = Beside { count: wanted.len(), most };
    let drawn: Vec<(&CopiesFigure, Look)> =
        wanted.iter().enumerate().map(|(index, figure)| (*figure, side.look(index))).collect();
    sheet.title("Time of a copy against copies at once");
    let key = |(figure, look): &(&CopiesFigure, Look)| (look.key(), figure.target.clone());
    sheet.legend(&drawn.iter().map(key).collect::<Vec<_>>());
    sheet.caption(&caption(&drawn, sheet.room_for_sentences(SENTENCES_MAX)));
    let longest = points().map(|point| point.time.median_ns.0 as f64).fold(0.0, f64::max);
    // Bars have room, too, as long as they leave the runs some.
    let bars = wanted.iter().flat_map(|figure| &figure.levels).filter_map(|level| level.interval_ns);
    let longest = bars.map(|[_, high]| high.min(BARS_ROOM * longest)).fold(longest, f64::max);
    let (unit, unit_ns) = UNITS.into_iter().find(|(_, ns)| longest >= *ns).unwrap_or(UNITS[2]);
    let region = sheet.free;
    let x = side.axis(sheet.labels_across(region.width()));
    let y = Axis::amount(1.02 * longest / unit_ns, sheet.labels_up(region.height()).min(10));
    let y_text = format!("time of a copy in {unit}");
    let panel = sheet.panel(region, x, y, AxisTexts { x: "copies", y: &y_text, ..AxisTexts::default() })?;
    for (figure, look) in drawn {
        draw_figure(&panel, figure, unit_ns, look);
    }
    Ok(())
}

fn draw_figure(panel: &Panel<'_>, figure: &CopiesFigure, unit_ns: f64, look: Look) {
    let stroke = Stroke::solid(look.paint, panel.line_width());
    let copies_of = |level: &CopiesLevel| look.at(level.copies);
    let means = figure.levels.iter().filter_map(|level| Some((copies_of(level), level.mean_ns? / unit_ns)));
    panel.line(means, stroke);
    for level in &figure.levels {
        let ends = level.interval_ns.into_iter().flatten();
        panel.line(ends.map(|end| (copies_of(level), (end / unit_ns).max(0.0))), stroke);
    }
    if let Some(line) = &figure.line {
        let at = |level: &CopiesLevel| {
            let ns = line.base_ns + line.slope_ns * f64::from(level.copies);
            (copies_of(level), (ns / unit_ns).max(0.0))
        };
        let ends = [figure.levels.first(), figure.levels.last()].into_iter().flatten();
        panel.line(ends.map(at), Stroke { dash: Dash::Strokes, ..stroke });
    }
    let place =
        |point: &CopiesPoint| panel.place(look.at(point.copies), point.time.median_ns.0 as f64 / unit_ns);
    look.draw(panel, figure.points.iter().map(place).collect());
    for point in figure.points.iter().filter(|point| point.time.is_at_least) {
        let (x, y) = place(point);
        panel.label("↑", (x, y - stroke.width * 2), Align::Middle);
    }
}

fn caption(drawn: &[(&CopiesFigure, Look)], sentences_max: usize) -> String {
    let runs: usize = drawn.iter().map(|(figure, _)| figure.points.len()).sum();
    let mut sentences = vec![format!(
        "{}. Marks: runs; bars: 95 % intervals of their means; strokes: lines of least squares.",
        counted(runs as u64, "run", "runs")
    )];
    if drawn.len() <= sentences_max {
        sentences.extend(drawn.iter().map(|(figure, _)| copies_sentence(figure)));
    }
    sentences.join(" ")
}
