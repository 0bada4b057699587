//! How large a figure is.

use super::error::FigureError;

/// Resolution of a PNG whose size is given in mm.
const PRINT_DOTS_PER_INCH: f64 = 300.0;
/// Resolution that stands behind a size in pixels (CSS).
const SCREEN_DOTS_PER_INCH: f64 = 96.0;
const UNITS_PER_INCH: f64 = 2540.0;
const SIDE_MM_MIN: f64 = 40.0;
const SIDE_MM_MAX: f64 = 2000.0;

/// Width and height of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FigureSize {
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

impl FigureSize {
    /// A column of a paper: 85 mm × 60 mm.
    pub const PAPER_COLUMN: Self = Self::Millimetres { width: 85.0, height: 60.0 };
    /// 1200 px × 800 px.
    pub const SCREEN: Self = Self::Pixels { width: 1200, height: 800 };

    /// Width and height in 0.01 mm.
    pub(super) fn units(self) -> (i32, i32) {
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
    pub(super) fn pixels(self) -> ((u32, u32), f64) {
        match self {
            Self::Millimetres { width, height } => {
                let pixels = |length: f64| (length / 25.4 * PRINT_DOTS_PER_INCH).round() as u32;
                ((pixels(width), pixels(height)), PRINT_DOTS_PER_INCH)
            }
            Self::Pixels { width, height } => ((width, height), SCREEN_DOTS_PER_INCH),
        }
    }

    /// Width and height as SVG writes them.
    pub(super) fn lengths(self) -> (String, String) {
        match self {
            Self::Millimetres { width, height } => (format!("{width}mm"), format!("{height}mm")),
            Self::Pixels { width, height } => (format!("{width}px"), format!("{height}px")),
        }
    }

    pub(super) fn check(self) -> Result<(), FigureError> {
        let (width, height) = match self {
            Self::Millimetres { width, height } => (width, height),
            Self::Pixels { width, height } => (
                f64::from(width) * 25.4 / SCREEN_DOTS_PER_INCH,
                f64::from(height) * 25.4 / SCREEN_DOTS_PER_INCH,
            ),
        };
        let readable =
            (SIDE_MM_MIN..=SIDE_MM_MAX).contains(&width) && (SIDE_MM_MIN..=SIDE_MM_MAX).contains(&height);
        if readable { Ok(()) } else { Err(FigureError::Size { width_mm: width, height_mm: height }) }
    }
}
