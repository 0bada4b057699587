//! Findings about how the attempts of one series ended: what failed, and what did not end in time.

use super::tails::{patience, share_at};
use crate::finding::Severity;
use crate::finding::of_histories::{
    EndedSo, FailedFound, HistoryFinding, HistoryFound, PastDeadlineFound, SomeDays,
};
use crate::history::calendar::local_time::Day;
use crate::history::calendar::outcome_shares::GroupRates;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::shares::{OutcomeRates, Rate, ThresholdShare};

pub(crate) fn failure(series: &SeriesAnalysis) -> Option<HistoryFinding> {
    let ended = ended(series, |rates| rates.error)?;
    let said = series.last_failure.as_ref().map(|last| last.said.clone());
    Some(finding(series, HistoryFound::Failed(FailedFound { ended, said }), ended.share))
}

/// Attempts that ended late or not at all, by a deadline below what anybody would call long: beyond that the tail has them.
pub(crate) fn past_deadline(series: &SeriesAnalysis) -> Option<HistoryFinding> {
    let (summary, key) = (&series.summary, &series.summary.series.key);
    let rates = &summary.rates.total;
    let is_told = |share: &ThresholdShare| {
        share.counted.undecided == 0 && rates.past_deadline.count <= share.counted.over
    };
    if share_at(&summary.by_attempt, patience(key)).is_some_and(is_told) {
        return None;
    }
    let ended = ended(series, |rates| rates.past_deadline)?;
    let unended = rates.timeout.count + rates.hung.count;
    Some(finding(series, HistoryFound::PastDeadline(PastDeadlineFound { ended, unended }), ended.share))
}

fn finding(series: &SeriesAnalysis, found: HistoryFound, share: f64) -> HistoryFinding {
    let key = &series.summary.series.key;
    let severity = if share >= 0.01 { Severity::Serious } else { Severity::Warning };
    HistoryFinding::new(found, severity).of([key]).sized(share).saying(key, share)
}

fn ended(series: &SeriesAnalysis, rate: fn(&OutcomeRates) -> Rate) -> Option<EndedSo> {
    let rates = &series.summary.rates;
    let all = rate(&rates.total);
    let share = all.share().filter(|_| all.count > 0)?;
    Some(EndedSo { count: all.count, of: all.of, share, days: some_days(&rates.by_day, rate) })
}

fn some_days(by_day: &[GroupRates<Day>], rate: fn(&OutcomeRates) -> Rate) -> Option<SomeDays> {
    let days = || by_day.iter().filter(|day| rate(&day.rates).count > 0);
    let (first, last) = (days().next()?.group, days().next_back()?.group);
    let (count, of) = (days().count(), by_day.len());
    (count < of).then_some(SomeDays { count, of, first, last })
}
