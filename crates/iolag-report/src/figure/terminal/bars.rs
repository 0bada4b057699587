//! Amounts over time in a single line.

use super::canvas::BrailleCanvas;
use crate::text::table::Colour;

/// Amounts side by side, two in each of so many columns.
pub(crate) struct Bars<'a> {
    pub(crate) amounts: &'a [u64],
    pub(crate) columns: usize,
}

impl Bars<'_> {
    /// Bars of up to four dots, the highest for the greatest sum; whatever is more than nothing has a dot. Where there are more amounts than dots,
    /// neighbours are added.
    pub(crate) fn row(&self) -> String {
        let mut canvas = BrailleCanvas::new(self.columns, 1);
        let dots = canvas.width().min(self.amounts.len()).max(1);
        let place = |dot: usize| dot * self.amounts.len() / dots;
        let sums: Vec<u64> =
            (0..dots).map(|dot| self.amounts[place(dot)..place(dot + 1)].iter().sum()).collect();
        let most = sums.iter().copied().max().unwrap_or(0).max(1);
        let height = canvas.height();
        for (x, sum) in sums.iter().enumerate() {
            let high = (*sum as f64 / most as f64 * height as f64).ceil() as usize;
            for y in height - high.min(height)..height {
                canvas.point((x as i32, y as i32), 0, Colour::Never);
            }
        }
        canvas.rows(Colour::Never).concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(amounts: &[u64], columns: usize) -> String {
        Bars { amounts, columns }.row()
    }

    #[test]
    fn the_greatest_is_four_dots_high_and_something_is_one() {
        assert_eq!(row(&[4, 1, 0, 2], 2), "\u{28c7}\u{28a0}");
        assert_eq!(row(&[1000, 1], 1), "\u{28c7}");
        assert_eq!(row(&[], 2), "");
        assert_eq!(row(&[0, 0], 2), "");
    }

    #[test]
    fn where_there_are_more_than_dots_neighbours_are_added() {
        assert_eq!(row(&[1, 1, 1, 1, 2, 2, 0, 0], 1), row(&[4, 4], 1));
        assert_eq!(row(&[2, 2, 1, 1], 1), row(&[4, 2], 1));
    }
}
