//! The value of each run of each side, so that the spread between runs is seen.

use iolag_analysis::LogRange;
use iolag_analysis::compare::{ComparedRow, ComparedTable};
use iolag_model::format_duration;

use super::lines::{Lines, arrow, every_in_words, legend, paint_of};
use super::scale::scale_of;
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{INK, Panel, Sheet};
use crate::figure::scene::shapes::{Align, MarkShape};
use crate::words::comparison::cells::unit_names;
use crate::words::comparison::names::{RowNames, SideNames};
use crate::words::percent::ends;

/// Of more every second run is drawn, or every third.
const DOTS_MAX: usize = 10_000;

pub(crate) fn draw(sheet: &mut Sheet, table: &ComparedTable) -> Result<(), FigureError> {
    let (names, rows) = (SideNames::of(table), RowNames::of(table));
    let [one, _] = unit_names(table.units);
    sheet.title(&format!("Every {one}, against the middle of the base"));
    legend(sheet, &names, 0);
    let all: usize = table.rows.iter().flat_map(|row| &row.sides).map(|side| side.amounts.len()).sum();
    let every = all.div_ceil(DOTS_MAX).max(1);
    sheet.caption(&caption(table, every));
    if table.rows.is_empty() {
        sheet.nothing("There is nothing to draw: the sides have nothing in common.");
        return Ok(());
    }
    let lines = Lines::new(sheet, table, 0);
    lines.tell_left_out(sheet);
    let drawn = || table.rows.iter().take(lines.rows);
    let speeds = drawn().flat_map(|row| {
        let zero = Zero::of(row);
        let middle = |middle| row.quantity.speed(middle);
        let own = row.sides.iter().flat_map(|side| side.speeds.iter().copied().chain([middle(side.middle)]));
        own.filter_map(|speed| zero.ends_of(speed)).flatten().collect::<Vec<f64>>()
    });
    let limit = table.same_within.ln_1p();
    let scale = scale_of(speeds, limit, sheet.labels_across(sheet.free.width() * 3 / 4));
    let panel = lines.panel(sheet, sheet.free, scale, &rows, &names, limit)?;
    for (index, row) in drawn().enumerate() {
        let zero = Zero::of(row);
        if matches!(zero, Zero::Nothing) {
            let text = format!("no {one} of {} says how fast it is", names.base());
            let (region, (_, y)) = (panel.region(), panel.place(0.0, lines.at(index, 0)));
            let place = (region.left.midpoint(region.right), y + sheet.text / 3);
            sheet.label(&text, place, sheet.text, Align::Middle, INK);
            continue;
        }
        for (side, value) in row.sides.iter().enumerate() {
            let y = lines.at(index, side);
            let speeds = value.speeds.iter().zip(&value.amounts);
            let speeds = speeds.filter(|(_, (run, _))| run.is_multiple_of(every));
            let speeds: Vec<[f64; 2]> = speeds.filter_map(|(speed, _)| zero.ends_of(*speed)).collect();
            draw_runs(sheet, &panel, &speeds, y, side);
            let middle = zero.ends_of(row.quantity.speed(value.middle)).into_iter().flatten();
            let middle = middle.filter(|end| end.is_finite()).map(|end| panel.place(end, y));
            panel.marks(middle.collect(), MarkShape::Bar, paint_of(side));
        }
    }
    Ok(())
}

fn caption(table: &ComparedTable, every: usize) -> String {
    let mut speeds = table.rows.iter().flat_map(|row| &row.sides).flat_map(|side| &side.speeds);
    let [one, several] = unit_names(table.units);
    let bounds = match (speeds.any(|speed| speed.known().is_none()), table.threshold()) {
        (false, _) => String::new(),
        (true, None) => {
            format!(
                " A triangle: a {one} that hung or failed was no faster than that; an arrow alone: nobody knows."
            )
        }
        (true, Some(threshold)) => format!(
            " A triangle and an arrow: somewhere from there on, because a {one} hung or failed, or had none over {}.",
            format_duration(threshold)
        ),
    };
    let of_known = match table.rows.iter().any(|row| matches!(Zero::of(row), Zero::OfKnown(_))) {
        true => format!(
            " Where such {several} leave the base without a middle, that of its others stands for it."
        ),
        false => String::new(),
    };
    format!("A dot is a {one}, a bar the middle of a side.{bounds}{of_known}{}", every_in_words(one, every))
}

/// What the runs of a row are shown against, as the logarithm of a speed.
#[derive(Debug, Clone, Copy)]
enum Zero {
    /// The middle of the base, or a bound of it.
    Middle(f64),
    /// It has none, because of some that one may be as slow as anything: that of those that are known.
    OfKnown(f64),
    /// No run of the base is known.
    Nothing,
}

impl Zero {
    fn of(row: &ComparedRow) -> Self {
        let Some(base) = row.sides.first() else { return Self::Nothing };
        if let Some(end) = ends(row.quantity.speed(base.middle)).into_iter().find(|end| end.is_finite()) {
            return Self::Middle(end);
        }
        let known: Vec<f64> = base.speeds.iter().filter_map(|speed| speed.known()).collect();
        match known.len() {
            0 => Self::Nothing,
            count => Self::OfKnown(known.iter().sum::<f64>() / count as f64),
        }
    }

    /// The ends of the logarithm of a speed by this; none where there is nothing to show it against.
    fn ends_of(self, speed: LogRange) -> Option<[f64; 2]> {
        match self {
            Self::Middle(zero) | Self::OfKnown(zero) => Some(ends(speed).map(|end| end - zero)),
            Self::Nothing => None,
        }
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
        let bounds = [low, high].into_iter().filter(|end| is_within(*end));
        panel.marks(bounds.map(|end| panel.place(end, y)).collect(), MarkShape::Triangle, paint);
        match [low, high] {
            [low, _] if low < left => arrow(sheet, panel, true, y, paint),
            [_, high] if high > right => arrow(sheet, panel, false, y, paint),
            _ => {}
        }
    }
}
