//! How much more or less a level is, in words: `takes 3.6 times as long`, `is 3.6 times as fast`, `was 28 % as much`.
//!
//! An interval is that of the number as it is said, so of what is faster it is that of the inverse.

use iolag_analysis::history::{Direction, Knowledge, LevelRatio, Quantity};
use iolag_analysis::{factor_in_words, share_in_words};

/// Whether something is told of now or of what is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tense {
    Present,
    Past,
}

/// `takes`, `is`, `took`, `was`.
const fn verb(direction: Direction, tense: Tense) -> &'static str {
    match (direction.quantity.is_duration(), direction.is_up, tense) {
        (true, true, Tense::Present) => "takes",
        (true, true, Tense::Past) => "took",
        (_, _, Tense::Present) => "is",
        (_, _, Tense::Past) => "was",
    }
}

/// The same of several.
pub(super) const fn plural_verb(direction: Direction, tense: Tense) -> &'static str {
    match (direction.quantity.is_duration(), direction.is_up, tense) {
        (true, true, Tense::Present) => "take",
        (true, true, Tense::Past) => "took",
        (_, _, Tense::Present) => "are",
        (_, _, Tense::Past) => "were",
    }
}

/// What stands after the number.
pub(super) const fn measure(direction: Direction) -> &'static str {
    match (direction.quantity, direction.is_up) {
        (Quantity::Duration | Quantity::RunMedian, true) => "times as long",
        (Quantity::Duration | Quantity::RunMedian, false) | (Quantity::Rate, true) => "times as fast",
        (Quantity::Rate, false) => "as fast",
        (_, true) => "times as much",
        (_, false) => "as much",
    }
}

const fn without_number(direction: Direction) -> &'static str {
    match (direction.quantity, direction.is_up) {
        (Quantity::Duration | Quantity::RunMedian, true) => "longer",
        (Quantity::Duration | Quantity::RunMedian, false) | (Quantity::Rate, true) => "faster",
        (Quantity::Rate, false) => "slower",
        (_, true) => "greater",
        (_, false) => "smaller",
    }
}

/// A number as it is said: as in `3.6`, or as a part, `28 %`.
pub(super) fn number_in_words(direction: Direction, said: f64) -> String {
    if direction.is_part() { share_in_words(said) } else { factor_in_words(said) }
}

/// As in `takes 2.0 times as long`, `was at least 110 times as fast`, `is greater at times`.
pub(super) fn much_in_words(direction: Direction, ratio: &LevelRatio, tense: Tense) -> String {
    let verb = verb(direction, tense);
    match direction.known(ratio) {
        // The medians agree, so the change lies in other quantiles, unless one of them is a bound.
        Some(value) if !direction.is_moved(value) => match ratio.value_is {
            Knowledge::Exactly => format!("{verb} {} at times", without_number(direction)),
            Knowledge::AtLeast | Knowledge::AtMost => format!("{verb} {}", without_number(direction)),
        },
        Some(value) => {
            let number = number_in_its_interval(direction, direction.said(value), ratio);
            format!("{verb} {}{number} {}", bound(direction, ratio), measure(direction))
        }
        None => format!("{verb} {}", without_number(direction)),
    }
}

/// A bound of the ratio as one of the number that is said: of an inverse it is the other one.
fn bound(direction: Direction, ratio: &LevelRatio) -> &'static str {
    match (ratio.value_is, direction.is_inverse()) {
        (Knowledge::Exactly, _) => "",
        (Knowledge::AtLeast, false) | (Knowledge::AtMost, true) => "at least ",
        (Knowledge::AtMost, false) | (Knowledge::AtLeast, true) => "at most ",
    }
}

/// As in ` (95 %: 3.7 to 4.8)`, of the number as it is said; nothing if there is none, or an end is open.
pub(super) fn interval_in_words(direction: Direction, ratio: &LevelRatio) -> String {
    let (Some(_), Some(low), Some(high)) = (direction.number(ratio), ratio.low, ratio.high) else {
        return String::new();
    };
    let (one, other) = (direction.said(low), direction.said(high));
    let [low, high] = [one.min(other), one.max(other)].map(|end| end_in_words(direction, end));
    format!(" (95 %: {low} to {high})")
}

/// The number has as many decimals as it takes to lie in its own interval.
fn number_in_its_interval(direction: Direction, said: f64, ratio: &LevelRatio) -> String {
    let rounded = (said * 10.0).round() / 10.0;
    let is_outside = |(low, high): (f64, f64)| {
        let (one, other) = (direction.said(low), direction.said(high));
        rounded < one.min(other) || rounded > one.max(other)
    };
    match ratio.low.zip(ratio.high).is_some_and(is_outside) {
        true => end_in_words(direction, said),
        false => number_in_words(direction, said),
    }
}

/// An end near 1 has two decimals: that it is no change must be seen.
fn end_in_words(direction: Direction, end: f64) -> String {
    match direction.is_part() {
        false if end < 1.95 => format!("{end:.2}"),
        _ => number_in_words(direction, end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(quantity: Quantity, is_up: bool, [value, low, high]: [f64; 3]) -> String {
        let ratio =
            LevelRatio { value: Some(value), value_is: Knowledge::Exactly, low: Some(low), high: Some(high) };
        let direction = Direction { quantity, is_up };
        much_in_words(direction, &ratio, Tense::Present) + &interval_in_words(direction, &ratio)
    }

    #[test]
    fn an_interval_is_that_of_the_number_as_it_is_said() {
        let faster = words(Quantity::Duration, false, [0.28, 0.25, 0.9]);
        assert_eq!(faster, "is 3.6 times as fast (95 %: 1.11 to 4.0)");
        let longer = words(Quantity::Duration, true, [3.6, 3.2, 4.0]);
        assert_eq!(longer, "takes 3.6 times as long (95 %: 3.2 to 4.0)");
        let less = words(Quantity::Value, false, [0.28, 0.25, 0.31]);
        assert_eq!(less, "is 28 % as much (95 %: 25 % to 31 %)");
        let slower = words(Quantity::Rate, false, [0.7, 0.64, 0.78]);
        assert_eq!(slower, "is 70 % as fast (95 %: 64 % to 78 %)");
        let median = words(Quantity::RunMedian, true, [1.43, 1.28, 1.56]);
        assert_eq!(median, "takes 1.4 times as long (95 %: 1.28 to 1.56)");
    }

    #[test]
    fn a_number_lies_in_its_own_interval() {
        let narrow = words(Quantity::Duration, true, [1.15, 1.14, 1.16]);
        assert_eq!(narrow, "takes 1.15 times as long (95 %: 1.14 to 1.16)");
        let wide = words(Quantity::Duration, true, [1.16, 1.06, 1.25]);
        assert_eq!(wide, "takes 1.2 times as long (95 %: 1.06 to 1.25)");
        let faster = words(Quantity::Duration, false, [1.0 / 1.15, 1.0 / 1.16, 1.0 / 1.14]);
        assert_eq!(faster, "is 1.15 times as fast (95 %: 1.14 to 1.16)");
    }

    #[test]
    fn a_factor_that_may_be_none_is_not_said() {
        assert_eq!(words(Quantity::Duration, true, [1.3, 0.9, 1.8]), "takes longer");
        assert_eq!(words(Quantity::Duration, false, [0.8, 0.5, 1.2]), "is faster");
        let ratio = LevelRatio { value: Some(0.01), value_is: Knowledge::AtMost, low: None, high: None };
        let faster = Direction { quantity: Quantity::Duration, is_up: false };
        assert_eq!(much_in_words(faster, &ratio, Tense::Past), "was at least 100 times as fast");
        assert_eq!(faster.number(&ratio), None);
    }
}
