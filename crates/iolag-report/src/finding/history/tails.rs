//! What takes long, in words: the attempts beyond what people put up with.

use std::borrow::Cow;

use iolag_analysis::history::{BeforeLevel, LongAsARule, Quantity, SlowBefore, SlowFound, ToldLevel};
use iolag_analysis::{ShareInterval, share_in_words};
use iolag_model::WallTime;

use super::amounts::{moment_in_words, was_or_were};
use crate::finding::in_words::{About, InWords};

impl InWords for SlowFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let name = about.list();
        let mut sentence = match &self.rule {
            Some(rule) => rule_in_words(self, rule, &name),
            None => format!(
                "{}{} of {} {name} ({}; {}) took over {}, {}",
                time_in_words(self.level),
                self.over.counted.over,
                self.over.of,
                share_in_words(self.share()),
                interval_in_words(self.over.counted.interval),
                self.patience_ns,
                longest_in_words(self),
            ),
        };
        sentence += &beside_in_words(self.level);
        if self.unended > 0 {
            sentence += &format!("; {} had not ended when last looked at", self.unended);
        }
        let skipped = self.skipped;
        if skipped.count > 0 {
            sentence += &format!(
                "; {} of {} slots {} skipped behind one that had not ended{}",
                skipped.count,
                skipped.of,
                was_or_were(skipped.count),
                if self.level == ToldLevel::Whole { "" } else { ", at all levels together" }
            );
        }
        sentence + "."
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.rule {
            None => {
                "The calendar and the heat map of the report show when: compare with jobs, backups and load at these times."
            }
            Some(_) if self.unended > 0 => {
                "Attempts that do not end are no matter of patience: look at what they wait for. Whether the others have to take so long, other targets tell."
            }
            Some(_) => {
                "That is how long it takes here, and no trouble of a moment: compare with other targets, and with what it should take."
            }
        }
        .into()
    }
}

/// What several series say together: as in `Of the attempts of {series}, 0.2 % to 3.1 % took over 1.00 s`.
pub(super) fn slow_together(found: &SlowFound, series: &str, range: &str) -> String {
    match found.rule {
        Some(rule) => {
            let limit = rule.over.counted.threshold_ns;
            format!("{series} take over {limit} as a rule ({range} of attempts)")
        }
        None => format!("Of the attempts of {series}, {range} took over {}", found.patience_ns),
    }
}

/// As in `the longest 61.0 s`.
pub(super) fn longest_in_words(found: &SlowFound) -> String {
    format!("the longest {}", found.longest.in_words(Quantity::Duration))
}

fn interval_in_words(interval: ShareInterval) -> String {
    if !interval.tells() {
        return "too few independent ones for an interval".to_owned();
    }
    format!("95 %: {} to {}", share_in_words(interval.low), share_in_words(interval.high))
}

/// As in `` `copy` on /home takes over 10.0 s as a rule: 1379 of 1379 (at least 99.7 %) did, the median 25.0 s, the longest 61.0 s ``.
fn rule_in_words(found: &SlowFound, LongAsARule { over, median }: &LongAsARule, name: &str) -> String {
    format!(
        "{name} takes over {} as a rule: {} of {} (at least {}) did, the median {}, {}",
        over.counted.threshold_ns,
        over.counted.over,
        over.of,
        share_in_words(over.counted.interval.low),
        median.in_words(Quantity::Duration),
        longest_in_words(found),
    )
}

/// As in `Since 2008-05-08 19:00 UTC, `.
fn time_in_words(level: ToldLevel) -> String {
    let ends: [Option<WallTime>; 2] = match level {
        ToldLevel::Whole => [None, None],
        ToldLevel::Latest { since, .. } => [since, None],
        ToldLevel::Over { since, until, .. } => [since, until],
    };
    match ends.map(|end| end.map(moment_in_words)) {
        [Some(since), None] => format!("Since {since}, "),
        [None, Some(until)] => format!("Until {until}, "),
        [Some(since), Some(until)] => format!("From {since} to {until}, "),
        [None, None] => String::new(),
    }
}

/// What was before this level, or since.
fn beside_in_words(level: ToldLevel) -> String {
    match level {
        ToldLevel::Over { undecided_since: 0, .. } => "; none since".to_owned(),
        ToldLevel::Over { undecided_since, .. } => format!("; since, {}", unknown(undecided_since)),
        ToldLevel::Latest { before: Some(BeforeLevel { until, slow }), .. } => {
            let until = until.map_or_else(String::new, |until| format!("until {}, ", moment_in_words(until)));
            let slow = match slow {
                SlowBefore::None => "none".to_owned(),
                SlowBefore::Unknown(undecided) => unknown(undecided),
                SlowBefore::Share(share) => share_in_words(share),
            };
            format!("; before, {until}{slow}")
        }
        ToldLevel::Whole | ToldLevel::Latest { before: None, .. } => String::new(),
    }
}

fn unknown(undecided: u64) -> String {
    format!("of {undecided} it is not known")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_nearly_all_shares_is_not_printed() {
        let words = |low: f64, high: f64| interval_in_words(ShareInterval { low, high });
        assert_eq!(words(0.011, 0.12), "95 %: 1.1 % to 12 %");
        assert_eq!(words(1e-9, 0.999), "too few independent ones for an interval");
    }
}
