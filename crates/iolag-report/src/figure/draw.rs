//! From what was measured to a figure in its form.

use std::rc::Rc;

use iolag_analysis::figure::Figures;

use super::choice::{Chosen, PALETTE, PlotSelection, Room};
use super::drawings::hangs::Hangs;
use super::drawings::{boxes, ecdf, fairness, heat_map, histogram, rates, sweep, time_line};
use super::error::PlotError;
use super::kind::PlotKind;
use super::paper::sheet::Sheet;
use super::scene::font::Font;
use super::scene::shapes::Scene;
use super::scene::{raster, svg};
use super::size::PlotSize;

/// More points than this are never drawn as vectors in one figure.
pub const VECTOR_POINTS_MAX: usize = 20_000;

/// In which form a figure is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlotForm {
    /// Vectors, with text as outlines: fit to be converted to PDF.
    Svg,
    /// Pixels.
    Png,
}

/// Draws a figure of these runs, several of them overlaid, or over time in panels of their own. Figures are to be made with
/// [`Apart::Nothing`](iolag_analysis::figure::Apart): then a colour is an operation.
///
/// A figure without any data says so in its place: it is no error.
///
/// # Errors
/// If the size is below 40 mm or beyond 2000 mm, or a PNG does not fit into memory.
pub fn plot(
    kind: PlotKind,
    figures: &Figures,
    selection: &PlotSelection,
    size: PlotSize,
    form: PlotForm,
) -> Result<Vec<u8>, PlotError> {
    size.check()?;
    let (scene, font) = scene_of(kind, figures, selection, size)?;
    match form {
        PlotForm::Svg => {
            let (width, height) = size.lengths();
            svg::write_svg(&scene, &font, &width, &height).map(String::into_bytes)
        }
        PlotForm::Png => {
            let (pixels, dots_per_inch) = size.pixels();
            raster::write_png(&scene, &font, pixels, dots_per_inch)
        }
    }
}

pub(super) fn scene_of(
    kind: PlotKind,
    figures: &Figures,
    selection: &PlotSelection,
    size: PlotSize,
) -> Result<(Scene, Rc<Font>), PlotError> {
    let mut sheet = Sheet::new(size)?;
    let chosen = Chosen::new(figures, selection, room_of(kind));
    let hangs = Hangs::new(figures, selection);
    match kind {
        PlotKind::TimeLine => time_line::draw(&mut sheet, figures, chosen, &hangs)?,
        PlotKind::Ecdf => ecdf::draw(&mut sheet, &chosen)?,
        PlotKind::Histogram => histogram::draw(&mut sheet, &chosen)?,
        PlotKind::Box => boxes::draw(&mut sheet, chosen)?,
        PlotKind::ClientBox => boxes::draw_clients(&mut sheet, &chosen)?,
        PlotKind::HeatMap => heat_map::draw(&mut sheet, figures, chosen)?,
        PlotKind::Rates => rates::draw(&mut sheet, &chosen, &hangs)?,
        PlotKind::Fairness => fairness::draw(&mut sheet, &chosen, selection)?,
        PlotKind::Sweep => sweep::draw(&mut sheet, figures, selection)?,
    }
    Ok(sheet.finish())
}

/// How much a reader can tell apart. Where every operation and place has a panel or a row of its own, the sheet decides.
const fn room_of(kind: PlotKind) -> Room {
    match kind {
        PlotKind::TimeLine => Room { operations: PALETTE.len(), lines: usize::MAX },
        PlotKind::Box | PlotKind::ClientBox | PlotKind::HeatMap => {
            Room { operations: usize::MAX, lines: usize::MAX }
        }
        _ => Room { operations: usize::MAX, lines: 24 },
    }
}
