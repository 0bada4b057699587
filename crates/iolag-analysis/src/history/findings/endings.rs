//! Findings about how the attempts of one series ended: what failed, and what did not end in time.

use super::finding::HistoryFinding;
use super::tails::{patience, share_at};
use crate::finding::Severity;
use crate::finding::found::Found;
use crate::history::calendar::local_time::Day;
use crate::history::calendar::rates::GroupRates;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::shares::{OutcomeRates, Rate, ThresholdShare};

/// Attempts failed.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedFound {
    /// How many, and on which days.
    pub ended: EndedSo,
    /// What the last one said of it.
    pub said: Option<String>,
}

/// Attempts did not end within their deadline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PastDeadlineFound {
    /// How many, and on which days.
    pub ended: EndedSo,
    /// Of these, those that did not end at all as far as was seen.
    pub unended: u64,
}

/// How many attempts ended in some way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndedSo {
    /// So many.
    pub count: u64,
    /// Of so many.
    pub of: u64,
    /// The share.
    pub share: f64,
    /// On which days, where it was not on every one.
    pub days: Option<SomeDays>,
}

/// Days on which something was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SomeDays {
    /// How many.
    pub count: usize,
    /// Of how many.
    pub of: usize,
    /// The first.
    pub first: Day,
    /// The last.
    pub last: Day,
}

pub(crate) fn failure(series: &SeriesAnalysis) -> Option<HistoryFinding> {
    let ended = ended(series, |rates| rates.error)?;
    let said = series.last_failure.as_ref().map(|last| last.said.clone());
    Some(finding(series, Found::Failed(FailedFound { ended, said }), ended.share))
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
    Some(finding(series, Found::PastDeadline(PastDeadlineFound { ended, unended }), ended.share))
}

fn finding(series: &SeriesAnalysis, found: Found, share: f64) -> HistoryFinding {
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
