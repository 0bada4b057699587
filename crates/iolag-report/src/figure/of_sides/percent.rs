//! By how much each of the others is faster than the base, with its interval and its word.

use iolag_analysis::compare::{ComparedCell, ComparedTable};

use super::lines::{Lines, arrow, legend, paint_of};
use super::scale::scale_of;
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{INK, Panel, Sheet};
use crate::figure::scene::shapes::{Align, MarkShape, Stroke};
use crate::words::comparison::cells::{same, unit_names, word};
use crate::words::comparison::design::{cells, design};
use crate::words::comparison::names::{RowNames, SideNames};
use crate::words::percent::ends;

/// Words have this share of the width at most.
const WORDS_PART: i32 = 4;

pub(crate) fn draw(sheet: &mut Sheet, table: &ComparedTable) -> Result<(), FigureError> {
    let (names, rows) = (SideNames::of(table), RowNames::of(table));
    sheet.title(&format!(
        "Speed of {} against {}",
        names.list(&(1..names.short.len()).collect::<Vec<_>>()),
        names.short(0)
    ));
    legend(sheet, &names, 1);
    sheet.caption(&caption(table, &names, &rows));
    if table.rows.is_empty() {
        sheet.nothing("There is nothing to draw: the sides have nothing in common.");
        return Ok(());
    }
    let lines = Lines::new(sheet, table, 1);
    lines.tell_left_out(sheet);
    let told = |cell: &ComparedCell| word(table, cell);
    let widest = cells(table).map(|cell| sheet.font().width(&told(cell), sheet.text)).max().unwrap_or(0);
    let room = widest.min(sheet.free.width() / WORDS_PART);
    let mut region = sheet.free;
    region.right -= room + sheet.text;
    let drawn = || table.rows.iter().take(lines.rows).flat_map(|row| &row.cells);
    let logarithms = drawn().flat_map(|cell| {
        let estimate = cell.compared.difference.as_ref().map(|difference| difference.estimate());
        [estimate, cell.compared.interval].into_iter().flatten().flat_map(ends)
    });
    let limit = table.same_within.ln_1p();
    let scale = scale_of(logarithms, limit, sheet.labels_across(region.width() * 3 / 4));
    let panel = lines.panel(sheet, region, scale, &rows, &names, limit)?;
    for (index, row) in table.rows.iter().enumerate().take(lines.rows) {
        for (side, cell) in (1..).zip(&row.cells) {
            let y = lines.at(index, side);
            draw_cell(sheet, &panel, cell, y, side);
            let text = sheet.font().shortened(&told(cell), sheet.text, room);
            let middle = panel.place(0.0, y).1;
            sheet.label(
                &text,
                (region.right + sheet.text / 2, middle + sheet.text / 3),
                sheet.text,
                Align::Start,
                INK,
            );
        }
    }
    Ok(())
}

fn caption(table: &ComparedTable, names: &SideNames, rows: &RowNames) -> String {
    let estimates = |cell: &ComparedCell| cell.compared.difference.as_ref().map(|one| one.estimate());
    let is_cross = |cell: &ComparedCell| {
        cell.compared.interval.is_none() && estimates(cell).is_some_and(|one| one.known().is_some())
    };
    let is_diamond = |cell: &ComparedCell| {
        estimates(cell)
            .is_some_and(|one| one.known().is_none() && ends(one).iter().any(|end| end.is_finite()))
    };
    let cross = if cells(table).any(is_cross) { " A cross: too few runs for an interval." } else { "" };
    let several = unit_names(table.units)[1];
    let diamond = if cells(table).any(is_diamond) {
        format!(" Diamonds: the ends of what is known, where {several} are only bounded.")
    } else {
        String::new()
    };
    let is_open = |cell: &ComparedCell| {
        cell.compared.interval.is_some_and(|interval| ends(interval).iter().any(|end| end.is_infinite()))
    };
    let arrows = if cells(table).any(is_open) {
        format!(" Arrows: ends that are not known, where {several} are only bounded.")
    } else {
        String::new()
    };
    format!(
        "{}. The band is what counts as the same, within {}.{cross}{diamond}{arrows}",
        design(table, names, rows),
        same(table.same_within)
    )
}

fn draw_cell(sheet: &Sheet, panel: &Panel<'_>, cell: &ComparedCell, y: f64, side: usize) {
    let paint = paint_of(side);
    let stroke = Stroke::solid(paint, panel.line_width() * 2);
    let (left, right) = panel.x.ends();
    if let Some(interval) = cell.compared.interval {
        let [low, high] = ends(interval);
        panel.line([(low.max(left), y), (high.min(right), y)], stroke);
        let known: Vec<_> = [low, high]
            .into_iter()
            .filter(|end| *end > left && *end < right)
            .map(|end| panel.place(end, y))
            .collect();
        panel.marks(known, MarkShape::Bar, paint);
        if low < left {
            arrow(sheet, panel, true, y, paint);
        }
        if high > right {
            arrow(sheet, panel, false, y, paint);
        }
    }
    let Some(estimate) = cell.compared.difference.as_ref().map(|difference| difference.estimate()) else {
        return;
    };
    match (estimate.known(), cell.compared.interval) {
        (Some(known), Some(_)) => panel.dots(vec![panel.place(known, y)], sheet.text * 2 / 3, paint),
        (Some(known), None) => panel.marks(vec![panel.place(known, y)], MarkShape::Cross, paint),
        // The ends of what is bounded.
        (None, _) => {
            let known = ends(estimate).into_iter().filter(|end| end.is_finite());
            panel.marks(known.map(|end| panel.place(end, y)).collect(), MarkShape::Diamond, paint);
        }
    }
}
