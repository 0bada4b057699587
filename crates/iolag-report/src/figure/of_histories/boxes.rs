//! Boxes of a history: a row for each series, from what its curve knows.

use iolag_analysis::history::Curve;

use super::choice::{Chosen, Line, Task};
use crate::figure::drawings::boxes::{BoxEnd, BoxRow, EXPLANATION, draw_rows, rows_max};
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::Sheet;

/// Fewer observations than this, or what they are worth, on the smaller side of a quantile tell nothing of it.
const BESIDE_LEAST: f64 = 1.0;

pub(crate) fn draw(sheet: &mut Sheet, mut chosen: Chosen<'_>) -> Result<(), FigureError> {
    let room = rows_max(sheet);
    let indices: Vec<usize> = chosen.lines().map(|line| line.index).take(room).collect();
    chosen.keep_lines(|line| indices.contains(&line.index), "for which there is no room");
    chosen.title(sheet, "Time taken");
    let row = |task: &str, line: &Line<'_>| {
        let curve = &line.series.by_attempt;
        BoxRow {
            name: format!("{task} · {}", line.name),
            attempts: curve.count,
            paint: line.paint,
            ends: ends_of(curve),
        }
    };
    let rows_of = |task: &Task<'_>| task.lines.iter().map(|line| row(&task.name, line)).collect::<Vec<_>>();
    let rows: Vec<BoxRow> = chosen.tasks.iter().flat_map(rows_of).collect();
    let mut sentences = Vec::new();
    if !rows.is_empty() {
        sentences.push(EXPLANATION.to_owned());
    }
    if chosen.lines().any(|line| line.series.by_attempt.below_count > 0) {
        sentences.push(
            "Arrow to the left: shorter than the clock could tell, which is where it stands.".to_owned(),
        );
    }
    chosen.caption(sheet, &sentences);
    draw_rows(sheet, rows)
}

/// Minimum, 5, 25, 50, 75 and 95 %, maximum.
fn ends_of(curve: &Curve) -> [BoxEnd; 7] {
    let quantile = |share: f64| {
        let steps = curve.amount.0.iter().zip(&curve.share.0);
        let worth = curve.effective.min(curve.count as f64);
        match steps.enumerate().find(|(_, (_, reached))| f64::from(**reached) >= share - 1e-6) {
            _ if worth * share.min(1.0 - share) < BESIDE_LEAST && (0.001..0.999).contains(&share) => {
                BoxEnd::Unknown
            }
            Some((0, (ns, _))) if curve.below_count > 0 => BoxEnd::Below(f64::from(*ns).max(1.0)),
            Some((_, (ns, _))) => BoxEnd::Exactly(f64::from(*ns).max(1.0)),
            None => curve.end.map_or(BoxEnd::Unknown, |end| BoxEnd::AtLeast(end.from.max(1.0))),
        }
    };
    [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0].map(quantile)
}
