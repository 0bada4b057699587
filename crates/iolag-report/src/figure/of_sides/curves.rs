//! How long the attempts of single runs took: a thin line for each in the colour of its side, so that the spread between runs is seen.

use iolag_analysis::compare::ComparedTable;
use iolag_analysis::figure::{Distribution, RunFigures};
use iolag_model::TargetIndex;

use super::lines::{every_in_words, paint_of};
use crate::figure::axis::Axis;
use crate::figure::drawings::steps::{POINTS_MAX, Start, Steps};
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{Along, AxisTexts, Key, Sheet};
use crate::figure::scene::shapes::Stroke;
use crate::words::comparison::names::{RowNames, SideNames};

/// The coordinate of a row that names its target.
const TARGET: &str = "target";
/// Of more rows panels are too many to look at.
pub(crate) const PANELS_MAX: usize = 12;
/// Of more every second run is drawn, or every third.
const CURVES_MAX: usize = 600;
/// More points than this no curve needs.
const CURVE_POINTS_MAX: usize = 100;

/// The distribution of a run in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct SideCurve {
    /// Which row of the comparison, by its place.
    pub row: usize,
    /// Which side.
    pub side: usize,
    /// Which run of the side.
    pub run: usize,
    /// Durations in ns, ascending, with the share of attempts that took at most so long.
    pub share: Vec<(f64, f64)>,
    /// From where on nothing is known of what did not end.
    pub open_from_ns: Option<f64>,
}

/// The curves of a run of a side in the rows that it is in. Its figures are of [`Apart::Nothing`](iolag_analysis::figure::Apart), of a bench those of
/// the benchmark phase: rows of other phases have no curves.
pub fn side_curves(table: &ComparedTable, side: usize, run: usize, figures: &RunFigures) -> Vec<SideCurve> {
    let is_in =
        |row: &usize| table.rows[*row].sides.get(side).is_some_and(|value| value.amount(run).is_some());
    let rows = (0..table.rows.len()).filter(is_in).filter(|row| table.rows[*row].key.cell.phase.is_none());
    let curve = |row: usize| {
        let key = &table.rows[row].key;
        let target =
            target_of(key.coordinates.get(TARGET).map(String::as_str), &table.sides[side].name, figures)?;
        let series = figures
            .series
            .iter()
            .position(|series| series.operation == key.cell.operation && series.target == target)?;
        let distribution = figures.distributions.iter().find(|one| usize::from(one.series) == series)?;
        Some(curve_of(row, side, run, distribution))
    };
    rows.filter_map(curve).collect()
}

/// The target that a row is of: the one that it names, the one that the side does, or the only one.
fn target_of(named: Option<&str>, side: &str, figures: &RunFigures) -> Option<TargetIndex> {
    let targets = &figures.run.targets;
    let index = |place: usize| u16::try_from(place).ok().map(TargetIndex);
    let is_meant = |name: &str| match named {
        Some(named) => name == named,
        None => side == name || side.strip_suffix(name).is_some_and(|before| before.ends_with(':')),
    };
    match targets.iter().position(|target| is_meant(&target.name)) {
        Some(place) => index(place),
        None => index(0).filter(|_| targets.len() - usize::from(figures.run.control.is_some()) == 1),
    }
}

fn curve_of(row: usize, side: usize, run: usize, distribution: &Distribution) -> SideCurve {
    let pairs = distribution.duration_ns.0.iter().zip(&distribution.share.0);
    SideCurve {
        row,
        side,
        run,
        share: pairs.map(|(ns, share)| (f64::from(*ns), f64::from(*share))).collect(),
        open_from_ns: distribution.at_least.map(|at_least| at_least.from_ns.0 as f64),
    }
}

/// A panel for each row that has curves.
pub(crate) fn draw(
    sheet: &mut Sheet,
    table: &ComparedTable,
    curves: &[SideCurve],
) -> Result<(), FigureError> {
    let (names, rows) = (SideNames::of(table), RowNames::of(table));
    let width = sheet.text / 14;
    let key =
        |side: usize| (Key::Line(Stroke::solid(paint_of(side), 2 * width)), names.short(side).to_owned());
    sheet.title("Share of attempts that took at most so long, a line for each run");
    sheet.legend(&(0..table.sides.len()).map(key).collect::<Vec<_>>());
    let mut with_curves: Vec<usize> = curves.iter().map(|curve| curve.row).collect();
    with_curves.sort_unstable();
    with_curves.dedup();
    let room = sheet.panels_max();
    let most = PANELS_MAX.min(room.0 * room.1);
    let left_out = with_curves.len().saturating_sub(most);
    with_curves.truncate(most);
    let more = if left_out > 0 { format!(" {left_out} more rows are not drawn.") } else { String::new() };
    let every = curves.len().div_ceil(CURVES_MAX).max(1);
    let fewer = every_in_words("run", every);
    let open = curves.iter().any(|curve| curve.open_from_ns.is_some());
    let open = if open { " What had not ended goes on in dots." } else { "" };
    sheet.caption(&format!("Dashed lines, where they are within: 0.1, 1 and 10 s.{open}{more}{fewer}"));
    if with_curves.is_empty() {
        sheet.nothing("There is nothing to draw: no run has attempts of which the durations are known.");
        return Ok(());
    }
    let two_columns = (room.0, room.1.min(with_curves.len().div_ceil(2)));
    let points_max = (POINTS_MAX / curves.len().div_ceil(every).max(1)).clamp(8, CURVE_POINTS_MAX);
    for (row, mut region) in with_curves.iter().zip(sheet.grid(with_curves.len(), two_columns)) {
        let own = curves.iter().filter(|curve| curve.row == *row && curve.run.is_multiple_of(every));
        let steps: Vec<(usize, Steps)> =
            own.map(|curve| (curve.side, steps_of(curve).thinned(points_max))).collect();
        let (shortest, longest) =
            Steps::durations(steps.iter().map(|(_, steps)| steps)).unwrap_or((f64::NAN, f64::NAN));
        sheet.panel_name(rows.name(*row), &mut region);
        let x = Axis::durations(shortest, longest, sheet.labels_across(region.width()));
        let texts = AxisTexts { x: "time taken", y: "attempts in %", ..AxisTexts::default() };
        let panel = sheet.panel(region, x, Axis::percent(sheet.labels_up(region.height())), texts)?;
        panel.thresholds(Along::X);
        for (side, steps) in &steps {
            steps.draw(&panel, Stroke::solid(paint_of(*side).with_opacity(0.7), width), "");
        }
    }
    Ok(())
}

fn steps_of(curve: &SideCurve) -> Steps {
    let nothing = || vec![0.0; curve.share.len()];
    Steps {
        share: curve.share.clone(),
        band: [nothing(), nothing()],
        open_from_ns: curve.open_from_ns,
        start: Start::Zero,
    }
}
