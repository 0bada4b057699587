//! Findings about what takes long in one series: the attempts beyond what people put up with.

use iolag_model::{Nanoseconds, SeriesKey, SeriesKind};

use crate::finding::Severity;
use crate::finding::of_histories::{HistoryFinding, HistoryFound, SlowFound};
use crate::finding::slow_level::{BeforeLevel, LongAsARule, SlowBefore, ToldLevel};
use crate::history::changes::spells::spells_of;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::estimate::Estimate;
use crate::history::series::shares::ThresholdShare;
use crate::history::series::summary::{Regime, WeightedSummary};

/// Where attempts take this part of what people put up with longer than that, on average, it is serious: one in a hundred takes twice as
/// long, or one in ten thousand a hundred times.
const SERIOUS_WAIT: f64 = 0.01;

impl SlowFound {
    /// The share of those that took long.
    pub fn share(&self) -> f64 {
        share_of(&self.over)
    }

    /// Whether both say the same, but for numbers.
    pub(crate) fn says_as(&self, other: &Self) -> bool {
        let limit = |one: &Self| one.rule.map(|rule| rule.over.counted.threshold_ns);
        limit(self) == limit(other) && (limit(self).is_some() || self.patience_ns == other.patience_ns)
    }
}

pub(crate) fn tail(series: &SeriesAnalysis) -> Option<HistoryFinding> {
    let (summary, key) = (&series.summary, &series.summary.series.key);
    let patience_ns = patience(key);
    let regimes = &summary.regimes;
    let latest = regimes.iter().rposition(|regime| share_over(&regime.summary, patience_ns).is_some());
    let unchanged_from = latest.map_or(0, |index| unchanged_from(regimes, index, patience_ns));
    let is_of_all = unchanged_from == 0 && latest.is_none_or(|index| index + 1 == regimes.len());
    let latest = latest.filter(|_| !is_of_all);
    let told = latest.map_or(&summary.by_attempt, |index| &regimes[index].summary);
    let over = *share_over(told, patience_ns)?;
    let found = SlowFound {
        patience_ns,
        over,
        longest: told.greatest,
        level: latest
            .map_or(ToldLevel::Whole, |index| told_level(series, index, unchanged_from, patience_ns)),
        rule: latest.is_none().then(|| long_as_a_rule(told, &over)).flatten(),
        unended: told.counts.at_least,
        skipped: summary.rates.total.skipped,
    };
    let severity = severity(&found, summary.series.kind);
    let part = found.rule.map_or(found.share(), |rule| share_of(&rule.over));
    let finding = HistoryFinding::new(HistoryFound::Slow(found), severity).of([key]).sized(found.share());
    Some(if latest.is_none() { finding.saying(key, part) } else { finding })
}

fn severity(found: &SlowFound, kind: SeriesKind) -> Severity {
    let waited = found.over.beyond_seconds / (found.over.of as f64 * found.patience_ns.as_seconds());
    match (found.level, found.rule) {
        (ToldLevel::Over { .. }, _) => Severity::Note,
        _ if found.unended > 0 => Severity::Serious,
        // Of what somebody else measured nobody knows how long it may take.
        (_, Some(_)) if kind == SeriesKind::ImportedDuration => Severity::Note,
        (_, None) if waited >= SERIOUS_WAIT => Severity::Serious,
        _ => Severity::Warning,
    }
}

/// Whoever compiles or makes 500 files expects to wait; whoever lists a directory does not.
pub(crate) fn patience(key: &SeriesKey) -> Nanoseconds {
    let patient =
        ["compile", "create", "build", "setup"].iter().any(|task| key.task.to_lowercase().contains(task));
    Nanoseconds::from_seconds(if patient { 10 } else { 1 })
}

fn long_as_a_rule(told: &WeightedSummary, over: &ThresholdShare) -> Option<LongAsARule> {
    let is_of_most = |share: &&ThresholdShare| share.counted.interval.low > 0.5;
    let highest = told.shares.iter().rev().find(is_of_most).filter(|_| is_of_most(&over))?;
    let median = told.median().map_or(Estimate::NOTHING, |median| median.value);
    Some(LongAsARule { over: *highest, median })
}

fn share_of(over: &ThresholdShare) -> f64 {
    over.counted.over as f64 / over.of as f64
}

/// The first of the levels up to `index` since which the share has stayed the same, as far as intervals tell.
fn unchanged_from(regimes: &[Regime], index: usize, threshold: Nanoseconds) -> usize {
    let share = |index: usize| share_at(&regimes[index].summary, threshold);
    let is_alike = |one: &ThresholdShare, other: &ThresholdShare| {
        let holds = |one: &ThresholdShare, other: &ThresholdShare| {
            let part = other.counted.over as f64 / other.of.max(1) as f64;
            one.counted.interval.low <= part && part <= one.counted.interval.high
        };
        holds(one, other) && holds(other, one)
    };
    let is_changed = |before: &usize| match (share(*before), share(index)) {
        (Some(before), Some(here)) => !is_alike(before, here),
        _ => true,
    };
    (0..index).rev().find(is_changed).map_or(0, |before| before + 1)
}

pub(crate) fn share_at(summary: &WeightedSummary, threshold: Nanoseconds) -> Option<&ThresholdShare> {
    summary.shares.iter().find(|share| share.counted.threshold_ns == threshold)
}

/// The share over a threshold, if any attempt was.
fn share_over(summary: &WeightedSummary, threshold: Nanoseconds) -> Option<&ThresholdShare> {
    share_at(summary, threshold).filter(|share| share.counted.over > 0)
}

/// This level, with what was before it, or since.
fn told_level(
    series: &SeriesAnalysis,
    index: usize,
    unchanged_from: usize,
    patience: Nanoseconds,
) -> ToldLevel {
    let regimes = &series.summary.regimes;
    let Regime { since, until, .. } = regimes[index];
    if index + 1 == regimes.len() {
        return ToldLevel::Latest { since, before: before(series, index, unchanged_from, patience) };
    }
    let later = regimes[index + 1..].iter().filter_map(|regime| share_at(&regime.summary, patience));
    ToldLevel::Over { since, until, undecided_since: later.map(|share| share.counted.undecided).sum() }
}

/// What was before this level. Before a level at which nothing changed, nothing is told, and a spell that came back to the level before
/// it is left out: the time after it is compared with the time before it.
fn before(
    series: &SeriesAnalysis,
    index: usize,
    unchanged_from: usize,
    patience: Nanoseconds,
) -> Option<BeforeLevel> {
    let regimes = &series.summary.regimes;
    let slow = |regime: &Regime| match share_at(&regime.summary, patience) {
        Some(share) if share.counted.over > 0 => SlowBefore::Share(share_of(share)),
        Some(share) if share.counted.undecided > 0 => SlowBefore::Unknown(share.counted.undecided),
        _ => SlowBefore::None,
    };
    let before = index.checked_sub(1).filter(|_| unchanged_from == index)?;
    let of_spell = before.checked_sub(1).filter(|begin| spells_of(&series.changes).contains(begin));
    let ordinary = of_spell.map(|ordinary| &regimes[ordinary]).filter(|regime| regime.until.is_some());
    Some(match ordinary {
        Some(regime) => BeforeLevel { until: regime.until, slow: slow(regime) },
        None => BeforeLevel { until: None, slow: slow(&regimes[before]) },
    })
}

#[cfg(test)]
mod tests {
    use iolag_model::Outcome;

    use super::*;
    use crate::finding::of_histories::HistoryFindingKind;
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};
    use iolag_fixtures::made_up_series::{columns_of, series_of};

    /// Longer than the second that somebody waits for a list.
    #[test]
    fn the_severity_of_a_tail_goes_by_how_long_was_waited() {
        let of = |count: i64, milliseconds: u64| {
            let columns = columns_of((0..2000).map(|slot| {
                let is_long = slot % (2000 / count) == 7;
                (slot * 900, if is_long { milliseconds } else { 20 + slot as u64 % 7 }, Outcome::Ok)
            }));
            let input = HistoryInput {
                series: vec![(series_of("/home", "list"), columns)],
                ..HistoryInput::default()
            };
            let findings = analyse_history(&input, &HistoryOptions::default()).findings;
            let tail =
                findings.iter().find(|one| one.kind() == HistoryFindingKind::Tail).expect("a tail is told");
            tail.severity
        };
        // Once six hours, ten times ten minutes, twenty times a minute.
        let serious = [(1, 21_600_000), (10, 600_000), (20, 55_000)].map(|(count, each)| of(count, each));
        assert_eq!(serious, [Severity::Serious; 3]);
        let felt = [(20, 1200), (20, 1900)].map(|(count, each)| of(count, each));
        assert_eq!(felt, [Severity::Warning; 2]);
    }
}
