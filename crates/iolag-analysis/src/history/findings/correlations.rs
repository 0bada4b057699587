//! Findings about series that go together: correlations and their absence, rhythms that are shared, lags.

use iolag_model::{Nanoseconds, SeriesKey, SeriesKind};

use crate::finding::Severity;
use crate::finding::of_histories::{
    CorrelationFound, HistoryFinding, HistoryFound, LagFound, NoCorrelationFound, PlacesBad,
    SharedRhythmFound,
};
use crate::history::analysis::HistoryAnalysis;
use crate::history::correlation::coefficient::Strength;
use crate::history::correlation::lag::LagScan;
use crate::history::correlation::matrix::CorrelatedPair;
use crate::history::series::timed_values::Quantity;
use crate::statistics::multiple_testing::SIGNIFICANCE;

/// Correlations that are told one by one.
const TOLD_MOST: usize = 6;

/// How much of a coefficient the time of day has to explain to be told.
const RHYTHM_LEAST: f64 = 0.2;

pub(crate) fn findings_of_correlations(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let mut findings = correlations(analysis);
    findings.extend(shared_rhythms(analysis));
    findings.extend(no_correlation(analysis));
    findings.extend(lags(analysis));
    findings
}

fn correlations(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let mut pairs: Vec<&CorrelatedPair> =
        analysis.correlations.pairs.iter().filter(|pair| goes_together(pair)).collect();
    pairs.sort_by(|one, other| other.judged().coefficient.abs().total_cmp(&one.judged().coefficient.abs()));
    pairs.truncate(TOLD_MOST);
    let finding = |pair: &CorrelatedPair| {
        HistoryFinding::new(
            HistoryFound::Correlation(CorrelationFound { pair: pair.clone() }),
            Severity::Note,
        )
        .of([&pair.left.series, &pair.right.series])
        .sized(pair.judged().coefficient.abs())
    };
    pairs.into_iter().map(finding).collect()
}

/// Whether a pair is told to go together.
fn goes_together(pair: &CorrelatedPair) -> bool {
    pair.is_significant && pair.judged().strength >= Strength::Medium
}

fn shared_rhythms(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let shared = analysis.correlations.pairs.iter().filter_map(|pair| {
        let (same, beyond) = (&pair.correlation, pair.beyond_daily_cycle.as_ref()?);
        let goes_on = pair.is_significant && beyond.strength >= Strength::Medium;
        let is_rhythm = same.coefficient.abs() >= beyond.coefficient.abs() + RHYTHM_LEAST;
        (same.strength >= Strength::Medium && is_rhythm && !goes_on).then(|| SharedRhythmFound {
            left: pair.left.clone(),
            right: pair.right.clone(),
            at_same_time: same.coefficient,
            beyond_daily_cycle: beyond.coefficient,
        })
    });
    let mut shared: Vec<_> = shared.collect();
    shared.sort_by(|one, other| other.at_same_time.abs().total_cmp(&one.at_same_time.abs()));
    shared.truncate(TOLD_MOST);
    let finding = |found: SharedRhythmFound| {
        let size = found.at_same_time.abs();
        let series = [found.left.series.clone(), found.right.series.clone()];
        HistoryFinding::new(HistoryFound::SharedRhythm(found), Severity::Note).of(&series).sized(size)
    };
    shared.into_iter().map(finding).collect()
}

/// As in study 000: if no two tasks go together or follow one another, and no two places were bad together, nothing shows a cause that they share. That there is none does not follow: a cause that acts in a fiftieth of the time moves no coefficient.
fn no_correlation(analysis: &HistoryAnalysis) -> Option<HistoryFinding> {
    let is_control = |key: &SeriesKey| {
        let mut series = analysis.series.iter().map(|one| &one.summary.series);
        series.any(|series| series.key == *key && series.kind == SeriesKind::Control)
    };
    let durations = analysis.correlations.pairs.iter().filter(|pair| {
        let both = [&pair.left, &pair.right];
        both.iter().all(|side| side.quantity == Quantity::Duration && !is_control(&side.series))
    });
    let greatest = durations
        .clone()
        .max_by(|one, other| one.judged().coefficient.abs().total_cmp(&other.judged().coefficient.abs()))?;
    let related = durations.clone().any(|pair| goes_together(pair) || follows(pair).is_some());
    let bad_together = analysis.bad_overlaps.iter().any(|one| one.is_shared(SIGNIFICANCE));
    let enough = greatest.judged().pairs_effective >= 30.0;
    if related || bad_together || !enough {
        return None;
    }
    let found = NoCorrelationFound {
        pairs: durations.count() as u64,
        strongest: greatest.judged().coefficient,
        is_beyond_daily_cycle: greatest.beyond_daily_cycle.is_some(),
        places: match analysis.bad_overlaps.iter().map(|one| one.both_ns).max() {
            None => PlacesBad::NotAsked,
            Some(Nanoseconds::ZERO) => PlacesBad::NeverTogether,
            Some(_) => PlacesBad::TogetherByChance,
        },
    };
    Some(HistoryFinding::new(HistoryFound::NoCorrelation(found), Severity::Note))
}

/// The lags of a pair of which one is told to follow the other.
fn follows(pair: &CorrelatedPair) -> Option<&LagScan> {
    pair.lags.as_ref().filter(|scan| {
        let clearer = scan.best.coefficient.abs() > pair.judged().coefficient.abs() + 0.1;
        scan.best_slots != 0
            && clearer
            && scan.p_adjusted <= SIGNIFICANCE
            && scan.best.strength >= Strength::Medium
    })
}

/// Series that follow one another are told where the lag says clearly more than the same time.
fn lags(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let lagged = analysis.correlations.pairs.iter().filter_map(|pair| Some((pair, follows(pair)?)));
    let findings = lagged.map(|(pair, scan)| {
        let (first, second) =
            if scan.best_slots > 0 { (&pair.left, &pair.right) } else { (&pair.right, &pair.left) };
        let found = LagFound {
            first: first.clone(),
            second: second.clone(),
            lag_ns: Nanoseconds(scan.slot_ns.0.saturating_mul(scan.best_slots.unsigned_abs())),
            at_lag: scan.best,
            at_same_time: pair.judged().coefficient,
            p_adjusted: scan.p_adjusted,
        };
        HistoryFinding::new(HistoryFound::Lag(found), Severity::Note)
            .of([&first.series, &second.series])
            .sized(scan.best.coefficient.abs())
    });
    findings.take(TOLD_MOST).collect()
}

#[cfg(test)]
mod tests {
    use iolag_model::{Outcome, Random};

    use crate::history::{HistoryFindingKind, HistoryInput, HistoryOptions, analyse_history};
    use iolag_fixtures::made_up_series::{columns_of, series_of};

    #[test]
    fn what_follows_another_goes_with_it() {
        let mut noise = Random::new(6);
        let cause: Vec<f64> = (0..1346).map(|_| noise.normal()).collect();
        let mut later = |target: &str, slots: usize| {
            let columns = columns_of((0..1344).map(|slot| {
                let cause = cause[slot as usize + 2 - slots];
                let milliseconds = 200.0 * (0.4 * cause + 0.1 * noise.normal()).exp();
                (slot * 900, milliseconds as u64, Outcome::Ok)
            }));
            (series_of(target, "list"), columns)
        };
        let series = vec![later("/home", 0), later("/scratch", 2)];
        let input = HistoryInput { series, ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        let kinds = |kind: HistoryFindingKind| findings.iter().filter(|one| one.kind() == kind).count();
        assert_eq!(
            (kinds(HistoryFindingKind::Lag), kinds(HistoryFindingKind::NoCorrelation)),
            (1, 0),
            "{findings:#?}"
        );
    }
}
