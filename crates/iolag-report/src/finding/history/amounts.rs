//! Moments, levels and probabilities in sentences.

use iolag_analysis::history::{Knowledge, Quantity, amount_in_words};
use iolag_model::WallTime;

/// What is said with what may be no more than the hours of the day.
pub(super) const fn doubt_of(is_record_short: bool) -> &'static str {
    if is_record_short { "; the record is too short to tell that from the time of day" } else { "" }
}

/// A moment as in `2008-05-08 14:15 UTC`, with seconds if they are not zero.
pub(super) fn moment_in_words(at: WallTime) -> String {
    format!("{} UTC", at.in_words())
}

/// A p value as in `p = 0.03`, `p < 0.001`.
pub(super) fn p_in_words(p: f64) -> String {
    match p {
        p if p < 0.001 => "p < 0.001".to_owned(),
        p if p < 0.0995 => format!("p = {p:.3}"),
        p => format!("p = {p:.2}"),
    }
}

/// As in `1.25 ms`, `at least 60.0 s`.
pub(super) fn level_in_words(level: f64, knowledge: Knowledge, quantity: Quantity) -> String {
    let amount = amount_in_words(level, quantity);
    match knowledge {
        Knowledge::Exactly => amount,
        Knowledge::AtLeast => format!("at least {amount}"),
        Knowledge::AtMost => format!("below {amount}"),
    }
}

/// `was` or `were`.
pub(super) const fn was_or_were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_for_people() {
        assert_eq!(moment_in_words(WallTime::from_seconds(1_210_256_100)), "2008-05-08 14:15 UTC");
        assert_eq!([0.0001, 0.0312, 0.4].map(p_in_words), ["p < 0.001", "p = 0.031", "p = 0.40"]);
        let [least, most] = [Knowledge::AtLeast, Knowledge::AtMost]
            .map(|knowledge| level_in_words(60.0, knowledge, Quantity::Duration));
        assert_eq!([least, most], ["at least 60.0 s", "below 60.0 s"]);
    }
}
