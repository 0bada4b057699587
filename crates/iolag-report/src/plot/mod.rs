//! Figures for papers: the pictures of a report as SVG or PNG, drawn through plotters.
//!
//! ```text
//! Figures + selection -> chosen lines -> sheet and panels (plotters) -> scene -> SVG or PNG
//! ```
//!
//! Invariants: at most [`VECTOR_POINTS_MAX`] points are drawn as vectors; what is more becomes an embedded
//! picture of pixels, with the longest attempts and everything that went wrong still as vectors. No font, file
//! or address outside of the figure is referred to. Nothing is left out without the caption saying so.
//! Limits: characters beyond Latin, Greek and Cyrillic are drawn as a replacement character.

mod axis;
mod backend;
mod boxes;
mod choice;
mod density;
mod ecdf;
mod fairness;
mod font;
mod hangs;
mod heat_map;
mod histogram;
mod marks;
mod raster;
mod rates;
mod scene;
mod sheet;
mod svg;
mod sweep;
mod terminal;
mod terminal_canvas;
mod terminal_figures;
#[cfg(test)]
pub(crate) mod tests;
mod time_line;

use std::convert::Infallible;
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use iolag_analysis::figure::Figures;
use plotters::drawing::DrawingAreaErrorKind;

use choice::{Chosen, PALETTE, Room};
use font::Font;
use hangs::Hangs;
use scene::Scene;
use sheet::Sheet;

pub use choice::PlotSelection;
pub use terminal::{TerminalSize, terminal_ecdf, terminal_time_line};

/// More points than this are never drawn as vectors in one figure.
pub const VECTOR_POINTS_MAX: usize = 20_000;

/// Resolution of a PNG whose size is given in mm.
const PRINT_DOTS_PER_INCH: f64 = 300.0;
/// Resolution that stands behind a size in pixels (CSS).
const SCREEN_DOTS_PER_INCH: f64 = 96.0;
const UNITS_PER_INCH: f64 = 2540.0;

/// Which picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlotKind {
    /// Every attempt over time.
    TimeLine,
    /// The share of attempts that took at most so long.
    Ecdf,
    /// Counts of durations on a logarithmic axis.
    Histogram,
    /// A box per operation and run.
    Box,
    /// A box per client.
    ClientBox,
    /// Durations over time as shares.
    HeatMap,
    /// Operations per second over time.
    Rates,
    /// What each client got done.
    Fairness,
    /// Rates and durations against clients or objects.
    Sweep,
}

impl PlotKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::TimeLine,
        Self::Ecdf,
        Self::Histogram,
        Self::Box,
        Self::ClientBox,
        Self::HeatMap,
        Self::Rates,
        Self::Fairness,
        Self::Sweep,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TimeLine => "time-line",
            Self::Ecdf => "ecdf",
            Self::Histogram => "histogram",
            Self::Box => "box",
            Self::ClientBox => "client-box",
            Self::HeatMap => "heat-map",
            Self::Rates => "rates",
            Self::Fairness => "fairness",
            Self::Sweep => "sweep",
        }
    }
}

impl fmt::Display for PlotKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for PlotKind {
    type Err = PlotError;

    fn from_str(name: &str) -> Result<Self, PlotError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| PlotError::UnknownKind { name: name.to_owned() })
    }
}

/// Width and height of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlotSize {
    /// On paper; a PNG gets 300 dots per inch.
    Millimetres {
        /// Width in mm.
        width: f64,
        /// Height in mm.
        height: f64,
    },
    /// On a screen; 96 pixels are an inch.
    Pixels {
        /// Width in px.
        width: u32,
        /// Height in px.
        height: u32,
    },
}

impl PlotSize {
    /// A column of a paper: 85 mm × 60 mm.
    pub const PAPER_COLUMN: Self = Self::Millimetres { width: 85.0, height: 60.0 };
    /// 1200 px × 800 px.
    pub const SCREEN: Self = Self::Pixels { width: 1200, height: 800 };

    /// Width and height in 0.01 mm.
    fn units(self) -> (i32, i32) {
        let units = |length: f64, per_inch: f64| (length * UNITS_PER_INCH / per_inch).round() as i32;
        match self {
            Self::Millimetres { width, height } => (units(width, 25.4), units(height, 25.4)),
            Self::Pixels { width, height } => (
                units(f64::from(width), SCREEN_DOTS_PER_INCH),
                units(f64::from(height), SCREEN_DOTS_PER_INCH),
            ),
        }
    }

    /// Width and height of a PNG in pixels, and its dots per inch.
    fn pixels(self) -> ((u32, u32), f64) {
        match self {
            Self::Millimetres { width, height } => {
                let pixels = |length: f64| (length / 25.4 * PRINT_DOTS_PER_INCH).round() as u32;
                ((pixels(width), pixels(height)), PRINT_DOTS_PER_INCH)
            }
            Self::Pixels { width, height } => ((width, height), SCREEN_DOTS_PER_INCH),
        }
    }

    /// Width and height as SVG writes them.
    fn lengths(self) -> (String, String) {
        match self {
            Self::Millimetres { width, height } => (format!("{width}mm"), format!("{height}mm")),
            Self::Pixels { width, height } => (format!("{width}px"), format!("{height}px")),
        }
    }

    fn check(self) -> Result<(), PlotError> {
        let (width, height) = match self {
            Self::Millimetres { width, height } => (width, height),
            Self::Pixels { width, height } => (
                f64::from(width) * 25.4 / SCREEN_DOTS_PER_INCH,
                f64::from(height) * 25.4 / SCREEN_DOTS_PER_INCH,
            ),
        };
        let readable =
            (SIDE_MM_MIN..=SIDE_MM_MAX).contains(&width) && (SIDE_MM_MIN..=SIDE_MM_MAX).contains(&height);
        if readable { Ok(()) } else { Err(PlotError::Size { width_mm: width, height_mm: height }) }
    }
}

const SIDE_MM_MIN: f64 = 40.0;
const SIDE_MM_MAX: f64 = 2000.0;

/// In which form a figure is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlotForm {
    /// Vectors, with text as outlines: fit to be converted to PDF.
    Svg,
    /// Pixels.
    Png,
}

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlotError {
    /// No such kind.
    #[error(
        "{name:?} is no kind of figure: choose time-line, ecdf, histogram, box, client-box, heat-map, rates, \
         fairness or sweep"
    )]
    UnknownKind {
        /// What was asked for.
        name: String,
    },
    /// Nobody could read it, or no memory could hold it.
    #[error(
        "a figure of {width_mm:.0} mm by {height_mm:.0} mm cannot be drawn: choose sides from 40 mm to 2000 mm \
         (151 px to 7559 px)"
    )]
    Size {
        /// Width in mm.
        width_mm: f64,
        /// Height in mm.
        height_mm: f64,
    },
    /// Too many pixels.
    #[error(
        "a picture of {width} by {height} pixels does not fit into memory: choose a smaller size, or SVG"
    )]
    TooLarge {
        /// Width in px.
        width: u32,
        /// Height in px.
        height: u32,
    },
    /// The font that is part of iolag cannot be read.
    #[error("the font for figures cannot be read ({reason}): this iolag is damaged, install it again")]
    Font {
        /// What the font's reader says.
        reason: String,
    },
    /// Encoding failed.
    #[error("the picture cannot be encoded as PNG ({reason}): choose SVG instead")]
    Png {
        /// What the encoder says.
        reason: String,
    },
    /// plotters refuses.
    #[error("the figure cannot be laid out ({reason}): choose a larger size")]
    Layout {
        /// What plotters says.
        reason: String,
    },
}

impl From<DrawingAreaErrorKind<Infallible>> for PlotError {
    fn from(error: DrawingAreaErrorKind<Infallible>) -> Self {
        Self::Layout { reason: error.to_string() }
    }
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

fn scene_of(
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
