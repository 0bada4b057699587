//! In which direction a level moved, and the number that is said of it.
//!
//! What takes less time is so many times as fast, and what is less is a part: nothing is "3.6 times less". So of what is faster the number is the
//! inverse of the ratio. A number whose interval contains no change is not said.

use super::levels::LevelRatio;
use crate::history::series::timed_values::Quantity;
use crate::statistics::knowledge::Knowledge;

/// A factor below this is none that anybody would say; the change lies elsewhere.
const FACTOR_LEAST: f64 = 1.05;

/// In which direction a level of something moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Direction {
    /// What has the level.
    pub quantity: Quantity,
    /// Whether it is greater than before.
    pub is_up: bool,
}

impl Direction {
    /// Whether the number said is the inverse of the ratio.
    pub fn is_inverse(self) -> bool {
        self.quantity.is_duration() && !self.is_up
    }

    /// Whether the number said is a part of what was: the less, the more it moved.
    pub fn is_part(self) -> bool {
        !self.quantity.is_duration() && !self.is_up
    }

    /// Whether people wait longer.
    pub fn is_slower(self) -> bool {
        match self.quantity {
            Quantity::Rate => !self.is_up,
            quantity => quantity.is_duration() && self.is_up,
        }
    }

    /// A ratio of levels as the number that is said.
    pub fn said(self, ratio: f64) -> f64 {
        if self.is_inverse() { 1.0 / ratio } else { ratio }
    }

    /// The number, if it is more than a bound and there is one to say.
    pub fn number(self, ratio: &LevelRatio) -> Option<f64> {
        let value = self.known(ratio).filter(|_| ratio.value_is == Knowledge::Exactly)?;
        self.is_moved(value).then(|| self.said(value))
    }

    /// The ratio or its bound, if its interval tells the direction.
    pub fn known(self, ratio: &LevelRatio) -> Option<f64> {
        ratio.value.filter(|value| *value > 0.0 && ratio.excludes_none() != Some(false))
    }

    /// Whether a ratio is far enough from 1 to be said.
    pub fn is_moved(self, ratio: f64) -> bool {
        (if self.is_up { ratio } else { 1.0 / ratio }) >= FACTOR_LEAST
    }
}
