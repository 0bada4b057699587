//! The value of each run of each side, so that the spread between runs is seen.

use iolag_analysis::compare::{ComparedRow, ComparedTable};
use iolag_analysis::{RunAmount, RunQuantity};

use super::lines::{Lines, arrow, every_in_words, legend, paint_of};
use super::scale::scale_of;
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{Panel, Sheet};
use crate::figure::scene::shapes::MarkShape;
use crate::words::comparison::names::{RowNames, SideNames};

/// Of more every second run is drawn, or every third.
const DOTS_MAX: usize = 10_000;

pub(crate) fn draw(sheet: &mut Sheet, table: &ComparedTable) -> Result<(), FigureError> {
    let (names, rows) = (SideNames::of(table), RowNames::of(table));
    sheet.title("Every run, against the middle of the base");
    legend(sheet, &names, 0);
    let bounds = " A triangle: a run that hung or failed was no faster than that.";
    let all: usize = table.rows.iter().flat_map(|row| &row.sides).map(|side| side.amounts.len()).sum();
    let every = all.div_ceil(DOTS_MAX).max(1);
    let is_bounded = table
        .rows
        .iter()
        .flat_map(|row| &row.sides)
        .flat_map(|side| &side.amounts)
        .any(|(_, amount)| !matches!(amount, RunAmount::Known(_)));
    sheet.caption(&format!(
        "A dot is a run, a bar the middle of a side.{}{}",
        if is_bounded { bounds } else { "" },
        every_in_words(every)
    ));
    if table.rows.is_empty() {
        sheet.nothing("There is nothing to draw: the sides have nothing in common.");
        return Ok(());
    }
    let lines = Lines::new(sheet, table, 0);
    lines.tell_left_out(sheet);
    let drawn = || table.rows.iter().take(lines.rows);
    let speeds = drawn().flat_map(|row| {
        let own = row
            .sides
            .iter()
            .flat_map(|side| side.amounts.iter().map(|(_, amount)| *amount).chain([side.middle]));
        own.flat_map(|amount| speed(table, row, amount)).collect::<Vec<f64>>()
    });
    let limit = table.same_within.ln_1p();
    let scale = scale_of(speeds, limit, sheet.labels_across(sheet.free.width() * 3 / 4));
    let panel = lines.panel(sheet, sheet.free, scale, &rows, &names, limit)?;
    for (index, row) in drawn().enumerate() {
        for (side, value) in row.sides.iter().enumerate() {
            let y = lines.at(index, side);
            let speeds = value.amounts.iter().filter(|(run, _)| run.is_multiple_of(every));
            let speeds: Vec<[f64; 2]> = speeds.map(|(_, amount)| speed(table, row, *amount)).collect();
            draw_runs(sheet, &panel, &speeds, y, side);
            let middle = speed(table, row, value.middle).into_iter().filter(|end| end.is_finite());
            panel.marks(middle.map(|end| panel.place(end, y)).collect(), MarkShape::Bar, paint_of(side));
        }
    }
    Ok(())
}

/// The ends of the logarithm of a speed by that of the middle of the base.
fn speed(table: &ComparedTable, row: &ComparedRow, amount: RunAmount) -> [f64; 2] {
    let middle = row.sides.first().map_or(RunAmount::Open, |base| base.middle);
    let base = match middle {
        RunAmount::Known(amount) | RunAmount::AtLeast(amount) | RunAmount::AtMost(amount) => amount.ln(),
        RunAmount::Open => f64::NAN,
    };
    let (low, high) = amount.ends();
    let (low, high) = (low.ln() - base, high.ln() - base);
    match table.quantity {
        RunQuantity::Rate => [low, high],
        RunQuantity::Median | RunQuantity::P95 | RunQuantity::ShareOver(_) => [-high, -low],
    }
}

fn draw_runs(sheet: &Sheet, panel: &Panel<'_>, speeds: &[[f64; 2]], y: f64, side: usize) {
    let paint = paint_of(side).with_opacity(0.55);
    let (left, right) = panel.x.ends();
    let is_within = |end: f64| end >= left && end <= right;
    let (known, bounds): (Vec<[f64; 2]>, Vec<[f64; 2]>) =
        speeds.iter().copied().partition(|[low, high]| low == high && is_within(*high));
    panel.dots(known.iter().map(|[_, high]| panel.place(*high, y)).collect(), sheet.text / 2, paint);
    for [low, high] in bounds {
        if is_within(high) {
            panel.marks(vec![panel.place(high, y)], MarkShape::Triangle, paint);
        }
        arrow(sheet, panel, low < left, y, paint);
    }
}
