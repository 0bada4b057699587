//! Findings about how the attempts of one series ended: what failed, and what did not end in time.

use super::finding::HistoryFinding;
use super::finding::SayingUnit;
use super::finding::saying;
use super::tails::{patience, share_at};
use super::words::names::{Names, task};
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::finding::words::share_in_words;
use crate::history::calendar::local_time::Day;
use crate::history::calendar::rates::GroupRates;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::shares::{OutcomeRates, Rate, ThresholdShare};

pub(crate) fn failure(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let said = series.last_failure.as_ref();
    ended(
        series,
        names,
        &Ending {
            said: said.map_or_else(String::new, |last| format!("; the last with {}", last.said)),
            kind: FindingKind::Failure,
            rate: |rates| rates.error,
            words: "failed",
            advice: "Failed attempts are in no quantile; `iolag export history` gives each with its error.",
        },
    )
}

/// Attempts that ended late or not at all, by a deadline below what anybody would call long: beyond that the tail has them.
pub(crate) fn past_deadline(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (summary, key) = (&series.summary, &series.summary.series.key);
    let rates = &summary.rates.total;
    let is_told = |share: &ThresholdShare| {
        share.counted.undecided == 0 && rates.past_deadline.count <= share.counted.over
    };
    if share_at(&summary.by_attempt, patience(key)).is_some_and(is_told) {
        return None;
    }
    ended(
        series,
        names,
        &Ending {
            said: String::new(),
            kind: FindingKind::Tail,
            rate: |rates| rates.past_deadline,
            words: "did not end within their deadline",
            advice: match rates.timeout.count + rates.hung.count {
                0 => {
                    "They ended late: look at what they wait for; if they may take so long, give a longer deadline."
                }
                _ => {
                    "How long they would have taken is not known: give a longer deadline, and look at what they wait for."
                }
            },
        },
    )
}

/// How attempts ended that did not end well.
struct Ending {
    /// What the last one said of it, behind a semicolon.
    said: String,
    kind: FindingKind,
    rate: fn(&OutcomeRates) -> Rate,
    words: &'static str,
    advice: &'static str,
}

fn ended(series: &SeriesAnalysis, names: &Names, ending: &Ending) -> Option<HistoryFinding> {
    let (rates, key) = (&series.summary.rates, &series.summary.series.key);
    let rate = (ending.rate)(&rates.total);
    let share = rate.share().filter(|_| rate.count > 0)?;
    let (Rate { count, of, .. }, words, said) = (rate, ending.words, &ending.said);
    let sentence = format!(
        "{count} of {of} {} {words} ({}){}{said}.",
        names.series(key),
        share_in_words(share),
        days_in_words(&rates.by_day, ending.rate)
    );
    let severity = if share >= 0.01 { Severity::Serious } else { Severity::Warning };
    let together = saying(
        key,
        format!("Of the attempts of {{series}}, {{range}} {words}"),
        share,
        SayingUnit::Share,
        format!("{}: {count} of {of}{said}", task(key)),
    );
    let finding = HistoryFinding::new(ending.kind, severity, sentence, ending.advice);
    Some(finding.of([key]).sized(share).saying(Some(together)))
}

/// On which days, where it was not on every one: as in `, on 8 of 28 days, 2008-05-21 to 2008-05-28`.
fn days_in_words(by_day: &[GroupRates<Day>], rate: fn(&OutcomeRates) -> Rate) -> String {
    let days = || by_day.iter().filter(|day| rate(&day.rates).count > 0);
    match (days().count(), days().next(), days().next_back()) {
        (1, Some(day), _) if by_day.len() > 1 => format!(", all on {}", day.group),
        (count, Some(first), Some(last)) if count < by_day.len() => {
            format!(", on {count} of {} days, {} to {}", by_day.len(), first.group, last.group)
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::{Evidence, HistoryColumns, Outcome};

    use super::*;
    use crate::history::made_up_series::{columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};

    fn findings(milliseconds: u64, is_past: impl Fn(i64) -> bool) -> Vec<HistoryFinding> {
        let columns = columns_of((0..1400).map(|slot| match is_past(slot) {
            true => (slot * 900, milliseconds, Outcome::Timeout),
            false => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
        }));
        findings_of(columns)
    }

    #[test]
    fn what_the_last_one_that_failed_said_is_told_with_the_failures() {
        let columns = columns_of((0..1400).map(|slot| match slot {
            700 | 900 => (slot * 900, 20, Outcome::Error),
            _ => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
        }));
        let series = series_of("/home", "status");
        let said = |slot: usize, said: &str| Evidence {
            host: series.key.host.clone(),
            probe: columns.probe[slot],
            at: columns.start[slot],
            text: Evidence::text_of_failure(Some(2), said),
        };
        let failures = vec![said(700, "earlier"), said(900, "oops: no such project")];
        let input = HistoryInput { series: vec![(series, columns)], failures, ..HistoryInput::default() };
        let analysis = analyse_history(&input, &HistoryOptions::default());
        let sentences = || analysis.findings.iter().map(|one| one.finding.sentence.as_str());
        let failed: Vec<&str> = sentences().filter(|sentence| sentence.contains(" failed (")).collect();
        assert_eq!(failed.len(), 1, "{:?}", sentences().collect::<Vec<_>>());
        assert!(failed[0].ends_with("; the last with exit status 2: oops: no such project."), "{failed:?}");
    }

    fn findings_of(columns: HistoryColumns) -> Vec<HistoryFinding> {
        let input =
            HistoryInput { series: vec![(series_of("/home", "list"), columns)], ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        findings.into_iter().filter(|one| one.finding.kind == FindingKind::Tail).collect()
    }

    #[test]
    fn what_passed_a_short_deadline_is_told_once() {
        let [one] = &findings(1000, |slot| slot % 20 == 3)[..] else { panic!("one finding") };
        assert_eq!(
            one.finding.sentence,
            "70 of 1400 `list` on /home did not end within their deadline (5.0 %)."
        );
        assert_eq!(one.finding.severity, Severity::Serious);
        let [long] = &findings(60_000, |slot| slot % 20 == 3)[..] else { panic!("one finding") };
        assert!(long.finding.sentence.contains("took over 1.00 s"), "{}", long.finding.sentence);
    }

    #[test]
    fn what_ended_late_is_known() {
        let columns = columns_of((0..1400).map(|slot| match slot % 20 {
            3 => (slot * 900, 800, Outcome::Late),
            _ => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
        }));
        let [one] = &findings_of(columns)[..] else { panic!("one finding") };
        assert!(one.finding.sentence.starts_with("70 of 1400 "), "{}", one.finding.sentence);
        assert!(one.finding.advice.starts_with("They ended late"), "{}", one.finding.advice);
    }

    #[test]
    fn time_outs_since_a_change_are_no_none() {
        let columns = columns_of((0..2800).map(|slot| match (slot, slot % 5) {
            (..1400, _) if slot % 130 == 7 => (slot * 900, 2000, Outcome::Ok),
            (..1400, rest) => (slot * 900, 20 + rest as u64, Outcome::Ok),
            (_, 2) => (slot * 900, 900, Outcome::Timeout),
            (_, rest) => (slot * 900, 200 + 10 * rest as u64, Outcome::Ok),
        }));
        let [tail, past] = &findings_of(columns)[..] else { panic!("two findings") };
        let (tail, past) = (&tail.finding, &past.finding);
        let of_both = if tail.sentence.starts_with("Until") { [tail, past] } else { [past, tail] };
        assert!(of_both[0].sentence.ends_with("; since, of 280 it is not known."), "{}", of_both[0].sentence);
        assert!(of_both[1].sentence.starts_with("280 of 2800 "), "{}", of_both[1].sentence);
        assert_eq!(of_both[1].severity, Severity::Serious);
    }

    #[test]
    fn a_deadline_that_was_shortened_is_told_beside_many_slow_attempts() {
        let columns = columns_of((0..2800).map(|slot| match (slot, slot % 5) {
            (..1400, 0..2) => (slot * 900, 2000, Outcome::Ok),
            (..1400, rest) => (slot * 900, 20 + rest as u64, Outcome::Ok),
            (_, 2) => (slot * 900, 900, Outcome::Timeout),
            (_, rest) => (slot * 900, 200 + 10 * rest as u64, Outcome::Ok),
        }));
        let found = findings_of(columns);
        let mut past = found.iter().filter(|one| one.finding.sentence.starts_with("280 of 2800 "));
        assert!(past.next().is_some_and(|one| one.finding.severity == Severity::Serious), "{found:#?}");
    }

    #[test]
    fn what_happened_on_a_few_days_is_told_with_them() {
        let told =
            |is_past: fn(i64) -> bool| findings(1000, is_past).pop().expect("a finding").finding.sentence;
        let few = told(|slot| (800..896).contains(&slot) && slot % 3 == 0);
        assert!(few.ends_with("(2.3 %), on 2 of 15 days, 1970-01-09 to 1970-01-10."), "{few}");
        assert!(told(|slot| slot == 800).ends_with(", all on 1970-01-09."));
    }

    #[test]
    fn what_never_ends_is_no_matter_of_how_long_it_takes() {
        let [one] = &findings(60_000, |_| true)[..] else { panic!("one finding") };
        assert!(one.finding.sentence.contains("as a rule"), "{}", one.finding.sentence);
        assert!(one.finding.advice.contains("look at what they wait for"), "{}", one.finding.advice);
    }
}
