//! Boxes: quartiles, 5 and 95 %, the shortest and the longest, a row each.

use iolag_model::format_count;

use crate::figure::axis::Axis;
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{Along, AxisTexts, INK, Panel, Sheet};
use crate::figure::scene::shapes::{Align, Paint, Stroke};

/// What is said of rows.
pub(crate) const EXPLANATION: &str = "Box: quartiles and median; whiskers: 5 and 95 %; dots: shortest and longest; arrow: at least, \
     it did not end.";

/// A quantile in ns, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum BoxEnd {
    Exactly(f64),
    AtLeast(f64),
    /// Shorter than this, which is what the clock could tell.
    Below(f64),
    Unknown,
}

/// A box in its row.
pub(crate) struct BoxRow {
    pub(crate) name: String,
    pub(crate) attempts: u64,
    pub(crate) paint: Paint,
    /// Minimum, 5, 25, 50, 75 and 95 %, maximum.
    pub(crate) ends: [BoxEnd; 7],
}

impl BoxEnd {
    const fn ns(self) -> Option<f64> {
        match self {
            Self::Exactly(ns) | Self::AtLeast(ns) | Self::Below(ns) => Some(ns),
            Self::Unknown => None,
        }
    }
}

/// How many boxes fit; axis and caption take about 8 lines.
pub(crate) fn rows_max(sheet: &Sheet) -> usize {
    (sheet.free.height() / sheet.text - 10).max(3) as usize * 5 / 6
}

/// Draws rows below each other in what is free of the sheet.
pub(crate) fn draw_rows(sheet: &Sheet, rows: Vec<BoxRow>) -> Result<(), FigureError> {
    let known: Vec<f64> = rows.iter().flat_map(|row| row.ends).filter_map(BoxEnd::ns).collect();
    let shortest = known.iter().copied().reduce(f64::min);
    let Some((shortest, longest)) = shortest.zip(known.iter().copied().reduce(f64::max)) else {
        sheet.nothing("There is nothing to draw: too few attempts of what was chosen ended.");
        return Ok(());
    };
    let name = |row: &BoxRow| format!("{} ({})", row.name, format_count(row.attempts));
    let x = Axis::durations(shortest, longest, sheet.labels_across(sheet.free.width() * 2 / 3));
    let y = Axis::rows(rows.iter().map(name).collect());
    let panel =
        sheet.panel(sheet.free, x, y, AxisTexts { x: "time taken", y: "", ..AxisTexts::default() })?;
    panel.thresholds(Along::X);
    for (index, row) in rows.iter().enumerate() {
        draw_box(&panel, -(index as f64), row);
    }
    Ok(())
}

fn draw_box(panel: &Panel<'_>, y: f64, row: &BoxRow) {
    let width = panel.line_width();
    let ink = Stroke::solid(INK, width);
    let [min, p5, p25, median, p75, p95, max] = row.ends;
    if let (Some(low), Some(high)) = (p25.ns(), p75.ns()) {
        panel.rectangle((low, y - 0.3), (high, y + 0.3), row.paint.with_opacity(0.45));
        panel.line([(low, y - 0.3), (high, y - 0.3), (high, y + 0.3), (low, y + 0.3), (low, y - 0.3)], ink);
    }
    for (from, to) in [(p5, p25), (p75, p95)] {
        if let (Some(from_ns), Some(to_ns)) = (from.ns(), to.ns()) {
            panel.line([(from_ns, y), (to_ns, y)], ink);
        }
    }
    for end in [p5, p95].into_iter().filter_map(BoxEnd::ns) {
        panel.line([(end, y - 0.15), (end, y + 0.15)], ink);
    }
    if let Some(median) = median.ns() {
        panel.line([(median, y - 0.3), (median, y + 0.3)], Stroke::solid(row.paint, width * 3));
    }
    for end in [min, max] {
        match end {
            BoxEnd::Exactly(ns) => panel.dots(vec![panel.place(ns, y)], width * 4, row.paint),
            BoxEnd::AtLeast(ns) | BoxEnd::Below(ns) => {
                let arrow = if matches!(end, BoxEnd::Below(_)) { "←" } else { "→" };
                let (x, y) = panel.place(ns, y);
                panel.label(arrow, (x, y + width * 2), Align::Middle);
            }
            BoxEnd::Unknown => {}
        }
    }
}
