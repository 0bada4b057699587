//! Lines of several targets against the same numbers: each has its colour, its mark and its dash, and stands a little beside the others, so that none hides another.

use crate::figure::axis::Axis;
use crate::figure::drawings::palette::PALETTE;
use crate::figure::paper::sheet::{Key, Panel};
use crate::figure::scene::shapes::{Dash, MarkShape, Paint, Point};

/// How far lines stand from each other, as a share of the axis.
const APART: f64 = 0.012;
/// Marks that are no cross, which means something of its own; the first line has dots.
const MARKS: [MarkShape; 3] = [MarkShape::Square, MarkShape::Triangle, MarkShape::Diamond];

/// So many lines against numbers up to the most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside {
    pub(crate) count: usize,
    pub(crate) most: u32,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) paint: Paint,
    pub(crate) dash: Dash,
    mark: Option<MarkShape>,
    /// So many lines to the right of the middle of all.
    from_middle: f64,
    /// How far they stand apart.
    apart: f64,
}

impl Beside {
    /// That of a line by its place among them.
    pub(crate) fn look(self, index: usize) -> Look {
        let from_middle = index as f64 - (self.count.saturating_sub(1)) as f64 / 2.0;
        Look {
            paint: PALETTE[index % PALETTE.len()],
            dash: Dash::ALL[index % Dash::ALL.len()],
            mark: (index % (MARKS.len() + 1)).checked_sub(1).map(|place| MARKS[place]),
            from_middle,
            apart: APART * f64::from(self.most),
        }
    }

    /// The axis of the numbers, with room for what stands at its end.
    pub(crate) fn axis(self, labels: usize) -> Axis {
        let room = 1.0 + APART * (self.count + 2) as f64;
        let most = f64::from(self.most);
        Axis::amount(most, labels.min(self.most as usize)).up_to(most * room)
    }
}

impl Look {
    /// Where it has a number.
    pub(crate) fn at(self, number: u32) -> f64 {
        f64::from(number) + self.shifted(self.apart)
    }

    /// How far it stands to the right of where it belongs, where lines stand so far apart.
    pub(crate) fn shifted(self, apart: f64) -> f64 {
        self.from_middle * apart
    }

    /// What stands before its name.
    pub(crate) fn key(self) -> Key {
        self.mark.map_or(Key::Dot(self.paint), |mark| Key::Mark(mark, self.paint))
    }

    /// Draws its marks.
    pub(crate) fn draw(self, panel: &Panel<'_>, points: Vec<Point>) {
        match self.mark {
            None => panel.dots(points, panel.line_width() * 5, self.paint),
            Some(mark) => panel.marks(points, mark, self.paint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_stands_where_another_does_nor_looks_like_it() {
        let looks = [0, 1, 2].map(|index| Beside { count: 3, most: 8 }.look(index));
        let at = looks.map(|look| look.at(4));
        assert!(at[0] < at[1] && at[1] < at[2] && (at[1] - 4.0).abs() < 1e-9, "{at:?}");
        assert!(at[2] - at[0] < 0.5, "{at:?}: it is still that of 4");
        assert!(looks[0].key() != looks[1].key() && looks[1].key() != looks[2].key());
        assert_eq!(Beside { count: 1, most: 8 }.look(0).at(8), 8.0);
    }
}
