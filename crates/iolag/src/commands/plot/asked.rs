//! What is to be drawn, as it was typed.

use iolag_conduct::Failure;
use iolag_report::{FigureError, FigureKind, FigurePreset, FigureSize, FigureSource};

use crate::args::{HISTORY, Plot};

/// What is to be drawn, whatever it is of.
pub struct Asked<'a> {
    /// Which kind.
    pub kind: FigureKind,
    /// The figure of a study, if one was named.
    pub preset: Option<FigurePreset>,
    /// How large.
    pub size: FigureSize,
    /// The runs, or the history, as they were typed.
    pub sources: Vec<&'a str>,
}

impl<'a> Asked<'a> {
    /// Reads what was typed.
    ///
    /// # Errors
    /// If there is no such figure, or no such size.
    pub fn of(options: &'a Plot) -> Result<Self, Failure> {
        let preset =
            options.figure.as_deref().map(FigurePreset::named).transpose().map_err(Failure::usage)?;
        if let (Some(preset), Some(kind)) = (preset, &options.kind)
            && kind.parse::<FigureKind>().is_ok()
        {
            return Err(Failure::usage(format!(
                "figure {} is of the kind {}: leave out {kind:?}",
                preset.name, preset.kind
            )));
        }
        // With a figure nothing but what it is of is left to be named.
        let (kind, first) = match (preset, &options.kind) {
            (Some(preset), first) => (preset.kind, first.as_deref()),
            (None, Some(kind)) => (kind.parse().map_err(|error| told_with_kind(kind, error))?, None),
            (None, None) => return Err(Failure::usage("which kind of figure, or --figure NAME?")),
        };
        let sources = first.into_iter().chain(options.sources.iter().map(String::as_str)).collect();
        Ok(Self { kind, preset, size: size_of(&options.size)?, sources })
    }

    /// What the figure is of, which must have such a one.
    ///
    /// # Errors
    /// If it has none.
    pub fn source(&self) -> Result<FigureSource, Failure> {
        let run = self.sources.iter().find(|source| **source != HISTORY);
        let source = match (self.sources.contains(&HISTORY), run) {
            (true, Some(run)) => {
                return Err(Failure::usage(format!(
                    "a figure is of a history or of runs: leave out {HISTORY:?} or {run:?}"
                )));
            }
            (true, None) => FigureSource::History,
            (false, _) if FigureKind::of(FigureSource::Sides).any(|kind| kind == self.kind) => {
                FigureSource::Sides
            }
            (false, _) => FigureSource::Runs,
        };
        self.check(source)?;
        Ok(source)
    }

    /// Whether such a figure can be drawn of this.
    pub fn check(&self, source: FigureSource) -> Result<(), Failure> {
        if let Some(preset) = &self.preset {
            preset.check(source).map_err(Failure::usage)?;
        }
        self.kind.check(source).map_err(Failure::usage)
    }

    /// As it was typed in front of what it is of.
    pub fn named(&self, options: &Plot) -> String {
        options.figure.as_ref().map_or_else(|| self.kind.to_string(), |name| format!("--figure {name}"))
    }
}

/// Who names a history or a study's figure first means no kind of that name.
fn told_with_kind(kind: &str, error: FigureError) -> Failure {
    if kind == HISTORY {
        let kinds: Vec<&str> = FigureKind::of(FigureSource::History).map(FigureKind::name).collect();
        return Failure::usage(format!(
            "which figure of the history? Write `iolag plot KIND {HISTORY} …`, with one of these kinds: {}",
            kinds.join(", ")
        ));
    }
    match FigurePreset::named(kind) {
        Ok(_) => {
            Failure::usage(format!("{kind} is a figure of a study: write `iolag plot --figure {kind} …`"))
        }
        Err(_) => Failure::usage(error),
    }
}

/// `160x100mm` or `1200x800px`.
fn size_of(text: &str) -> Result<FigureSize, Failure> {
    let sides =
        |text: &str| text.split_once('x').map(|(width, height)| (width.to_owned(), height.to_owned()));
    let size = if let Some((width, height)) = text.strip_suffix("mm").and_then(sides) {
        width
            .parse()
            .ok()
            .zip(height.parse().ok())
            .map(|(width, height)| FigureSize::Millimetres { width, height })
    } else {
        let pixels = text.strip_suffix("px").and_then(sides);
        pixels.and_then(|(width, height)| {
            width
                .parse()
                .ok()
                .zip(height.parse().ok())
                .map(|(width, height)| FigureSize::Pixels { width, height })
        })
    };
    size.ok_or_else(|| Failure::usage(format!("{text:?} is not a size: expected 160x100mm or 1200x800px")))
}
