//! Moments, levels, probabilities and numbers of things in words.

use iolag_model::WallTime;

use crate::history::series::estimate::amount_in_words;
use crate::history::series::timed_values::Quantity;
use crate::statistics::knowledge::Knowledge;

/// What is said with what may be no more than the hours of the day.
pub(crate) const RECORD_TOO_SHORT: &str = "; the record is too short to tell that from the time of day";

/// The least that people feel (Miller 1968).
pub(crate) const FELT_SECONDS: f64 = 0.1;

/// A moment as in `2008-05-08 14:15 UTC`, with seconds if they are not zero.
pub(crate) fn moment_in_words(moment: WallTime) -> String {
    format!("{} UTC", moment.in_words())
}

/// A p value as in `p = 0.03`, `p < 0.001`.
pub(crate) fn p_in_words(p: f64) -> String {
    match p {
        p if p < 0.001 => "p < 0.001".to_owned(),
        p if p < 0.0995 => format!("p = {p:.3}"),
        p => format!("p = {p:.2}"),
    }
}

pub(crate) fn level_in_words(level: f64, knowledge: Knowledge, quantity: Quantity) -> String {
    let amount = amount_in_words(level, quantity);
    match knowledge {
        Knowledge::Exactly => amount,
        Knowledge::AtLeast => format!("at least {amount}"),
        Knowledge::AtMost => format!("below {amount}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_for_people() {
        assert_eq!(moment_in_words(WallTime::from_seconds(1_210_256_100)), "2008-05-08 14:15 UTC");
        assert_eq!([0.0001, 0.0312, 0.4].map(p_in_words), ["p < 0.001", "p = 0.031", "p = 0.40"]);
    }
}
