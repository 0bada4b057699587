//! What stands below each other: a group for each row of the comparison, in it a line for each side.

use iolag_analysis::compare::ComparedTable;

use super::scale::Scale;
use crate::figure::axis::Axis;
use crate::figure::drawings::palette::PALETTE;
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{AxisTexts, Key, Panel, Region, Sheet};
use crate::figure::scene::shapes::{Align, Dash, Paint, Stroke};
use crate::words::comparison::names::{RowNames, SideNames};

/// Distance of groups in lines.
const BETWEEN_GROUPS: f64 = 0.6;
/// Height of a line, of that of text.
const LINE_PERCENT: i32 = 125;

/// What the axis takes, of the height of text.
const AXIS_LINES: i32 = 4;

/// The colour of a side; the base is grey.
pub(crate) fn paint_of(side: usize) -> Paint {
    match side.checked_sub(1) {
        None => Paint::opaque(0x55, 0x55, 0x55),
        Some(other) => PALETTE[other % PALETTE.len()],
    }
}

/// Groups of lines.
pub(crate) struct Lines {
    /// The first side that has lines: 0 with the base, else 1.
    first: usize,
    sides: usize,
    pub(crate) rows: usize,
    /// Rows that do not fit.
    pub(crate) left_out: usize,
}

impl Lines {
    /// As many rows as fit into the sheet.
    pub(crate) fn new(sheet: &Sheet, table: &ComparedTable, first: usize) -> Self {
        let sides = table.sides.len().saturating_sub(first).max(1);
        let group = (sides as f64 + BETWEEN_GROUPS) * f64::from(sheet.text * LINE_PERCENT / 100);
        let fit = |height: i32| ((f64::from(height - AXIS_LINES * sheet.text) / group) as usize).max(1);
        let (all, height) = (table.rows.len(), sheet.free.height());
        // What does not fit is said, which takes room, too.
        let rows = if fit(height) >= all { all } else { fit(height - 2 * sheet.text).min(all) };
        Self { first, sides, rows, left_out: all - rows }
    }

    /// Lines in all, distances included: what the height of a figure depends on.
    pub(crate) fn count(table: &ComparedTable, first: usize) -> f64 {
        table.rows.len() as f64 * (table.sides.len().saturating_sub(first).max(1) as f64 + BETWEEN_GROUPS)
    }

    /// The middle of a line.
    pub(crate) fn at(&self, row: usize, side: usize) -> f64 {
        -(row as f64 * (self.sides as f64 + BETWEEN_GROUPS) + side.saturating_sub(self.first) as f64)
    }

    fn axis(&self, names: &RowNames) -> Axis {
        let middle =
            |row: usize| f64::midpoint(self.at(row, self.first), self.at(row, self.first + self.sides - 1));
        let ticks = (0..self.rows).map(|row| (middle(row), names.name(row).to_owned()));
        let last = self.at(self.rows.max(1) - 1, self.first + self.sides - 1);
        Axis::labelled(last - 0.5 - BETWEEN_GROUPS / 2.0, 0.5 + BETWEEN_GROUPS / 2.0, ticks.collect())
    }

    /// The panel with the band of what counts as the same, and a line where nothing differs.
    pub(crate) fn panel<'a>(
        &self,
        sheet: &'a Sheet,
        region: Region,
        scale: Scale,
        rows: &RowNames,
        names: &SideNames,
        same: f64,
    ) -> Result<Panel<'a>, FigureError> {
        let x = format!("{} of {}", scale.unit, names.base());
        let panel =
            sheet.panel(region, scale.axis, self.axis(rows), AxisTexts { x: &x, ..AxisTexts::default() })?;
        let (bottom, top) = panel.y.ends();
        panel.rectangle((-same, bottom), (same, top), Paint::opaque(0x00, 0x72, 0xb2).with_opacity(0.10));
        let stroke =
            Stroke { paint: Paint::opaque(0x55, 0x55, 0x55), width: panel.line_width(), dash: Dash::Strokes };
        panel.line([(0.0, bottom), (0.0, top)], stroke);
        Ok(panel)
    }

    /// Says what does not fit.
    pub(crate) fn tell_left_out(&self, sheet: &mut Sheet) {
        match self.left_out {
            0 => {}
            1 => sheet.caption("1 more row does not fit and is not drawn."),
            more => sheet.caption(&format!("{more} more rows do not fit and are not drawn.")),
        }
    }
}

/// A legend of the sides from `first` on, if there are several.
pub(crate) fn legend(sheet: &mut Sheet, names: &SideNames, first: usize) {
    let entries: Vec<(Key, String)> = (first..names.short.len())
        .map(|side| (Key::Dot(paint_of(side)), names.short(side).to_owned()))
        .collect();
    if entries.len() > 1 {
        sheet.legend(&entries);
    }
}

/// For captions: that only every so many runs are drawn.
pub(crate) fn every_in_words(one: &str, every: usize) -> String {
    match every {
        0 | 1 => String::new(),
        2 => format!(" Only every other {one} is drawn."),
        every => format!(" Only one {one} of {every} is drawn."),
    }
}

/// An arrow at the left or the right edge of a panel.
pub(crate) fn arrow(sheet: &Sheet, panel: &Panel<'_>, is_left: bool, y: f64, paint: Paint) {
    let (left, right) = panel.x.ends();
    let (x, y) = panel.place(if is_left { left } else { right }, y);
    let (text, align) = if is_left { ("←", Align::Start) } else { ("→", Align::End) };
    sheet.label(text, (x, y + sheet.text / 3), sheet.text, align, paint);
}
