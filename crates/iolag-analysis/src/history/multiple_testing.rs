//! All tests of one result, corrected together before anything is said.
//!
//! Words that stand by themselves (slower and faster of places and events) are a family with all changes of level: at most one result in twenty has a
//! wrong one (Holm). Changes keep their own rule and only take part in the count. Lists are families by themselves: pairs with their
//! lags, periods, kinds of events, places that are bad together (Benjamini and Hochberg).
//!
//! Invariants: every p that is printed has its adjusted one beside it, also where nothing is significant; periods that are not are dropped, since
//! only a period that there is has a profile.

use super::analysis::HistoryAnalysis;
use super::comparison::Comparison;
use crate::statistics::multiple_testing::{SIGNIFICANCE, benjamini_hochberg, holm};

/// Writes adjusted p beside each p, and takes back what does not stand beside them.
pub(crate) fn settle(analysis: &mut HistoryAnalysis) {
    settle_verdicts(analysis);
    settle_pairs(analysis);
    settle_periods(analysis);
    let p: Vec<f64> = analysis.associations.iter().map(|one| one.p).collect();
    for (one, p_adjusted) in analysis.associations.iter_mut().zip(benjamini_hochberg(&p)) {
        one.p_adjusted = p_adjusted;
    }
    let p: Vec<f64> = analysis.bad_overlaps.iter().map(|one| one.p).collect();
    for (one, p_adjusted) in analysis.bad_overlaps.iter_mut().zip(benjamini_hochberg(&p)) {
        one.p_adjusted = p_adjusted;
    }
}

fn settle_verdicts(analysis: &mut HistoryAnalysis) {
    let changes = analysis.series.iter().flat_map(|one| &one.changes).map(|change| change.p);
    let mut p: Vec<f64> = changes.collect();
    let counted = p.len();
    let mut judged = comparisons_of(analysis);
    p.extend(judged.iter().filter_map(|comparison| Some(comparison.greater.as_ref()?.p)));
    let adjusted = holm(&p);
    for (comparison, p_adjusted) in judged.iter_mut().zip(&adjusted[counted..]) {
        comparison.judge(*p_adjusted);
    }
}

/// What has a word: places, and times before and after events. Too few values count as well: whether they were enough is judged by the same
/// numbers, so that those that remain are no choice made before.
fn comparisons_of(analysis: &mut HistoryAnalysis) -> Vec<&mut Comparison> {
    let places = analysis.comparisons.iter_mut().map(|one| &mut one.comparison);
    let effects = analysis.series.iter_mut().flat_map(|one| &mut one.event_effects);
    let all = places.chain(effects.map(|effect| &mut effect.comparison));
    all.filter(|one| one.greater.is_some()).collect()
}

fn settle_pairs(analysis: &mut HistoryAnalysis) {
    let significance = analysis.correlations.options.significance;
    let pairs = &mut analysis.correlations.pairs;
    let lags = pairs.iter().filter_map(|pair| Some(pair.lags.as_ref()?.best.p));
    let p: Vec<f64> = pairs.iter().map(|pair| pair.judged().p).chain(lags).collect();
    let adjusted = benjamini_hochberg(&p);
    let (of_pairs, of_lags) = adjusted.split_at(pairs.len());
    for (pair, p_adjusted) in pairs.iter_mut().zip(of_pairs) {
        pair.p_adjusted = *p_adjusted;
        pair.is_significant = *p_adjusted <= significance;
    }
    let scans = pairs.iter_mut().filter_map(|pair| pair.lags.as_mut());
    scans.zip(of_lags).for_each(|(scan, p_adjusted)| scan.p_adjusted = *p_adjusted);
}

fn settle_periods(analysis: &mut HistoryAnalysis) {
    let found = || analysis.series.iter().filter_map(|one| one.periodicity.as_ref());
    let adjusted = benjamini_hochberg(&found().map(|period| period.false_alarm).collect::<Vec<_>>());
    let searched = analysis.series.iter_mut().filter(|one| one.periodicity.is_some());
    for (one, p_adjusted) in searched.zip(adjusted) {
        if let Some(period) = &mut one.periodicity {
            period.p_adjusted = p_adjusted;
        }
        one.periodicity = one.periodicity.take().filter(|_| p_adjusted <= SIGNIFICANCE);
    }
}
