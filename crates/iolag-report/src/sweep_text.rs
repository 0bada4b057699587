//! Sweeps over clients or working-set sizes on a terminal.

use iolag_analysis::{Stability, SweepPoint};
use iolag_model::{Nanoseconds, format_count, format_duration};

use crate::numbers::rate;
use crate::table::{Cell, Colour, ColumnGroup, Side, Table, columns};

/// What the values of a sweep are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepQuantity {
    /// Operations per second.
    Rate,
    /// Durations in ns.
    Duration,
}

impl SweepQuantity {
    const fn name(self) -> &'static str {
        match self {
            Self::Rate => "operations/s",
            Self::Duration => "median",
        }
    }

    fn format(self, value: f64) -> String {
        match self {
            Self::Rate => rate(value),
            Self::Duration => format_duration(Nanoseconds(value.max(0.0) as u64)),
        }
    }
}

/// A line per point, and from which one on results stop changing. `swept` names what was varied: `objects`,
/// `clients`.
pub fn sweep_text(
    swept: &'static str,
    quantity: SweepQuantity,
    points: &[SweepPoint],
    stability: &Stability,
    colour: Colour,
) -> String {
    let right = Side::Right;
    let names = columns([(swept, right), (quantity.name(), right), ("from", right), ("to", right)]);
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
    for point in points {
        let values = [point.value, point.low, point.high].map(|value| Cell::new(quantity.format(value)));
        table.row(std::iter::once(Cell::new(format_count(point.size))).chain(values).collect());
    }
    let sentence = match stability {
        Stability::From { size } => {
            format!("From {} {swept} on results stop changing.", format_count(*size))
        }
        Stability::NotYet { largest } => {
            let more = format_count(largest.saturating_mul(10));
            format!("Results still change at {} {swept}: go on to {more}.", format_count(*largest))
        }
        Stability::TooFew { advice } => {
            format!("Too few points to say from where on results stop changing. {advice}")
        }
    };
    format!("{}{sentence}\n", table.render(colour))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_analysis::stable_from;

    #[test]
    fn the_size_from_which_on_results_stay_is_named() {
        let point = |size, low: f64, high: f64| SweepPoint { size, value: (low + high) / 2.0, low, high };
        let points = [point(1_000, 9e3, 11e3), point(10_000, 5e6, 6e6), point(100_000, 5.5e6, 7e6)];
        let text =
            sweep_text("objects", SweepQuantity::Duration, &points, &stable_from(&points), Colour::Never);
        insta::assert_snapshot!(text, @r"
        objects   median     from       to
          1 000  10.0 µs  9.00 µs  11.0 µs
         10 000  5.50 ms  5.00 ms  6.00 ms
        100 000  6.25 ms  5.50 ms  7.00 ms
        From 10 000 objects on results stop changing.
        ");
        let few = stable_from(&points[..1]);
        let text = sweep_text("objects", SweepQuantity::Rate, &points[..1], &few, Colour::Never);
        assert!(text.ends_with("Measure 2 more size(s), for example 10000 and up.\n"), "{text}");
    }
}
