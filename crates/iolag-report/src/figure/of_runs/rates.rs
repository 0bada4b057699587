//! Operations per second over time.

use super::hangs::Hangs;
use super::time_line::span_ns;
use crate::figure::axis::Axis;
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::{Chosen, Line};
use crate::figure::paper::sheet::{AxisTexts, Key, Sheet};

/// Points of all lines together.
const POINTS_MAX: usize = 9_000;

pub(crate) fn draw(sheet: &mut Sheet, chosen: &Chosen<'_>, hangs: &Hangs<'_>) -> Result<(), FigureError> {
    let bins = POINTS_MAX / 2 / chosen.lines.len().max(1);
    let lines: Vec<(&Line<'_>, Vec<(f64, f64)>)> = chosen
        .lines
        .iter()
        .map(|line| (line, per_second(line, bins)))
        .filter(|(_, points)| points.iter().any(|(_, rate)| *rate > 0.0))
        .collect();
    let width = sheet.text / 9;
    chosen.title(sheet, "Operations per second");
    let key = |(line, _): &(&Line<'_>, Vec<(f64, f64)>)| (Key::Line(line.stroke(width)), line.name.clone());
    sheet.legend(&lines.iter().map(key).collect::<Vec<_>>());
    let sentence = "Operations that succeeded, by the time at which they ended.";
    chosen.caption(sheet, &[sentence.to_owned(), hangs.sentence("Bars", chosen)]);
    if lines.is_empty() {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen ended in success.");
        return Ok(());
    }
    let most = lines.iter().flat_map(|(_, points)| points).map(|(_, rate)| *rate).fold(0.0, f64::max);
    let x = Axis::time(span_ns(chosen), sheet.labels_across(sheet.free.width()));
    let y = Axis::amount(most, sheet.labels_up(sheet.free.height()).min(8));
    let x_text = format!("time since the start in {}", x.unit);
    let panel = sheet.panel(
        sheet.free,
        x,
        y,
        AxisTexts { x: &x_text, y: "operations per second", ..AxisTexts::default() },
    )?;
    hangs.shade(&panel);
    for (line, points) in lines {
        panel.line(points, line.stroke(width));
    }
    Ok(())
}

/// Rates as corners of steps, neighbouring bins put together until at most `bins_max` are left.
fn per_second(line: &Line<'_>, bins_max: usize) -> Vec<(f64, f64)> {
    let rates = &line.run.rates;
    let bins = rates.bins as usize;
    let begin = usize::from(line.index) * bins;
    let Some(counts) = rates.operations.0.get(begin..begin + bins) else {
        return Vec::new();
    };
    let together = bins.div_ceil(bins_max.clamp(2, 300)).max(1);
    let mut corners = Vec::with_capacity(2 * bins / together + 2);
    for (index, group) in counts.chunks(together).enumerate() {
        let seconds = group.len() as f64 * rates.bin_ns / 1e9;
        let count: f64 = group.iter().map(|count| f64::from(*count)).sum();
        let rate = if seconds > 0.0 { count / seconds } else { 0.0 };
        let from = (index * together) as f64 * rates.bin_ns;
        corners.extend([(from, rate), (from + group.len() as f64 * rates.bin_ns, rate)]);
    }
    corners
}
