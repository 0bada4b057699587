//! Text as outlines, so that a figure looks alike everywhere: no font has to be installed, and none is embedded.
//!
//! The font is a part of DejaVu Sans (Latin, Greek, Cyrillic and some symbols); see fonts/LICENSE in this crate.
//! Characters that it lacks are drawn as its replacement character.

use std::collections::BTreeMap;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use crate::figure::error::FigureError;

static FONT: &[u8] = include_bytes!("../../../fonts/DejaVuSans-subset.ttf");

/// Height of a capital letter as share of the em.
pub(crate) const CAPITAL_HEIGHT: f64 = 0.729;

/// A step of an outline, in font units, y upwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    Move(f32, f32),
    Line(f32, f32),
    Quadratic(f32, f32, f32, f32),
    Cubic(f32, f32, f32, f32, f32, f32),
    Close,
}

/// A glyph that stands `x` font units right of the text's begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlacedGlyph {
    pub(crate) glyph: u16,
    pub(crate) x: i32,
}

/// The font.
pub(crate) struct Font {
    face: Face<'static>,
    replacement: GlyphId,
}

impl Font {
    pub(crate) fn load() -> Result<Self, FigureError> {
        let face = Face::parse(FONT, 0).map_err(|error| FigureError::Font { reason: error.to_string() })?;
        let replacement = face.glyph_index('\u{fffd}').unwrap_or(GlyphId(0));
        Ok(Self { face, replacement })
    }

    /// Font units per em.
    pub(crate) fn units_per_em(&self) -> i32 {
        i32::from(self.face.units_per_em())
    }

    /// Width of a text in the unit of `size`.
    pub(crate) fn width(&self, text: &str, size: i32) -> i32 {
        let (_, width) = self.layout(text);
        (f64::from(width) * f64::from(size) / f64::from(self.units_per_em())).ceil() as i32
    }

    /// The glyphs of a text and its width, in font units.
    pub(crate) fn layout(&self, text: &str) -> (Vec<PlacedGlyph>, i32) {
        let mut x = 0;
        let mut glyphs = Vec::new();
        for character in text.chars() {
            let glyph = self.face.glyph_index(character).unwrap_or(self.replacement);
            glyphs.push(PlacedGlyph { glyph: glyph.0, x });
            x += i32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0));
        }
        (glyphs, x)
    }

    /// Begins of the texts that `text` is broken into so that none is wider than `width`.
    pub(crate) fn wrapped(&self, text: &str, size: i32, width: i32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            if let Some(line) = lines.last_mut() {
                let longer = format!("{line} {word}");
                if self.width(&longer, size) <= width {
                    *line = longer;
                    continue;
                }
            }
            lines.push(self.shortened(word, size, width));
        }
        lines
    }

    /// The text, cut with an ellipsis if it is wider than `width`.
    pub(crate) fn shortened(&self, text: &str, size: i32, width: i32) -> String {
        if self.width(text, size) <= width {
            return text.to_owned();
        }
        let mut kept: String = text.to_owned();
        while kept.pop().is_some() {
            let candidate = format!("{}…", kept.trim_end());
            if self.width(&candidate, size) <= width {
                return candidate;
            }
        }
        String::new()
    }

    /// The outline of a glyph; empty for a space.
    pub(crate) fn outline(&self, glyph: u16) -> Vec<Step> {
        let mut steps = Steps(Vec::new());
        // A glyph without an outline draws nothing: `None` says just that.
        let _bounds = self.face.outline_glyph(GlyphId(glyph), &mut steps);
        steps.0
    }

    /// The outlines of all glyphs of these texts, by number.
    pub(crate) fn outlines<'a>(&self, texts: impl Iterator<Item = &'a str>) -> BTreeMap<u16, Vec<Step>> {
        let mut outlines = BTreeMap::new();
        for placed in texts.flat_map(|text| self.layout(text).0) {
            outlines.entry(placed.glyph).or_insert_with(|| self.outline(placed.glyph));
        }
        outlines.retain(|_, steps| !steps.is_empty());
        outlines
    }
}

struct Steps(Vec<Step>);

impl OutlineBuilder for Steps {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.push(Step::Move(x, y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.push(Step::Line(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.push(Step::Quadratic(x1, y1, x, y));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.push(Step::Cubic(x1, y1, x2, y2, x, y));
    }

    fn close(&mut self) {
        self.0.push(Step::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_iolag_writes_has_a_glyph_of_its_own() {
        let font = Font::load().unwrap();
        for character in "0123456789azAZµ≥≤–—…·×%→äéßΩЖ\u{202f}\u{2009}".chars() {
            let glyph = font.face.glyph_index(character);
            assert!(glyph.is_some_and(|glyph| glyph.0 != 0), "{character:?}");
        }
    }

    #[test]
    fn texts_are_broken_and_cut_to_a_width() {
        let font = Font::load().unwrap();
        let lines = font.wrapped("one two three four", 100, font.width("one two", 100));
        assert_eq!(lines, ["one two", "three", "four"]);
        let cut = font.shortened("a very long name", 100, 400);
        assert!(cut.ends_with('…') && font.width(&cut, 100) <= 400, "{cut}");
        assert_eq!(font.shortened("anything", 100, 10), "");
    }

    #[test]
    fn unknown_characters_are_replaced() {
        let font = Font::load().unwrap();
        let (glyphs, width) = font.layout("漢");
        assert_eq!(glyphs[0].glyph, font.replacement.0);
        assert!(width > 0 && !font.outline(glyphs[0].glyph).is_empty());
    }
}
