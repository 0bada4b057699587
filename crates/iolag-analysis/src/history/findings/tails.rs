//! Findings about what takes long in one series: the attempts beyond what people put up with.

use iolag_model::{Nanoseconds, SeriesKey, SeriesKind};

use super::finding::HistoryFinding;
use super::finding::SayingUnit;
use super::finding::saying;
use super::words::amounts::moment_in_words;
use super::words::names::{Names, task};
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::finding::words::share_in_words;
use crate::history::changes::spells::spells_of;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::estimate::Estimate;
use crate::history::series::shares::ThresholdShare;
use crate::history::series::summary::{Regime, WeightedSummary};
use crate::history::series::timed_values::Quantity;
use crate::statistics::interval::ranks_and_shares::ShareInterval;

/// Where attempts take this part of what people put up with longer than that, on average, it is serious: one in a hundred takes twice as
/// long, or one in ten thousand a hundred times.
const SERIOUS_WAIT: f64 = 0.01;

const ADVICE_RULE: &str = "That is how long it takes here, and no trouble of a moment: compare with other targets, and with what it should take.";
const ADVICE_PAST: &str = "Attempts that do not end are no matter of patience: look at what they wait for. Whether the others have to take so long, other targets tell.";

/// Of the latest level at which any attempt took long: what was before a change is told beside it, and not mixed with it. A share that was
/// the same at every level has nothing to do with their changes, and what most attempts take is how the task is, and no tail.
pub(crate) fn tail(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (summary, key) = (&series.summary, &series.summary.series.key);
    let patience = patience(key);
    let regimes = &summary.regimes;
    let latest = regimes.iter().rposition(|regime| share_over(&regime.summary, patience).is_some());
    let unchanged_from = latest.map(|index| unchanged_from(regimes, index, patience));
    let is_of_all = unchanged_from == Some(0) && latest == regimes.len().checked_sub(1);
    let latest = latest.filter(|_| !is_of_all);
    let regime = latest.map(|index| &regimes[index]);
    let told = regime.map_or(&summary.by_attempt, |regime| &regime.summary);
    let share = share_over(told, patience)?;
    let over = share.counted.over;
    let part = over as f64 / share.of as f64;
    let interval = share.counted.interval;
    let is_of_most = |share: &&ThresholdShare| share.counted.interval.low > 0.5;
    let rule = told.shares.iter().rev().find(is_of_most).filter(|_| regime.is_none() && is_of_most(&share));
    let mut sentence = if let Some(rule) = rule {
        rule_in_words(told, rule, &names.series(key))
    } else {
        format!(
            "{}{over} of {} {} ({}; {}) took over {patience}, the longest {}",
            regime.map_or_else(String::new, time_of),
            share.of,
            names.series(key),
            share_in_words(part),
            interval_in_words(interval),
            told.greatest.in_words(Quantity::Duration),
        )
    };
    if let Some(index) = latest {
        sentence += &beside(series, index, unchanged_from.unwrap_or(index), patience);
    }
    let waited = share.beyond_seconds / (share.of as f64 * patience.as_seconds());
    let unended = told.counts.at_least;
    if unended > 0 {
        sentence += &format!("; {unended} had not ended when last looked at");
    }
    let skipped = summary.rates.total.skipped;
    if skipped.count > 0 {
        sentence += &format!(
            "; {} of {} slots {} skipped behind one that had not ended{}",
            skipped.count,
            skipped.of,
            if skipped.count == 1 { "was" } else { "were" },
            if regime.is_none() { "" } else { ", at all levels together" }
        );
    }
    let is_over = latest.is_some_and(|index| index + 1 < regimes.len());
    let severity = match (is_over, rule.is_some()) {
        (true, _) => Severity::Note,
        (false, _) if unended > 0 => Severity::Serious,
        // Of what somebody else measured nobody knows how long it may take.
        (false, true) if summary.series.kind == SeriesKind::ImportedDuration => Severity::Note,
        (false, false) if waited >= SERIOUS_WAIT => Severity::Serious,
        _ => Severity::Warning,
    };
    let (pattern, advice) = if let Some(rule) = rule {
        (
            format!("{{series}} take over {} as a rule ({{range}} of attempts)", rule.counted.threshold_ns),
            if unended > 0 { ADVICE_PAST } else { ADVICE_RULE },
        )
    } else {
        (
            format!("Of the attempts of {{series}}, {{range}} took over {patience}"),
            "The calendar and the heat map of the report show when: compare with jobs, backups and load at these times.",
        )
    };
    let longest = format!("{}, the longest {}", task(key), told.greatest.in_words(Quantity::Duration));
    let part_told = rule.map_or(part, |rule| rule.counted.over as f64 / rule.of as f64);
    let together = saying(key, pattern, part_told, SayingUnit::Share, longest);
    Some(
        HistoryFinding::new(FindingKind::Tail, severity, sentence + ".", advice)
            .of([key])
            .sized(part)
            .saying(regime.is_none().then_some(together)),
    )
}

fn interval_in_words(interval: ShareInterval) -> String {
    if !interval.tells() {
        return "too few independent ones for an interval".to_owned();
    }
    format!("95 %: {} to {}", share_in_words(interval.low), share_in_words(interval.high))
}

/// Whoever compiles or makes 500 files expects to wait; whoever lists a directory does not.
pub(crate) fn patience(key: &SeriesKey) -> Nanoseconds {
    let patient =
        ["compile", "create", "build", "setup"].iter().any(|task| key.task.to_lowercase().contains(task));
    Nanoseconds::from_seconds(if patient { 10 } else { 1 })
}

/// As in `` `copy` on /home takes over 10.0 s as a rule: 1379 of 1379 (at least 99.7 %) did, the median 25.0 s, the longest 61.0 s ``.
fn rule_in_words(told: &WeightedSummary, share: &ThresholdShare, name: &str) -> String {
    let median = told.median().map_or(Estimate::NOTHING, |median| median.value);
    format!(
        "{name} takes over {} as a rule: {} of {} (at least {}) did, the median {}, the longest {}",
        share.counted.threshold_ns,
        share.counted.over,
        share.of,
        share_in_words(share.counted.interval.low),
        median.in_words(Quantity::Duration),
        told.greatest.in_words(Quantity::Duration),
    )
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

/// As in `Since 2008-05-08 19:00 UTC, `.
fn time_of(regime: &Regime) -> String {
    match (regime.since, regime.until) {
        (Some(since), None) => format!("Since {}, ", moment_in_words(since)),
        (None, Some(until)) => format!("Until {}, ", moment_in_words(until)),
        (Some(since), Some(until)) => {
            format!("From {} to {}, ", moment_in_words(since), moment_in_words(until))
        }
        (None, None) => String::new(),
    }
}

/// Attempts after this level of which nobody knows how long they took.
fn undecided_since(regimes: &[Regime], index: usize, patience: Nanoseconds) -> u64 {
    let later = regimes[index + 1..].iter().filter_map(|regime| share_at(&regime.summary, patience));
    later.map(|share| share.counted.undecided).sum()
}

fn unknown(undecided: u64) -> String {
    format!("of {undecided} it is not known")
}

/// What was before this level, or since. Before a level at which nothing changed, nothing is told, and a spell that came back to the level before
/// it is left out: the time after it is compared with the time before it.
fn beside(series: &SeriesAnalysis, index: usize, unchanged_from: usize, patience: Nanoseconds) -> String {
    let regimes = &series.summary.regimes;
    let part = |regime: &Regime| match share_at(&regime.summary, patience) {
        Some(share) if share.counted.over > 0 => share_in_words(share.counted.over as f64 / share.of as f64),
        Some(share) if share.counted.undecided > 0 => unknown(share.counted.undecided),
        _ => "none".to_owned(),
    };
    if index + 1 < regimes.len() {
        return match undecided_since(regimes, index, patience) {
            0 => "; none since".to_owned(),
            undecided => format!("; since, {}", unknown(undecided)),
        };
    }
    let Some(before) = index.checked_sub(1).filter(|_| unchanged_from == index) else { return String::new() };
    let of_spell = before.checked_sub(1).filter(|begin| spells_of(&series.changes).contains(begin));
    match of_spell.map(|ordinary| (&regimes[ordinary], regimes[ordinary].until)) {
        Some((ordinary, Some(until))) => {
            format!("; before, until {}, {}", moment_in_words(until), part(ordinary))
        }
        _ => format!("; before, {}", part(&regimes[before])),
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::Outcome;

    use super::*;
    use crate::history::made_up_series::{columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};
    use iolag_model::Random;

    #[test]
    fn an_interval_of_nearly_all_shares_is_not_printed() {
        let words = |low: f64, high: f64| interval_in_words(ShareInterval { low, high });
        assert_eq!(words(0.011, 0.12), "95 %: 1.1 % to 12 %");
        assert_eq!(words(1e-9, 0.999), "too few independent ones for an interval");
    }

    /// What is told of the tail of an imported `copy` that takes so many seconds in each of 1400 quarter hours.
    fn tail_of(level: impl Fn(i64, f64) -> f64) -> HistoryFinding {
        let mut noise = Random::new(13);
        let columns = columns_of((0..1400).map(|slot| {
            let milliseconds = 1000.0 * level(slot, noise.unit()) * (0.05 * noise.normal()).exp();
            (slot * 900, milliseconds as u64, Outcome::Ok)
        }));
        let series = iolag_model::Series { kind: SeriesKind::ImportedDuration, ..series_of("/home", "copy") };
        let input = HistoryInput { series: vec![(series, columns)], ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        findings.into_iter().find(|one| one.finding.kind == FindingKind::Tail).expect("a tail is told")
    }

    #[test]
    fn slots_that_were_lost_to_a_hang_are_told_beside_it() {
        let columns = columns_of((0..1400).map(|slot| match slot {
            700 => (slot * 900, 21_600_000, Outcome::Hung),
            701..724 => (slot * 900, 0, Outcome::Skipped),
            _ => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
        }));
        let input =
            HistoryInput { series: vec![(series_of("/home", "list"), columns)], ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        let found = findings.into_iter().find(|one| one.finding.kind == FindingKind::Tail);
        let sentence = found.expect("a tail is told").finding.sentence;
        assert!(sentence.starts_with("1 of 1377 `list` on /home "), "{sentence}");
        let end = "; 1 had not ended when last looked at; 23 of 1400 slots were skipped behind one that had not ended.";
        assert!(sentence.ends_with(end), "{sentence}");
    }

    #[test]
    fn what_always_takes_long_is_no_news_since_a_change() {
        let found = tail_of(|slot, _| if slot < 700 { 20.0 } else { 30.0 });
        let sentence = &found.finding.sentence;
        let begin = "`copy` on /home takes over 10.0 s as a rule: 1400 of 1400 (at least 99";
        assert!(sentence.starts_with(begin), "{sentence}");
        assert_eq!(found.finding.severity, Severity::Note);
    }

    #[test]
    fn a_share_that_did_not_change_with_the_level_is_told_of_the_whole() {
        let rare = |uniform: f64, usual: f64| if uniform < 0.05 { 2.0 } else { usual };
        let same = tail_of(|slot, uniform| rare(uniform, if slot < 700 { 0.02 } else { 0.2 }));
        let sentence = &same.finding.sentence;
        assert!(
            sentence.contains(" of 1400 `copy` on /home (") && !sentence.contains("before"),
            "{sentence}"
        );
        let other = tail_of(|slot, uniform| if slot < 700 { 0.02 } else { rare(uniform, 0.2) });
        let sentence = &other.finding.sentence;
        assert!(
            sentence.starts_with("Since 1970-01-08 ") && sentence.contains("; before, none"),
            "{sentence}"
        );
    }

    #[test]
    fn a_share_after_a_bad_spell_is_compared_with_that_before_the_spell() {
        let found = tail_of(|slot, uniform| {
            let is_bad = (600..800).contains(&slot);
            match (is_bad, uniform) {
                (true, ..0.16) | (false, ..0.02) => 2.0,
                (true, _) => 0.2,
                (false, _) => 0.02,
            }
        });
        let sentence = &found.finding.sentence;
        assert!(sentence.starts_with("Since 1970-01-09 12:15 UTC, 8 of 583 "), "{sentence}");
        assert!(sentence.ends_with("; before, until 1970-01-07 04:15 UTC, 2.5 %."), "{sentence}");
    }

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
                findings.iter().find(|one| one.finding.kind == FindingKind::Tail).expect("a tail is told");
            tail.finding.severity
        };
        // Once six hours, ten times ten minutes, twenty times a minute.
        let serious = [(1, 21_600_000), (10, 600_000), (20, 55_000)].map(|(count, each)| of(count, each));
        assert_eq!(serious, [Severity::Serious; 3]);
        let felt = [(20, 1200), (20, 1900)].map(|(count, each)| of(count, each));
        assert_eq!(felt, [Severity::Warning; 2]);
    }
}
