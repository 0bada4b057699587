//! Findings about series that go together: correlations and their absence, rhythms that are shared, lags.

use iolag_model::{Nanoseconds, SeriesKey, SeriesKind, counted};

use super::finding::HistoryFinding;
use super::words::amounts::{RECORD_TOO_SHORT, p_in_words};
use super::words::names::Names;
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::history::analysis::HistoryAnalysis;
use crate::history::correlation::coefficient::{Correlation, Strength};
use crate::history::correlation::lag::LagScan;
use crate::history::correlation::matrix::{CorrelatedPair, Variable};
use crate::history::series::timed_values::Quantity;
use crate::statistics::multiple_testing::SIGNIFICANCE;

/// Correlations that are told one by one.
const TOLD_MOST: usize = 6;

/// How much of a coefficient the time of day has to explain to be told.
const RHYTHM_LEAST: f64 = 0.2;

pub(crate) fn findings_of_correlations(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let mut findings = correlations(analysis, names);
    findings.extend(shared_rhythms(analysis, names));
    findings.extend(no_correlation(analysis));
    findings.extend(lags(analysis, names));
    findings
}

fn correlations(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let mut pairs: Vec<&CorrelatedPair> =
        analysis.correlations.pairs.iter().filter(|pair| goes_together(pair)).collect();
    pairs.sort_by(|one, other| other.judged().coefficient.abs().total_cmp(&one.judged().coefficient.abs()));
    pairs.truncate(TOLD_MOST);
    pairs.into_iter().map(|pair| correlation(pair, names)).collect()
}

/// Whether a pair is told to go together.
fn goes_together(pair: &CorrelatedPair) -> bool {
    pair.is_significant && pair.judged().strength >= Strength::Medium
}

fn correlation(pair: &CorrelatedPair, names: &Names) -> HistoryFinding {
    let found = pair.judged();
    let direction = if found.coefficient > 0.0 { "go up and down together" } else { "go against each other" };
    let (beyond, doubt) = match &pair.beyond_daily_cycle {
        Some(_) => (format!(" beyond the time of day, {:.2} with it", pair.correlation.coefficient), ""),
        None => (String::new(), RECORD_TOO_SHORT),
    };
    let sentence = format!(
        "{} and {} {direction}: {} correlation of {:.2}{beyond} ({}, worth {:.0} independent ones; {} after correction for all pairs){doubt}.",
        variable(&pair.left, names),
        variable(&pair.right, names),
        found.strength,
        found.coefficient,
        counted(found.pairs, "pair", "pairs"),
        found.pairs_effective,
        p_in_words(pair.p_adjusted),
    );
    let advice = match pair.right.quantity {
        Quantity::Load5min | Quantity::Blocked => {
            "Load and blocked tasks contain those that wait for storage, so this may be the effect and not the cause: look at runnable \
             tasks too."
        }
        Quantity::Runnable | Quantity::StalledIo => "Look at what runs on this node at such times.",
        _ => "Look for what the two share: server, network, name service, this host.",
    };
    HistoryFinding::new(FindingKind::Correlation, Severity::Note, sentence, advice)
        .of([&pair.left.series, &pair.right.series])
        .sized(found.coefficient.abs())
}

/// What both are busy at, and nothing else: seen, and no sign of a common cause.
fn shared_rhythms(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let shared = analysis.correlations.pairs.iter().filter_map(|pair| {
        let (same, beyond) = (&pair.correlation, pair.beyond_daily_cycle.as_ref()?);
        let goes_on = pair.is_significant && beyond.strength >= Strength::Medium;
        let is_rhythm = same.coefficient.abs() >= beyond.coefficient.abs() + RHYTHM_LEAST;
        (same.strength >= Strength::Medium && is_rhythm && !goes_on).then_some((pair, same, beyond))
    });
    let mut shared: Vec<_> = shared.collect();
    shared.sort_by(|one, other| other.1.coefficient.abs().total_cmp(&one.1.coefficient.abs()));
    shared.truncate(TOLD_MOST);
    let finding = |(pair, same, beyond): (&CorrelatedPair, &Correlation, &Correlation)| {
        let sentence = format!(
            "{} and {} both follow the time of day: coefficient {:.2} at the same time, {:.2} beyond the daily cycle.",
            variable(&pair.left, names),
            variable(&pair.right, names),
            same.coefficient,
            beyond.coefficient,
        );
        let advice = "What happens at the same hour every day explains both; that they also share a cause is not shown.";
        HistoryFinding::new(FindingKind::SharedRhythm, Severity::Note, sentence, advice)
            .of([&pair.left.series, &pair.right.series])
            .sized(same.coefficient.abs())
    };
    shared.into_iter().map(finding).collect()
}

fn variable(variable: &Variable, names: &Names) -> String {
    match variable.quantity {
        Quantity::Duration | Quantity::Value => names.series(&variable.series),
        of_host if of_host.is_of_host() => format!("the {of_host}"),
        other => format!("{other} of {}", names.series(&variable.series)),
    }
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
    // Of places that were never bad, or of one place alone, nothing was asked: then no more is said than what was.
    let places = match analysis.bad_overlaps.iter().map(|one| one.both_ns).max() {
        None => "",
        Some(Nanoseconds::ZERO) => {
            ", and no two places were bad at the same time: nothing shows a cause that all tasks share; one that acts seldom may \
             be overlooked"
        }
        Some(_) => {
            ", and no two places were bad at the same time for longer than by chance: nothing shows a cause that all \
             tasks share; one that acts seldom may be overlooked"
        }
    };
    let sentence = format!(
        "No two of the tasks ({} compared) go together more than a little{} (strongest coefficient {:.2}){places}.",
        counted(durations.count() as u64, "pair", "pairs"),
        if greatest.beyond_daily_cycle.is_some() { " beyond the time of day" } else { "" },
        greatest.judged().coefficient
    );
    let advice = "Look for causes task by task: name service for listing, metadata servers for creating, the compiler's files for compiling.";
    Some(HistoryFinding::new(FindingKind::NoCorrelation, Severity::Note, sentence, advice))
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
fn lags(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let lagged = analysis.correlations.pairs.iter().filter_map(|pair| Some((pair, follows(pair)?)));
    let findings = lagged.map(|(pair, scan)| {
        let (first, second) = if scan.best_slots > 0 { (&pair.left, &pair.right) } else { (&pair.right, &pair.left) };
        let lag = Nanoseconds(scan.slot_ns.0.saturating_mul(scan.best_slots.unsigned_abs()));
        let sentence = format!(
            "{} follows {} by {lag}: {} correlation of {:.2} at that lag, {:.2} at the same time ({}).",
            variable(second, names),
            variable(first, names),
            scan.best.strength,
            scan.best.coefficient,
            pair.judged().coefficient,
            p_in_words(scan.p_adjusted)
        );
        let advice = "What comes first may be the cause, or both follow a third: look at what happens between the two.";
        HistoryFinding::new(FindingKind::Lag, Severity::Note, sentence, advice)
            .of([&first.series, &second.series])
            .sized(scan.best.coefficient.abs())
    });
    findings.take(TOLD_MOST).collect()
}

#[cfg(test)]
mod tests {
    use iolag_model::{HistoryColumns, Outcome, Series};

    use super::*;
    use crate::history::made_up_series::{columns_of, imported, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};
    use iolag_model::Random;

    fn no_correlation_of(series: Vec<(Series, HistoryColumns)>) -> String {
        let input = HistoryInput { series, ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        let found = findings.into_iter().find(|one| one.finding.kind == FindingKind::NoCorrelation);
        found.map_or_else(String::new, |one| one.finding.sentence)
    }

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
        let kinds = |kind: FindingKind| findings.iter().filter(|one| one.finding.kind == kind).count();
        assert_eq!((kinds(FindingKind::Lag), kinds(FindingKind::NoCorrelation)), (1, 0), "{findings:#?}");
    }

    #[test]
    fn no_single_cause_is_said_only_where_places_were_bad_and_not_together() {
        let bad: Vec<i64> = (700..724).collect();
        let apart =
            no_correlation_of(vec![imported("/home", 1, &bad), imported("/scratch", 2, &[300, 301, 302])]);
        assert!(
            apart.contains(
                "no two places were bad at the same time: nothing shows a cause that all tasks share"
            ),
            "{apart}"
        );
        let together = no_correlation_of(vec![imported("/home", 1, &bad), imported("/scratch", 2, &bad)]);
        assert_eq!(together, "", "both were bad for six hours");
        let never = no_correlation_of(vec![imported("/home", 1, &[]), imported("/scratch", 2, &[])]);
        assert!(never.starts_with("No two of the tasks (1 pair compared) go together"), "{never}");
        assert!(!never.contains("cause") && !never.contains("bad"), "{never}");
    }
}
