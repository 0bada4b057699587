//! Findings about one series by itself: periods, modes, names, resolution, too few samples.

use iolag_model::{SeriesKey, SeriesKind};

use super::endings::{failure, past_deadline};
use super::tails::tail;
use crate::finding::Severity;
use crate::finding::of_histories::{
    BelowResolutionFound, HistoryFinding, HistoryFound, ModesFound, NameServiceFound, PeriodFound,
    TooFewFound,
};
use crate::history::analysis::HistoryAnalysis;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::estimate::Estimate;

pub(crate) fn findings_of_series(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let mut findings = Vec::new();
    for series in analysis.series.iter().filter(|series| series.summary.series.key.part.is_empty()) {
        findings.extend(tail(series));
        findings.extend(past_deadline(series));
        findings.extend(failure(series));
        findings.extend(period(series));
        findings.extend(modes(series));
        findings.extend(resolution(series));
        findings.extend(name_service(analysis, series));
    }
    findings.extend(too_few(analysis));
    findings
}

fn period(series: &SeriesAnalysis) -> Option<HistoryFinding> {
    let (found, key) = (series.periodicity.as_ref()?, &series.summary.series.key);
    let swing = found.profile.swing;
    // Significant in a year of samples may be far too small to be felt.
    if swing.is_some_and(|swing| swing < 1.1) {
        return None;
    }
    let found = PeriodFound { quantity: series.summary.quantity, periodicity: found.clone() };
    let finding = HistoryFinding::new(HistoryFound::Period(found), Severity::Note).of([key]);
    Some(match swing {
        Some(swing) => finding.sized(swing).saying(key, swing),
        None => finding.sized(f64::INFINITY),
    })
}

fn modes(series: &SeriesAnalysis) -> Option<HistoryFinding> {
    let (modes, key) = (series.modes()?, &series.summary.series.key);
    let slowest = modes.modes.last().and_then(|mode| mode.median.bound())?;
    // Modes below what anyone feels are of interest to nobody but the cache's author.
    if slowest < 0.01 {
        return None;
    }
    let distance = modes.ratios.iter().copied().fold(1.0_f64, f64::max);
    let found = HistoryFound::Modes(ModesFound { modes: modes.clone(), distance });
    Some(HistoryFinding::new(found, Severity::Note).of([key]).sized(distance).saying(key, distance))
}

fn resolution(series: &SeriesAnalysis) -> Option<HistoryFinding> {
    let (counts, key) = (series.summary.by_attempt.counts, &series.summary.series.key);
    let share = counts.below as f64 / counts.total().max(1) as f64;
    if share < 0.05 {
        return None;
    }
    let resolution_ns = series.summary.series.resolution_ns;
    let found = HistoryFound::BelowResolution(BelowResolutionFound { share, resolution_ns });
    Some(HistoryFinding::new(found, Severity::Note).of([key]).sized(share).saying(key, share))
}

fn name_service(analysis: &HistoryAnalysis, series: &SeriesAnalysis) -> Option<HistoryFinding> {
    let key = &series.summary.series.key;
    let numeric = SeriesKey { part: "ls -n".to_owned(), ..key.clone() };
    let without = analysis.series.iter().find(|other| other.summary.series.key == numeric)?;
    let median = |series: &SeriesAnalysis| match series.summary.latest().median()?.value {
        Estimate::Exactly(amount) => Some(amount),
        _ => None,
    };
    let (with_names, without_names) = (median(series)?, median(without)?);
    if with_names < 2.0 * without_names || with_names - without_names < 0.01 {
        return None;
    }
    let severity = if with_names >= 0.1 { Severity::Warning } else { Severity::Note };
    let found = HistoryFound::NameService(NameServiceFound { with_names, without_names });
    Some(HistoryFinding::new(found, severity).of([key, &numeric]).sized(with_names / without_names))
}

fn too_few(analysis: &HistoryAnalysis) -> Option<HistoryFinding> {
    let measured: Vec<&SeriesAnalysis> = analysis
        .series
        .iter()
        .filter(|series| {
            let description = &series.summary.series;
            description.kind.is_duration()
                && description.kind != SeriesKind::Control
                && description.key.part.is_empty()
                // What never took any time that is known has other findings.
                && series.summary.by_attempt.counts.total() > 0
        })
        .collect();
    let without = |series: &SeriesAnalysis| {
        let tails = || series.summary.by_attempt.quantiles.iter().filter(|quantile| quantile.q > 0.5);
        let value = tails().find(|quantile| quantile.q == 0.99)?.value;
        match value {
            Estimate::TooFew { .. } => Some((0.99, value)),
            // It may be those beyond a lower quantile that lie in so few.
            Estimate::FewStretches { .. } => Some((tails().find(|one| one.value == value)?.q, value)),
            _ => None,
        }
    };
    let few: Vec<(&SeriesAnalysis, (f64, Estimate))> =
        measured.iter().filter_map(|series| Some((*series, without(series)?))).collect();
    if few.is_empty() {
        return None;
    }
    let found = TooFewFound {
        without: few.iter().map(|one| one.1).collect(),
        of: measured.len(),
        drifting: few.iter().filter(|one| one.0.drift.is_some()).count(),
    };
    let keys = few.iter().map(|one| &one.0.summary.series.key);
    Some(HistoryFinding::new(HistoryFound::TooFew(found), Severity::Note).of(keys))
}
