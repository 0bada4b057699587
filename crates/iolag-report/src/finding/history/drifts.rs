//! Slow changes in words.

use std::borrow::Cow;

use iolag_analysis::history::{Direction, DriftFound, Quantity, RecordEnds, RecordTooShort};
use iolag_analysis::share_in_words;

use super::amounts::{level_in_words, p_in_words};
use super::factors::{Tense, interval_in_words, much_in_words};
use crate::finding::in_words::{About, Evidence, EvidenceAmount, InWords};

impl InWords for DriftFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let Self { quantity, drift, .. } = self;
        format!(
            "{} {}: the median went from {} in its first {} to {} in its last.",
            about.list(),
            drift_in_words(self),
            level_in_words(drift.median_first, drift.median_first_is, *quantity),
            part_in_words(drift.ends),
            level_in_words(drift.median_last, drift.median_last_is, *quantity),
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        let is_of_time = self.quantity.is_duration() || self.quantity == Quantity::Rate;
        let direction = Direction { quantity: self.quantity, is_up: self.ratio > 1.0 };
        match direction.is_slower() {
            true => {
                "Nothing happened on one day: look for what grows, as files in a directory, users or the fill of a file system."
            }
            false if is_of_time => {
                "Nothing happened on one day, and nothing is amiss: what became less, as files in a directory or users, may tell what it takes long for."
            }
            false => "Nothing happened on one day.",
        }
        .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        let p = self.drift.p;
        vec![Evidence::new("probability without a drift", p_in_words(p), EvidenceAmount::Probability(p))]
    }
}

const fn part_in_words(ends: RecordEnds) -> &'static str {
    match ends {
        RecordEnds::Tenths => "tenth",
        RecordEnds::Thirds => "third",
    }
}

/// As in `drifts up by 30 % over the record`, `takes 4.6 times as long in the last tenth of the record as in its first (95 %: 4.1 to 5.2)`.
fn drift_in_words(found: &DriftFound) -> String {
    let DriftFound { quantity, drift, ratio } = *found;
    let is_up = ratio > 1.0;
    if (if is_up { ratio } else { 1.0 / ratio }) < 2.0 {
        let direction = if is_up { "up" } else { "down" };
        return format!("drifts {direction} by {} over the record", share_in_words((ratio - 1.0).abs()));
    }
    let part = part_in_words(drift.ends);
    let direction = Direction { quantity, is_up };
    let much = much_in_words(direction, &drift.ratio, Tense::Present);
    let interval = interval_in_words(direction, &drift.ratio);
    format!("{much} in the last {part} of the record as in its first{interval}")
}

impl InWords for RecordTooShort {
    fn sentence(&self, about: &About<'_>) -> String {
        let clock = match self {
            Self::TimeOfDay => "time of the day",
            Self::TimeOfWeek => "day of the week",
        };
        let series = about.list();
        format!("The level of {series} moved, but the record is too short to tell that from the {clock}.")
    }

    fn advice(&self) -> Cow<'static, str> {
        match self {
            Self::TimeOfDay => {
                "Watch for at least four days; what comes back by the clock is a rhythm and no change."
            }
            Self::TimeOfWeek => {
                "Watch for some weeks; what comes back by the clock is a rhythm and no change."
            }
        }
        .into()
    }
}
