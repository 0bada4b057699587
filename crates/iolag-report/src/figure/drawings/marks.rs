//! Marks on top of a time line: what failed, hung, was late or skipped.

use std::collections::BTreeMap;

use iolag_analysis::figure::{RunFigures, TIME_COLUMNS};
use iolag_model::{Outcome, format_count};

use super::hangs::Hangs;
use crate::figure::choice::Line;
use crate::figure::paper::sheet::{Panel, Region, Sheet};
use crate::figure::scene::shapes::{Align, MarkShape, Paint};

/// The gravest first.
const KINDS: [(Outcome, MarkShape, Paint); 5] = [
    (Outcome::Hung, MarkShape::Square, Paint::opaque(0x00, 0x00, 0x00)),
    (Outcome::Timeout, MarkShape::Triangle, Paint::opaque(0xcc, 0x79, 0xa7)),
    (Outcome::Error, MarkShape::Cross, Paint::opaque(0xd5, 0x5e, 0x00)),
    (Outcome::Skipped, MarkShape::Bar, Paint::opaque(0x77, 0x77, 0x77)),
    (Outcome::Late, MarkShape::Diamond, Paint::opaque(0xe6, 0x9f, 0x00)),
];

/// Marks closer together than this share of the width of all panels are drawn once.
const PLACES: f64 = 200.0;

/// The marks of lines by kind.
pub(crate) struct MarkRows {
    rows: Vec<MarkRow>,
    /// From where to where something hung, in ns since the begin.
    bars_ns: Vec<(f64, f64)>,
}

struct MarkRow {
    outcome: Outcome,
    shape: MarkShape,
    paint: Paint,
    total: u64,
    /// Moments since the begin in ns, thinned out.
    moments_ns: Vec<f64>,
}

impl MarkRows {
    /// Those of one of so many panels.
    pub(crate) fn new(lines: &[&Line<'_>], hangs: &Hangs<'_>, span_ns: f64, panels: usize) -> Self {
        let places_max = (PLACES / panels.max(1) as f64).max(20.0);
        let mut found: BTreeMap<u8, (u64, BTreeMap<u32, f64>)> = BTreeMap::new();
        for_each_mark(lines, |outcome, moment_ns, count| {
            let (total, places) = found.entry(outcome).or_default();
            *total += count;
            places.entry((moment_ns / span_ns * places_max) as u32).or_insert(moment_ns);
        });
        let row = |(outcome, shape, paint): (Outcome, MarkShape, Paint)| {
            let (total, places) = found.remove(&(outcome as u8)).unwrap_or_default();
            let is_seen = total > 0 || (outcome == Outcome::Hung && !hangs.is_empty());
            let moments_ns = places.into_values().collect();
            is_seen.then_some(MarkRow { outcome, shape, paint, total, moments_ns })
        };
        Self { rows: KINDS.into_iter().filter_map(row).collect(), bars_ns: hangs.spans_ns().collect() }
    }

    /// As in `2 hung, 6 error`; empty if there are but bars.
    pub(crate) fn in_words(&self) -> String {
        let row = |row: &MarkRow| format!("{} {}", format_count(row.total), row.outcome);
        let marks = self.rows.iter().filter(|row| row.total > 0);
        marks.map(row).collect::<Vec<String>>().join(", ")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Height of the strip that they need.
    pub(crate) fn height(&self, sheet: &Sheet) -> i32 {
        self.rows.len() as i32 * sheet.text
    }

    /// Draws them in the strip above a panel.
    pub(crate) fn draw(&self, sheet: &Sheet, strip: Region, panel: &Panel<'_>) {
        let left = panel.region().left;
        let size = sheet.text * 4 / 5;
        for (index, row) in self.rows.iter().enumerate() {
            let y = strip.top + index as i32 * sheet.text + sheet.text / 2;
            let name = sheet.font().shortened(row.outcome.name(), size, left - strip.left - sheet.text / 2);
            sheet.label(
                &name,
                (left - sheet.text / 2, y + size / 3),
                size,
                Align::End,
                crate::figure::paper::sheet::INK,
            );
            if row.outcome == Outcome::Hung {
                for (from, to) in &self.bars_ns {
                    let place = |moment| panel.place(moment, panel.y.ends().1).0;
                    sheet.bar((place(*from), y), place(*to), size * 3 / 5, row.paint);
                }
            }
            let points =
                row.moments_ns.iter().map(|moment| (panel.place(*moment, panel.y.ends().1).0, y)).collect();
            panel.marks(points, row.shape, row.paint);
        }
    }
}

/// Calls `mark` with outcome, moment since the begin in ns, and count, for every mark of these lines.
pub(crate) fn for_each_mark(lines: &[&Line<'_>], mut mark: impl FnMut(u8, f64, u64)) {
    let runs: BTreeMap<usize, &RunFigures> = lines.iter().map(|line| (line.run_index, line.run)).collect();
    for (run_index, run) in runs {
        let is_chosen =
            |series: u16| lines.iter().any(|line| line.run_index == run_index && line.index == series);
        let span_ns = run.run.span_ns.0 as f64;
        let each = &run.time_line.marks.each;
        for ((time, series), outcome) in each.time.0.iter().zip(&each.series.0).zip(&each.outcome.0) {
            if is_chosen(*series) {
                mark(*outcome, f64::from(*time) / 2_f64.powi(32) * span_ns, 1);
            }
        }
        for counts in run.time_line.marks.counts.iter().filter(|counts| is_chosen(counts.series)) {
            for (column, count) in counts.counts.0.iter().enumerate().filter(|(_, count)| **count > 0) {
                let moment = (column as f64 + 0.5) / f64::from(TIME_COLUMNS) * span_ns;
                mark(counts.outcome, moment, u64::from(*count));
            }
        }
    }
}
