//! Rows of marks above a time line: what failed, hung, was late or skipped, and bars of what lasted.

use std::collections::BTreeMap;

use iolag_model::{Outcome, format_count};

use crate::figure::paper::sheet::{INK, Panel, Region, Sheet};
use crate::figure::scene::shapes::{Align, MarkShape, Paint};

/// The gravest first.
pub(crate) const KINDS: [(Outcome, MarkShape, Paint); 6] = [
    (Outcome::Hung, MarkShape::Square, Paint::opaque(0x00, 0x00, 0x00)),
    (Outcome::Timeout, MarkShape::Triangle, Paint::opaque(0xcc, 0x79, 0xa7)),
    (Outcome::Error, MarkShape::Cross, Paint::opaque(0xd5, 0x5e, 0x00)),
    (Outcome::Skipped, MarkShape::Bar, Paint::opaque(0x77, 0x77, 0x77)),
    (Outcome::Late, MarkShape::Diamond, Paint::opaque(0xe6, 0x9f, 0x00)),
    (Outcome::Interrupted, MarkShape::Bar, Paint::opaque(0x77, 0x77, 0x77)),
];
/// Behind what is drawn over times in which something hung.
pub(crate) const SHADE: Paint = Paint::opaque(0xc0, 0x2a, 0x2a).with_opacity(0.12);

/// Marks closer together than this share of the width of all panels are drawn once.
const PLACES: f64 = 200.0;

/// A row of marks and bars of one kind.
pub(crate) struct MarkRow {
    pub(crate) name: &'static str,
    /// How many marks there are.
    pub(crate) total: u64,
    pub(crate) shape: MarkShape,
    /// Moments of marks in ns, thinned out, by colour.
    pub(crate) marks: Vec<(Paint, Vec<f64>)>,
    /// From where to where something lasted, in ns.
    pub(crate) bars: Vec<(f64, f64)>,
    pub(crate) bar_paint: Paint,
    /// What is written at moments in ns.
    pub(crate) labels: Vec<(f64, String)>,
}

impl MarkRow {
    /// A row with nothing in it yet.
    pub(crate) const fn new(name: &'static str, shape: MarkShape, bar_paint: Paint) -> Self {
        Self { name, total: 0, shape, marks: Vec::new(), bars: Vec::new(), bar_paint, labels: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0 && self.bars.is_empty() && self.labels.is_empty()
    }
}

/// Rows above a panel.
pub(crate) struct MarkRows(pub(crate) Vec<MarkRow>);

impl MarkRows {
    /// As in `2 hung, 6 error`; empty if there are but bars.
    pub(crate) fn in_words(&self) -> String {
        let row = |row: &MarkRow| format!("{} {}", format_count(row.total), row.name);
        let marks = self.0.iter().filter(|row| row.total > 0);
        marks.map(row).collect::<Vec<String>>().join(", ")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Height of the strip that they need.
    pub(crate) fn height(&self, sheet: &Sheet) -> i32 {
        self.0.len() as i32 * sheet.text
    }

    /// Draws them in the strip above a panel.
    pub(crate) fn draw(&self, sheet: &Sheet, strip: Region, panel: &Panel<'_>) {
        let left = panel.region().left;
        let size = sheet.text * 4 / 5;
        for (index, row) in self.0.iter().enumerate() {
            let y = strip.top + index as i32 * sheet.text + sheet.text / 2;
            let name = sheet.font().shortened(row.name, size, left - strip.left - sheet.text / 2);
            sheet.label(&name, (left - sheet.text / 2, y + size / 3), size, Align::End, INK);
            let place = |moment| panel.place(moment, panel.y.ends().1).0;
            for (from, to) in &row.bars {
                sheet.bar((place(*from), y), place(*to), size * 3 / 5, row.bar_paint);
            }
            for (paint, moments) in &row.marks {
                panel.marks(moments.iter().map(|moment| (place(*moment), y)).collect(), row.shape, *paint);
            }
            for (moment, text) in &row.labels {
                sheet.label(text, (place(*moment), y + size / 3), size, Align::Middle, INK);
            }
        }
    }
}

/// Marks by outcome, those at one place of one of so many panels once.
pub(crate) struct Thinned {
    places_max: f64,
    span_ns: f64,
    found: BTreeMap<u8, (u64, BTreeMap<u32, f64>)>,
}

impl Thinned {
    pub(crate) fn new(span_ns: f64, panels: usize) -> Self {
        let places_max = (PLACES / panels.max(1) as f64).max(20.0);
        Self { places_max, span_ns, found: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, outcome: u8, moment_ns: f64, count: u64) {
        let (total, places) = self.found.entry(outcome).or_default();
        *total += count;
        places.entry((moment_ns / self.span_ns * self.places_max) as u32).or_insert(moment_ns);
    }

    /// How many there are of an outcome, and where.
    pub(crate) fn take(&mut self, outcome: u8) -> (u64, Vec<f64>) {
        let (total, places) = self.found.remove(&outcome).unwrap_or_default();
        (total, places.into_values().collect())
    }
}
