//! Findings about how the attempts of one series ended: what failed, and what did not end in time.

use super::findings::{FindingKind, HistoryFinding, Names, task};
use super::findings_grouped::SayingUnit;
use super::findings_of_series::saying;
use super::series_analysis::SeriesAnalysis;
use crate::finding::{Severity, share_in_words};

pub(super) fn failure(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (error, key) = (series.summary.rates.total.error, &series.summary.series.key);
    let share = error.share().filter(|_| error.count > 0)?;
    let sentence =
        format!("{} of {} {} failed ({}).", error.count, error.of, names.series(key), share_in_words(share));
    let advice = "Failed attempts are in no quantile; `iolag export history` gives each with its error.";
    let severity = if share >= 0.01 { Severity::Serious } else { Severity::Warning };
    let together = saying(
        key,
        "Of the attempts of {series}, {range} failed".to_owned(),
        share,
        SayingUnit::Share,
        format!("{}: {} of {}", task(key), error.count, error.of),
    );
    Some(
        HistoryFinding::new(FindingKind::Failure, severity, sentence, advice)
            .of([key])
            .sized(share)
            .saying(Some(together)),
    )
}

/// Where the deadline is below what anybody would call long: else the tail has them.
pub(super) fn past_deadline(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (past, key) = (series.summary.rates.total.past_deadline, &series.summary.series.key);
    let share = past.share().filter(|_| past.count > 0)?;
    let sentence = format!(
        "{} of {} {} did not end within their deadline ({}).",
        past.count,
        past.of,
        names.series(key),
        share_in_words(share)
    );
    let advice = "How long they would have taken is not known: give a longer deadline, and look at what they wait for.";
    let severity = if share >= 0.01 { Severity::Serious } else { Severity::Warning };
    let together = saying(
        key,
        "Of the attempts of {series}, {range} did not end within their deadline".to_owned(),
        share,
        SayingUnit::Share,
        format!("{}: {} of {}", task(key), past.count, past.of),
    );
    Some(
        HistoryFinding::new(FindingKind::Tail, severity, sentence, advice)
            .of([key])
            .sized(share)
            .saying(Some(together)),
    )
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
