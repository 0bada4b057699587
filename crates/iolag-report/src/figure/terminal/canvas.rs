//! A grid of braille dots, and texts that fit into so many columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::text::table::Colour;

const BRAILLE_BLANK: u32 = 0x2800;
/// Bits of the dots of a character: left and right column, from the top.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// Colours of lines in the order of their numbers: blue, yellow, cyan, magenta, green, red, light blue, light magenta.
const CODES: [&str; 8] = ["34", "33", "36", "35", "32", "31", "94", "95"];
/// Lengths of strokes and gaps in dots.
const PATTERNS: [&[usize]; 8] =
    [&[1], &[4, 3], &[1, 2], &[6, 2, 1, 2], &[9, 4], &[2, 5], &[4, 2, 1, 2, 1, 2], &[1, 1, 3, 2]];
/// Forms of points, as offsets in dots.
const FORMS: [&[(i32, i32)]; 8] = [
    &[(0, 0)],
    &[(0, 0), (1, 0)],
    &[(0, 0), (0, 1)],
    &[(0, 0), (1, 1)],
    &[(0, 1), (1, 0)],
    &[(0, 0), (1, 0), (0, 1)],
    &[(0, 0), (0, 1), (0, 2)],
    &[(0, 0), (1, 0), (0, 1), (1, 1)],
];

/// How many lines or kinds of points can be told apart without colour.
pub(crate) const PATTERN_COUNT: usize = PATTERNS.len();

/// The canvas.
pub(crate) struct BrailleCanvas {
    columns: usize,
    lines: usize,
    dots: Vec<u8>,
    /// Number of the line that was drawn last in a character.
    owners: Vec<Option<usize>>,
}

impl BrailleCanvas {
    pub(crate) fn new(columns: usize, lines: usize) -> Self {
        Self { columns, lines, dots: vec![0; columns * lines], owners: vec![None; columns * lines] }
    }

    /// Dots from left to right.
    pub(crate) const fn width(&self) -> usize {
        self.columns * 2
    }

    /// Dots from top to bottom.
    pub(crate) const fn height(&self) -> usize {
        self.lines * 4
    }

    /// The dot at a place between 0 and 1 from the left and from the bottom.
    pub(crate) fn dot_at(&self, right: f64, up: f64) -> (i32, i32) {
        let x = (right * (self.width() as f64 - 1.0)).round() as i32;
        let y = ((1.0 - up) * (self.height() as f64 - 1.0)).round() as i32;
        (x, y)
    }

    fn set(&mut self, (x, y): (i32, i32), owner: Option<usize>) {
        if x < 0 || y < 0 || x as usize >= self.width() || y as usize >= self.height() {
            return;
        }
        let (x, y) = (x as usize, y as usize);
        let index = y / 4 * self.columns + x / 2;
        self.dots[index] |= BITS[y % 4][x % 2];
        self.owners[index] = owner;
    }

    /// Draws a point in the form of line `number`.
    pub(crate) fn point(&mut self, (x, y): (i32, i32), number: usize, colour: Colour) {
        let form = if colour == Colour::Always { FORMS[0] } else { FORMS[number % FORMS.len()] };
        for (right, down) in form {
            self.set((x + right, y + down), Some(number));
        }
    }

    /// Draws a line through these dots, in the pattern of line `number`.
    pub(crate) fn line(&mut self, dots: &[(i32, i32)], number: usize, colour: Colour) {
        let mut drawn = 0;
        for pair in dots.windows(2) {
            let ((from_x, from_y), (to_x, to_y)) = (pair[0], pair[1]);
            let steps = (to_x - from_x).abs().max((to_y - from_y).abs());
            for step in 0..steps {
                if colour == Colour::Always || is_stroke(number, drawn) {
                    let at = |from: i32, to: i32| from + (to - from) * step / steps;
                    self.set((at(from_x, to_x), at(from_y, to_y)), Some(number));
                }
                drawn += 1;
            }
        }
    }

    /// Draws every third dot of a horizontal line.
    pub(crate) fn level(&mut self, y: i32) {
        (0..self.width() as i32).step_by(4).for_each(|x| self.set_faint((x, y)));
    }

    /// Draws every third dot of an upright line.
    pub(crate) fn upright(&mut self, x: i32) {
        (0..self.height() as i32).step_by(3).for_each(|y| self.set_faint((x, y)));
    }

    fn set_faint(&mut self, dot: (i32, i32)) {
        self.set(dot, None);
    }

    /// The lines of characters, without blanks at their ends.
    pub(crate) fn rows(&self, colour: Colour) -> Vec<String> {
        (0..self.lines).map(|line| self.row(line, colour)).collect()
    }

    fn row(&self, line: usize, colour: Colour) -> String {
        let cells = line * self.columns..(line + 1) * self.columns;
        let last =
            cells.clone().rev().find(|index| self.dots[*index] != 0).map_or(cells.start, |index| index + 1);
        let mut text = String::new();
        let mut current: Option<usize> = None;
        for index in cells.start..last {
            if colour == Colour::Always && self.owners[index] != current {
                current = self.owners[index];
                text.push_str(&escape_code(current));
            }
            text.push(braille(self.dots[index]));
        }
        if current.is_some() {
            text.push_str("\x1b[0m");
        }
        text
    }
}

fn is_stroke(number: usize, place: usize) -> bool {
    let pattern = PATTERNS[number % PATTERNS.len()];
    let mut left = place % pattern.iter().sum::<usize>();
    for (index, length) in pattern.iter().enumerate() {
        if left < *length {
            return index % 2 == 0;
        }
        left -= length;
    }
    true
}

/// A blank cell is the blank braille character, which is as wide as the others in every font.
fn braille(dots: u8) -> char {
    char::from_u32(BRAILLE_BLANK + u32::from(dots)).unwrap_or(' ')
}

fn escape_code(number: Option<usize>) -> String {
    number.map_or_else(|| "\x1b[0m".to_owned(), |number| format!("\x1b[{}m", CODES[number % CODES.len()]))
}

/// A sample of line `number`, 5 columns.
pub(crate) fn line_sample(number: usize, colour: Colour) -> String {
    let mut canvas = BrailleCanvas::new(5, 1);
    canvas.line(&[(0, 2), (10, 2)], number, colour);
    canvas.row(0, colour)
}

/// A sample of a point of line `number`, 1 column.
pub(crate) fn point_sample(number: usize, colour: Colour) -> String {
    let mut canvas = BrailleCanvas::new(1, 1);
    canvas.point((0, 1), number, colour);
    canvas.row(0, colour)
}

/// The text without control characters, cut with an ellipsis to so many columns.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if clean.width() <= columns {
        return clean;
    }
    let mut kept = String::new();
    let mut width = 0;
    for character in clean.chars() {
        width += character.width().unwrap_or(0);
        if width + 1 > columns {
            break;
        }
        kept.push(character);
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_become_braille() {
        let mut canvas = BrailleCanvas::new(2, 1);
        canvas.line(&[(0, 0), (4, 0)], 0, Colour::Never);
        assert_eq!(canvas.rows(Colour::Never), ["⠉⠉"]);
        assert_eq!(canvas.rows(Colour::Always), ["\x1b[34m⠉⠉\x1b[0m"]);
        assert_eq!(canvas.dot_at(1.0, 0.0), (3, 3));
    }

    #[test]
    fn patterns_differ() {
        let samples: std::collections::BTreeSet<String> =
            (0..PATTERN_COUNT).map(|number| line_sample(number, Colour::Never)).collect();
        assert_eq!(samples.len(), PATTERN_COUNT);
        let points: std::collections::BTreeSet<String> =
            (0..PATTERN_COUNT).map(|number| point_sample(number, Colour::Never)).collect();
        assert_eq!(points.len(), PATTERN_COUNT);
    }

    #[test]
    fn what_does_not_fit_is_cut_and_cannot_command_the_terminal() {
        assert_eq!(fitted("abcdef", 4), "abc…");
        assert_eq!(fitted("\x1b[2J", 9), "\u{fffd}[2J");
        assert_eq!(fitted("漢字漢字", 5), "漢字…");
    }
}
