//! Findings about how the attempts of one series ended: what failed, and what did not end in time.

use super::findings::{FindingKind, HistoryFinding, Names, task};
use super::findings_grouped::SayingUnit;
use super::findings_of_series::saying;
use super::series_analysis::SeriesAnalysis;
use super::shares::Rate;
use crate::finding::{Severity, share_in_words};

pub(super) fn failure(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    ended(
        series,
        names,
        &Ending {
            kind: FindingKind::Failure,
            rate: &series.summary.rates.total.error,
            words: "failed",
            advice: "Failed attempts are in no quantile; `iolag export history` gives each with its error.",
        },
    )
}

/// Where the deadline is below what anybody would call long: else the tail has them.
pub(super) fn past_deadline(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    ended(
        series,
        names,
        &Ending {
            kind: FindingKind::Tail,
            rate: &series.summary.rates.total.past_deadline,
            words: "did not end within their deadline",
            advice: "How long they would have taken is not known: give a longer deadline, and look at what they wait for.",
        },
    )
}

/// How attempts ended that did not end well.
struct Ending<'a> {
    kind: FindingKind,
    rate: &'a Rate,
    words: &'static str,
    advice: &'static str,
}

fn ended(series: &SeriesAnalysis, names: &Names, ending: &Ending<'_>) -> Option<HistoryFinding> {
    let (Rate { count, of, .. }, key) = (*ending.rate, &series.summary.series.key);
    let share = ending.rate.share().filter(|_| count > 0)?;
    let words = ending.words;
    let sentence = format!("{count} of {of} {} {words} ({}).", names.series(key), share_in_words(share));
    let severity = if share >= 0.01 { Severity::Serious } else { Severity::Warning };
    let together = saying(
        key,
        format!("Of the attempts of {{series}}, {{range}} {words}"),
        share,
        SayingUnit::Share,
        format!("{}: {count} of {of}", task(key)),
    );
    let finding = HistoryFinding::new(ending.kind, severity, sentence, ending.advice);
    Some(finding.of([key]).sized(share).saying(Some(together)))
}

#[cfg(test)]
mod tests {
    use iolag_model::Outcome;

    use super::*;
    use crate::history::samples::{columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};

    fn findings(milliseconds: u64, is_past: impl Fn(i64) -> bool) -> Vec<HistoryFinding> {
        let columns = columns_of((0..1400).map(|slot| match is_past(slot) {
            true => (slot * 900, milliseconds, Outcome::Timeout),
            false => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
        }));
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
    fn what_never_ends_is_no_matter_of_how_long_it_takes() {
        let [one] = &findings(60_000, |_| true)[..] else { panic!("one finding") };
        assert!(one.finding.sentence.contains("as a rule"), "{}", one.finding.sentence);
        assert!(one.finding.advice.contains("look at what they wait for"), "{}", one.finding.advice);
    }
}
