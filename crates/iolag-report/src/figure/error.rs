//! Why there is no figure.

use std::convert::Infallible;

use plotters::drawing::DrawingAreaErrorKind;

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FigureError {
    /// No such kind.
    #[error("{name:?} is no kind of figure: choose {known}")]
    UnknownKind {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Not of this source.
    #[error("there is no figure {name:?} of {of}: choose {known}")]
    KindOfOther {
        /// What was asked for.
        name: &'static str,
        /// Of what.
        of: String,
        /// Those that there are of it.
        known: String,
    },
    /// No such figure of a study.
    #[error("{name:?} is no figure of a study that iolag knows: choose {known}")]
    UnknownPreset {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A figure of a study of another source.
    #[error("figure {name} is drawn of {needed}: write `iolag plot --figure {name} {typed} …`")]
    PresetOfOther {
        /// Which figure.
        name: &'static str,
        /// What it is drawn of.
        needed: String,
        /// What is typed for that.
        typed: &'static str,
    },
    /// A history has no such task or target.
    #[error("no {what} of this history is called {name:?}: choose from {known}")]
    NotInHistory {
        /// What it would be.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: String,
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
    #[error("a figure of {width} by {height} pixels does not fit into memory: choose a smaller size, or SVG")]
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
    #[error("the figure cannot be encoded as PNG ({reason}): choose SVG instead")]
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

impl From<DrawingAreaErrorKind<Infallible>> for FigureError {
    fn from(error: DrawingAreaErrorKind<Infallible>) -> Self {
        Self::Layout { reason: error.to_string() }
    }
}
