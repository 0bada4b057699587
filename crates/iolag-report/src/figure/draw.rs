//! From what was measured to a figure in its form.

use std::rc::Rc;

use iolag_analysis::compare::ComparedTable;
use iolag_analysis::figure::Figures;
use iolag_analysis::{CopiesFigure, Recommendation};
use iolag_model::{MemoryCourse, TraceTimeLine};

use super::drawings::palette::PALETTE;
use super::error::FigureError;
use super::kind::{FigureKind, FigureSource};
use super::of_histories;
use super::of_histories::by_configuration::{self, DayValue};
use super::of_histories::choice::{HistorySelection, PlottedHistory};
use super::of_memory;
use super::of_runs::choice::{Chosen, FigureSelection, Room};
use super::of_runs::hangs::Hangs;
use super::of_runs::{boxes, copies, ecdf, fairness, heat_map, histogram, jobs, rates, sweep, time_line};
use super::of_sides;
use super::of_sides::curves::SideCurve;
use super::of_traces::{self, Durations};
use super::paper::sheet::Sheet;
use super::scene::font::Font;
use super::scene::shapes::Scene;
use super::scene::{raster, svg};
use super::size::FigureSize;

/// More points than this are never drawn as vectors in one figure.
pub const VECTOR_POINTS_MAX: usize = 20_000;

/// In which form a figure is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureForm {
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
pub fn draw_figure(
    kind: FigureKind,
    figures: &Figures,
    selection: &FigureSelection,
    size: FigureSize,
    form: FigureForm,
) -> Result<Vec<u8>, FigureError> {
    size.check()?;
    written(scene_of(kind, figures, selection, size)?, size, form)
}

/// Draws a figure of a history: a task is a panel, a place a colour and a dash.
///
/// A figure without any data says so in its place: it is no error.
///
/// # Errors
/// If a history has no such figure, task or target; and like [`draw_figure`].
pub fn draw_history_figure(
    kind: FigureKind,
    history: &PlottedHistory<'_>,
    selection: &HistorySelection,
    size: FigureSize,
    form: FigureForm,
) -> Result<Vec<u8>, FigureError> {
    size.check()?;
    written(scene_of_history(kind, history, selection, size)?, size, form)
}

/// Draws a figure of a comparison: percent with their intervals, a group for each row.
///
/// A comparison without any row says so in its place: it is no error.
///
/// # Errors
/// If a comparison has no such figure; and like [`draw_figure`].
pub fn draw_comparison_figure(
    kind: FigureKind,
    table: &ComparedTable,
    size: FigureSize,
    form: FigureForm,
) -> Result<Vec<u8>, FigureError> {
    size.check()?;
    kind.check(FigureSource::Sides)?;
    let mut sheet = Sheet::new(size)?;
    of_sides::percent::draw(&mut sheet, table)?;
    written(sheet.finish(), size, form)
}

/// An SVG for a page.
pub(crate) struct DrawnFigure {
    svg: String,
    /// What the page has to say of it; nothing if it stands in the figure.
    pub(crate) sentences: String,
}

impl DrawnFigure {
    pub(crate) fn as_str(&self) -> &str {
        &self.svg
    }

    /// The `number`th figure of its page, whose glyphs are not those of the others.
    fn new(sheet: Sheet, size: FigureSize, number: usize) -> Result<Self, FigureError> {
        let sentences = sheet.sentences().to_owned();
        let (scene, font) = sheet.finish();
        let (width, height) = size.lengths();
        let svg = svg::write_svg(&scene, &font, &width, &height)?;
        let begin = svg.find("<svg").unwrap_or(0);
        let svg = svg[begin..]
            .replace("id=\"g", &format!("id=\"f{number}g"))
            .replace("href=\"#g", &format!("href=\"#f{number}g"));
        Ok(Self { svg, sentences })
    }
}

/// The figures of a comparison's page, each as high as its rows need.
///
/// # Errors
/// If one cannot be drawn.
pub(crate) fn comparison_figures(
    table: &ComparedTable,
    curves: &[SideCurve],
) -> Result<Vec<DrawnFigure>, FigureError> {
    let of_lines = |first: usize, draw: fn(&mut Sheet, &ComparedTable) -> Result<(), FigureError>| {
        let height = FRAME_MM + LINE_MM * of_sides::lines::Lines::count(table, first);
        let size = FigureSize::Millimetres { width: PAGE_MM, height: height.min(HEIGHT_MM_MAX).round() };
        let mut sheet = Sheet::new(size)?;
        draw(&mut sheet, table)?;
        DrawnFigure::new(sheet, size, first + 1)
    };
    let mut drawn = vec![of_lines(1, of_sides::percent::draw)?, of_lines(0, of_sides::runs::draw)?];
    if !curves.is_empty() {
        let rows = table.rows.len().min(of_sides::curves::PANELS_MAX).div_ceil(2) as f64;
        let size = FigureSize::Millimetres { width: PAGE_MM, height: FRAME_MM + PANEL_MM * rows };
        let mut sheet = Sheet::new(size)?;
        of_sides::curves::draw(&mut sheet, table, curves)?;
        drawn.push(DrawnFigure::new(sheet, size, 3)?);
    }
    Ok(drawn)
}

/// The `number`th figure of a page that has traces: what was done when.
///
/// # Errors
/// If it cannot be drawn.
pub(crate) fn trace_figure(
    line: &TraceTimeLine,
    durations: Durations,
    number: usize,
) -> Result<DrawnFigure, FigureError> {
    let panels = if durations == Durations::Known { 2.0 } else { 1.0 };
    let size = FigureSize::Millimetres { width: PAGE_MM, height: FRAME_MM + SMALL_PANEL_MM * panels };
    let mut sheet = Sheet::of_page(size)?;
    of_traces::draw(&mut sheet, line, durations)?;
    DrawnFigure::new(sheet, size, number)
}

/// The `number`th figure of a page: what memory had while a run lasted.
///
/// # Errors
/// If it cannot be drawn.
pub(crate) fn memory_figure(course: &MemoryCourse, number: usize) -> Result<DrawnFigure, FigureError> {
    let size = FigureSize::Millimetres { width: PAGE_MM, height: FRAME_MM + SMALL_PANEL_MM * 2.0 };
    let mut sheet = Sheet::of_page(size)?;
    of_memory::draw(&mut sheet, course)?;
    DrawnFigure::new(sheet, size, number)
}

/// The `number`th figure of a page: jobs per hour against copies.
///
/// # Errors
/// If it cannot be drawn.
pub(crate) fn jobs_figure(told: &[Recommendation], number: usize) -> Result<DrawnFigure, FigureError> {
    let size = FigureSize::Millimetres { width: PAGE_MM, height: FRAME_MM + PANEL_MM };
    let mut sheet = Sheet::of_page(size)?;
    jobs::draw(&mut sheet, told, &FigureSelection::default())?;
    DrawnFigure::new(sheet, size, number)
}

/// The `number`th figure of a page: the time of a copy against copies.
///
/// # Errors
/// If it cannot be drawn.
pub(crate) fn curves_figure(curves: &[CopiesFigure], number: usize) -> Result<DrawnFigure, FigureError> {
    let size = FigureSize::Millimetres { width: PAGE_MM, height: FRAME_MM + PANEL_MM };
    let mut sheet = Sheet::of_page(size)?;
    copies::draw(&mut sheet, curves, &FigureSelection::default())?;
    DrawnFigure::new(sheet, size, number)
}

/// Sizes of the figures of a page in mm: their width, what is around their lines, a line, a panel.
const PAGE_MM: f64 = 200.0;
const FRAME_MM: f64 = 40.0;
const LINE_MM: f64 = 5.0;
const PANEL_MM: f64 = 60.0;
const SMALL_PANEL_MM: f64 = 32.0;
const HEIGHT_MM_MAX: f64 = 900.0;

fn written(
    (scene, font): (Scene, Rc<Font>),
    size: FigureSize,
    form: FigureForm,
) -> Result<Vec<u8>, FigureError> {
    match form {
        FigureForm::Svg => {
            let (width, height) = size.lengths();
            svg::write_svg(&scene, &font, &width, &height).map(String::into_bytes)
        }
        FigureForm::Png => {
            let (pixels, dots_per_inch) = size.pixels();
            raster::write_png(&scene, &font, pixels, dots_per_inch)
        }
    }
}

pub(super) fn scene_of_history(
    kind: FigureKind,
    history: &PlottedHistory<'_>,
    selection: &HistorySelection,
    size: FigureSize,
) -> Result<(Scene, Rc<Font>), FigureError> {
    kind.check(FigureSource::History)?;
    let mut sheet = Sheet::new(size)?;
    let chosen = of_histories::choice::Chosen::new(history, selection)?;
    match kind {
        FigureKind::TimeLine => of_histories::time_line::draw(&mut sheet, chosen)?,
        FigureKind::Ecdf => of_histories::ecdf::draw(&mut sheet, chosen, selection.curves)?,
        FigureKind::BeforeAfter => of_histories::ecdf::draw_before_after(&mut sheet, chosen)?,
        FigureKind::Box => of_histories::boxes::draw(&mut sheet, chosen)?,
        FigureKind::HeatMap => of_histories::days::draw(&mut sheet, chosen, selection.hours)?,
        FigureKind::MeanByDay => by_configuration::draw(&mut sheet, history, selection, DayValue::Mean)?,
        FigureKind::MedianByDay => by_configuration::draw(&mut sheet, history, selection, DayValue::Median)?,
        FigureKind::TimeoutsByDay => {
            by_configuration::draw(&mut sheet, history, selection, DayValue::PastDeadline)?;
        }
        FigureKind::Correlations => of_histories::correlations::draw(&mut sheet, &chosen)?,
        _ => kind.check(FigureSource::History)?,
    }
    Ok(sheet.finish())
}

pub(super) fn scene_of(
    kind: FigureKind,
    figures: &Figures,
    selection: &FigureSelection,
    size: FigureSize,
) -> Result<(Scene, Rc<Font>), FigureError> {
    let mut sheet = Sheet::new(size)?;
    let chosen = Chosen::new(figures, selection, room_of(kind));
    let hangs = Hangs::new(figures, selection);
    match kind {
        FigureKind::TimeLine => time_line::draw(&mut sheet, figures, chosen, &hangs)?,
        FigureKind::Ecdf => ecdf::draw(&mut sheet, &chosen)?,
        FigureKind::Histogram => histogram::draw(&mut sheet, &chosen)?,
        FigureKind::Box => boxes::draw(&mut sheet, chosen)?,
        FigureKind::ClientBox => boxes::draw_clients(&mut sheet, &chosen)?,
        FigureKind::HeatMap => heat_map::draw(&mut sheet, figures, chosen)?,
        FigureKind::Rates => rates::draw(&mut sheet, &chosen, &hangs)?,
        FigureKind::Fairness => fairness::draw(&mut sheet, &chosen, selection)?,
        FigureKind::Sweep if !figures.copies.is_empty() => {
            copies::draw(&mut sheet, &figures.copies, selection)?;
        }
        FigureKind::Sweep => sweep::draw(&mut sheet, figures, selection)?,
        FigureKind::Jobs => jobs::draw(&mut sheet, &figures.jobs, selection)?,
        FigureKind::BeforeAfter
        | FigureKind::MeanByDay
        | FigureKind::MedianByDay
        | FigureKind::TimeoutsByDay
        | FigureKind::Correlations
        | FigureKind::Compare => kind.check(FigureSource::Runs)?,
    }
    Ok(sheet.finish())
}

/// How much a reader can tell apart. Where every operation and place has a panel or a row of its own, the sheet decides.
const fn room_of(kind: FigureKind) -> Room {
    match kind {
        FigureKind::TimeLine => Room { operations: PALETTE.len(), lines: usize::MAX },
        FigureKind::Box | FigureKind::ClientBox | FigureKind::HeatMap => {
            Room { operations: usize::MAX, lines: usize::MAX }
        }
        _ => Room { operations: usize::MAX, lines: 24 },
    }
}
