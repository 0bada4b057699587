//! How much more or less a level is, in words: `takes 3.6 times as long`, `is 3.6 times as fast`, `was 28 % as much`.
//!
//! What takes less time is so many times as fast, and what is less is a part: nothing is "3.6 times less". An interval is that of the
//! number as it is said, so of what is faster it is that of the inverse. A number whose interval contains no change is not said.

use crate::history::changes::levels::LevelRatio;
use crate::history::findings::finding::SayingUnit;
use crate::history::series::timed_values::Quantity;
use crate::statistics::knowledge::Knowledge;

/// A factor below this is none that anybody would say; the change lies elsewhere.
const FACTOR_LEAST: f64 = 1.05;

/// Whether something is told of now or of what is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tense {
    Present,
    Past,
}

/// In which direction a level of something moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Direction {
    pub(crate) quantity: Quantity,
    pub(crate) is_up: bool,
}

impl Direction {
    /// `takes`, `is`, `took`, `was`.
    const fn verb(self, tense: Tense) -> &'static str {
        match (self.quantity, self.is_up, tense) {
            (Quantity::Duration, true, Tense::Present) => "takes",
            (Quantity::Duration, true, Tense::Past) => "took",
            (_, _, Tense::Present) => "is",
            (_, _, Tense::Past) => "was",
        }
    }

    /// The same of several.
    pub(crate) const fn plural_verb(self, tense: Tense) -> &'static str {
        match (self.quantity, self.is_up, tense) {
            (Quantity::Duration, true, Tense::Present) => "take",
            (Quantity::Duration, true, Tense::Past) => "took",
            (_, _, Tense::Present) => "are",
            (_, _, Tense::Past) => "were",
        }
    }

    /// What stands after the number.
    pub(crate) const fn measure(self) -> &'static str {
        match (self.quantity, self.is_up) {
            (Quantity::Duration, true) => "times as long",
            (Quantity::Duration, false) => "times as fast",
            (_, true) => "times as much",
            (_, false) => "as much",
        }
    }

    const fn without_number(self) -> &'static str {
        match (self.quantity, self.is_up) {
            (Quantity::Duration, true) => "longer",
            (Quantity::Duration, false) => "faster",
            (_, true) => "greater",
            (_, false) => "smaller",
        }
    }

    pub(crate) const fn unit(self) -> SayingUnit {
        match (self.quantity, self.is_up) {
            (Quantity::Duration, _) | (_, true) => SayingUnit::Factor,
            (_, false) => SayingUnit::Rest,
        }
    }

    fn is_inverse(self) -> bool {
        self.quantity == Quantity::Duration && !self.is_up
    }

    /// A ratio of levels as the number that is said.
    fn said(self, ratio: f64) -> f64 {
        if self.is_inverse() { 1.0 / ratio } else { ratio }
    }

    /// The number, if it is more than a bound and there is one to say.
    pub(crate) fn number(self, ratio: &LevelRatio) -> Option<f64> {
        let value = self.known(ratio).filter(|_| ratio.value_is == Knowledge::Exactly)?;
        (self.moved(value) >= FACTOR_LEAST).then(|| self.said(value))
    }

    fn known(self, ratio: &LevelRatio) -> Option<f64> {
        ratio.value.filter(|value| *value > 0.0 && ratio.excludes_none() != Some(false))
    }

    fn moved(self, ratio: f64) -> f64 {
        if self.is_up { ratio } else { 1.0 / ratio }
    }

    /// As in `takes 2.0 times as long`, `was at least 110 times as fast`, `is greater at times`.
    pub(crate) fn in_words(self, ratio: &LevelRatio, tense: Tense) -> String {
        let verb = self.verb(tense);
        match self.known(ratio) {
            // The medians agree, so the change lies in other quantiles.
            Some(value) if self.moved(value) < FACTOR_LEAST => {
                format!("{verb} {} at times", self.without_number())
            }
            Some(value) => {
                let number = self.number_in_words(self.said(value), ratio);
                format!("{verb} {}{number} {}", self.bound(ratio), self.measure())
            }
            None => format!("{verb} {}", self.without_number()),
        }
    }

    /// A bound of the ratio as one of the number that is said: of an inverse it is the other one.
    fn bound(self, ratio: &LevelRatio) -> &'static str {
        match (ratio.value_is, self.is_inverse()) {
            (Knowledge::Exactly, _) => "",
            (Knowledge::AtLeast, false) | (Knowledge::AtMost, true) => "at least ",
            (Knowledge::AtMost, false) | (Knowledge::AtLeast, true) => "at most ",
        }
    }

    /// As in ` (95 %: 3.7 to 4.8)`, of the number as it is said; nothing if there is none, or an end is open.
    pub(crate) fn interval_in_words(self, ratio: &LevelRatio) -> String {
        let (Some(_), Some(low), Some(high)) = (self.number(ratio), ratio.low, ratio.high) else {
            return String::new();
        };
        let (one, other) = (self.said(low), self.said(high));
        let [low, high] = [one.min(other), one.max(other)].map(|end| self.end_in_words(end));
        format!(" (95 %: {low} to {high})")
    }

    /// The number has as many decimals as it takes to lie in its own interval.
    fn number_in_words(self, said: f64, ratio: &LevelRatio) -> String {
        let rounded = (said * 10.0).round() / 10.0;
        let is_outside = |(low, high): (f64, f64)| {
            let (one, other) = (self.said(low), self.said(high));
            rounded < one.min(other) || rounded > one.max(other)
        };
        if ratio.low.zip(ratio.high).is_some_and(is_outside) {
            return self.end_in_words(said);
        }
        self.unit().in_words(said)
    }

    /// An end near 1 has two decimals: that it is no change must be seen.
    fn end_in_words(self, end: f64) -> String {
        match self.unit() {
            SayingUnit::Factor if end < 1.95 => format!("{end:.2}"),
            unit => unit.in_words(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(quantity: Quantity, is_up: bool, [value, low, high]: [f64; 3]) -> String {
        let ratio =
            LevelRatio { value: Some(value), value_is: Knowledge::Exactly, low: Some(low), high: Some(high) };
        let direction = Direction { quantity, is_up };
        direction.in_words(&ratio, Tense::Present) + &direction.interval_in_words(&ratio)
    }

    #[test]
    fn an_interval_is_that_of_the_number_as_it_is_said() {
        let faster = words(Quantity::Duration, false, [0.28, 0.25, 0.9]);
        assert_eq!(faster, "is 3.6 times as fast (95 %: 1.11 to 4.0)");
        let longer = words(Quantity::Duration, true, [3.6, 3.2, 4.0]);
        assert_eq!(longer, "takes 3.6 times as long (95 %: 3.2 to 4.0)");
        let less = words(Quantity::Value, false, [0.28, 0.25, 0.31]);
        assert_eq!(less, "is 28 % as much (95 %: 25 % to 31 %)");
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
        assert_eq!(faster.in_words(&ratio, Tense::Past), "was at least 100 times as fast");
        assert_eq!(faster.number(&ratio), None);
    }
}
