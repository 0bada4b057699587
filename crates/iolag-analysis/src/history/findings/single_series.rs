//! Findings about one series by itself: periods, modes, names, resolution, too few samples.

use super::finding::saying;
use iolag_model::{SeriesKey, SeriesKind};

use super::endings::{failure, past_deadline};
use super::finding::HistoryFinding;
use super::finding::SayingUnit;
use super::tails::tail;
use super::words::names::{Names, task};
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::finding::words::{factor_in_words, share_in_words};
use crate::history::analysis::HistoryAnalysis;
use crate::history::calendar::local_time::Weekday;
use crate::history::calendar::periodicity::{PeriodName, Periodicity};
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::estimate::{Estimate, amount_in_words};
use crate::history::series::timed_values::Quantity;

const ADVICE_LONGER: &str =
    "Watch longer or more often; neighbouring samples that resemble each other count as less than one.";
const ADVICE_DRIFTING: &str = "What drifts over the whole record has no level of which slow attempts could be told: look at a part of it, with --since and --until.";

pub(crate) fn findings_of_series(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let mut findings = Vec::new();
    for series in analysis.series.iter().filter(|series| series.summary.series.key.part.is_empty()) {
        findings.extend(tail(series, names));
        findings.extend(past_deadline(series, names));
        findings.extend(failure(series, names));
        findings.extend(period(series, names));
        findings.extend(modes(series, names));
        findings.extend(resolution(series, names));
        findings.extend(name_service(analysis, series, names));
    }
    findings.extend(too_few(analysis));
    findings
}

fn period(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (found, key) = (series.periodicity.as_ref()?, &series.summary.series.key);
    let swing = found.profile.swing;
    // Significant in a year of samples may be far too small to be felt.
    if swing.is_some_and(|swing| swing < 1.1) {
        return None;
    }
    let how = match found.name {
        PeriodName::Daily => "every day".to_owned(),
        PeriodName::Weekly => "every week".to_owned(),
        PeriodName::Hourly => "every hour".to_owned(),
        PeriodName::Other => format!("every {}", found.period_ns),
    };
    let extremes = extremes_in_words(found, series.summary.quantity).unwrap_or_default();
    let swings =
        swing.map_or_else(String::new, |swing| format!(" by a factor of {}", factor_in_words(swing)));
    let sentence = format!(
        "{} swings {how}{swings}{extremes}; by chance, all series counted, with a probability below {}.",
        names.series(key),
        share_in_words(found.p_adjusted.max(1e-3))
    );
    let advice = "Look for what runs with this period: people, cron jobs, backups, quota scans.";
    let size = swing.unwrap_or(f64::INFINITY);
    let together = swing.map(|swing| {
        let pattern = format!("{{series}} swing {how} by a factor of {{range}}");
        saying(key, pattern, swing, SayingUnit::Factor, format!("{}{extremes}", task(key)))
    });
    Some(
        HistoryFinding::new(FindingKind::Periodicity, Severity::Note, sentence, advice)
            .of([key])
            .sized(size)
            .saying(together),
    )
}

fn extremes_in_words(found: &Periodicity, quantity: Quantity) -> Option<String> {
    let medians =
        || found.profile.bins.iter().enumerate().filter_map(|(phase, bin)| Some((phase, bin.median?)));
    let least = medians().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let greatest = medians().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let phase = |phase: usize| match found.name {
        PeriodName::Daily => Some(format!("around {phase:02}:30 local time")),
        PeriodName::Weekly => Some(format!("on {:?}s", Weekday::ALL[phase % 7])),
        PeriodName::Hourly => Some(format!("{} minutes past the hour", phase * 5)),
        PeriodName::Other => None,
    };
    let amount = |amount: f64| amount_in_words(amount, quantity);
    Some(format!(
        ", greatest {} (median {}), smallest {} (median {})",
        phase(greatest.0)?,
        amount(greatest.1),
        phase(least.0)?,
        amount(least.1)
    ))
}

fn modes(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (modes, key) = (series.modes()?, &series.summary.series.key);
    let told: Vec<String> = modes
        .modes
        .iter()
        .map(|mode| {
            let about = if matches!(mode.median, Estimate::Exactly(_)) { "about " } else { "" };
            format!("{} {about}{}", share_in_words(mode.share), mode.median.in_words(Quantity::Duration))
        })
        .collect();
    let slowest = modes.modes.last().and_then(|mode| mode.median.bound())?;
    // Modes below what anyone feels are of interest to nobody but the cache's author.
    if slowest < 0.01 {
        return None;
    }
    let distance = modes.ratios.iter().copied().fold(1.0_f64, f64::max);
    let sentence = format!(
        "{} has {} separated modes with hardly anything between: {} (a factor of {}).",
        names.series(key),
        modes.modes.len(),
        told.join(", "),
        factor_in_words(distance)
    );
    let advice = "That is what a cache and the price of missing it look like: find out what the slow ones have in common.";
    let together = saying(
        key,
        "{series} have separated modes with hardly anything between, a factor of {range} apart".to_owned(),
        distance,
        SayingUnit::Factor,
        format!("{}: {}", task(key), told.join(", ")),
    );
    Some(
        HistoryFinding::new(FindingKind::Modes, Severity::Note, sentence, advice)
            .of([key])
            .sized(distance)
            .saying(Some(together)),
    )
}

fn resolution(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (counts, key) = (series.summary.by_attempt.counts, &series.summary.series.key);
    let share = counts.below as f64 / counts.total().max(1) as f64;
    if share < 0.05 {
        return None;
    }
    let sentence = format!(
        "{} of {} are below the clock's resolution of {}: how far below is not known.",
        share_in_words(share),
        names.series(key),
        series.summary.series.resolution_ns
    );
    let advice = "They are counted as faster than that, and no quantile is guessed among them; iolag's own probes resolve them.";
    let together = saying(
        key,
        format!(
            "Of {{series}}, {{range}} are below the clock's resolution of {}: how far below is not known",
            series.summary.series.resolution_ns
        ),
        share,
        SayingUnit::Share,
        String::new(),
    );
    Some(
        HistoryFinding::new(FindingKind::Resolution, Severity::Note, sentence, advice)
            .of([key])
            .sized(share)
            .saying(Some(together)),
    )
}

/// `ls -l` against `ls -n`, which is the same without names of users and groups.
fn name_service(
    analysis: &HistoryAnalysis,
    series: &SeriesAnalysis,
    names: &Names,
) -> Option<HistoryFinding> {
    let key = &series.summary.series.key;
    let numeric = SeriesKey { part: "ls -n".to_owned(), ..key.clone() };
    let without = analysis.series.iter().find(|other| other.summary.series.key == numeric)?;
    let median = |series: &SeriesAnalysis| match series.summary.latest().median()?.value {
        Estimate::Exactly(amount) => Some(amount),
        _ => None,
    };
    let (long, short) = (median(series)?, median(without)?);
    if long < 2.0 * short || long - short < 0.01 {
        return None;
    }
    let sentence = format!(
        "{} takes {} and without names of users and groups (`ls -n`) {}: {} of the time go into looking names up.",
        names.series(key),
        amount_in_words(long, Quantity::Duration),
        amount_in_words(short, Quantity::Duration),
        share_in_words((long - short) / long)
    );
    let advice =
        "Cache names on this host (sssd or nscd), or find out why the directory service answers slowly.";
    let severity = if long >= 0.1 { Severity::Warning } else { Severity::Note };
    Some(
        HistoryFinding::new(FindingKind::NameService, severity, sentence, advice)
            .of([key, &numeric])
            .sized(long / short),
    )
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
    let sentence = format!(
        "{} of {} series of durations {} no p99: {}.",
        few.len(),
        measured.len(),
        has(few.len()),
        why_no_p99(&few.iter().map(|one| one.1).collect::<Vec<_>>())
    );
    let advice = match few.iter().filter(|one| one.0.drift.is_some()).count() {
        drifting if drifting == few.len() => ADVICE_DRIFTING.to_owned(),
        0 => ADVICE_LONGER.to_owned(),
        _ => format!("{ADVICE_LONGER} {ADVICE_DRIFTING}"),
    };
    let keys = few.iter().map(|one| &one.0.summary.series.key);
    Some(HistoryFinding::new(FindingKind::TooFew, Severity::Note, sentence, advice).of(keys))
}

/// As the table judges: by the attempts that the p99 itself is worth, and the stretches of time in which those beyond the quantile given lie.
fn why_no_p99(estimates: &[(f64, Estimate)]) -> String {
    let short = estimates.iter().filter_map(|one| match &one.1 {
        Estimate::TooFew { needed, have } => Some((have, needed)),
        _ => None,
    });
    let clustered = estimates.iter().filter_map(|(q, one)| match one {
        Estimate::FewStretches { stretches } => Some((*stretches, (100.0 * (1.0 - q)).round())),
        _ => None,
    });
    let of_short = short.clone().min().map(|(least, needed)| match short.count() {
        1 => format!("one has {least} of the {needed} independent samples that are needed"),
        count => {
            format!(
                "{count} have too few independent samples, the fewest {least} of {needed} that are needed"
            )
        }
    });
    let fewest = clustered.clone().min_by_key(|one| one.0);
    let of_clustered = fewest.map(|(least, percent)| match (clustered.count(), least) {
        (1, 1) => "of one the slowest lie in a single stretch of time".to_owned(),
        (1, _) => format!("of one the slowest {percent} % lie in only {least} stretches of time"),
        (count, _) => {
            format!("of {count} the slowest attempts lie in too few stretches of time, the fewest in {least}")
        }
    });
    of_short.into_iter().chain(of_clustered).collect::<Vec<String>>().join("; ")
}

fn has(count: usize) -> &'static str {
    if count == 1 { "has" } else { "have" }
}

#[cfg(test)]
mod tests {
    use iolag_model::Outcome;

    use super::*;
    use crate::history::made_up_series::{columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};
    use iolag_model::Random;

    #[test]
    fn who_has_no_p99_is_told_why_as_the_table_judges() {
        let short = (0.99, Estimate::TooFew { needed: 368, have: 106 });
        let clustered = (0.95, Estimate::FewStretches { stretches: 2 });
        assert_eq!(why_no_p99(&[short]), "one has 106 of the 368 independent samples that are needed");
        let cut = (0.95, Estimate::FewStretches { stretches: 1 });
        assert_eq!(why_no_p99(&[cut]), "of one the slowest lie in a single stretch of time");
        assert_eq!(
            why_no_p99(&[clustered, short, (0.99, Estimate::TooFew { needed: 368, have: 20 })]),
            "2 have too few independent samples, the fewest 20 of 368 that are needed; of one the slowest 5 % lie in only \
             2 stretches of time"
        );
    }

    #[test]
    fn watching_longer_is_no_advice_where_it_does_not_help() {
        let advice = |of: fn(i64, f64) -> (u64, Outcome)| {
            let mut noise = Random::new(7);
            let columns = columns_of((0..2688).map(|slot| {
                let (milliseconds, outcome) = of(slot, (0.3 * noise.normal()).exp());
                (slot * 900, milliseconds, outcome)
            }));
            let input = HistoryInput {
                series: vec![(series_of("/home", "list"), columns)],
                ..HistoryInput::default()
            };
            let findings = analyse_history(&input, &HistoryOptions::default()).findings;
            let too_few = findings.into_iter().find(|one| one.finding.kind == FindingKind::TooFew);
            too_few.map(|one| one.finding.advice)
        };
        let drifting =
            advice(|slot, noise| ((20.0 * (1.0 + slot as f64 / 900.0) * noise) as u64, Outcome::Ok));
        assert!(drifting.as_ref().is_some_and(|advice| advice.contains("drifts")), "{drifting:?}");
        let short = advice(|slot, noise| match slot {
            ..100 => ((20.0 * noise) as u64, Outcome::Ok),
            _ => (0, Outcome::Skipped),
        });
        assert!(short.as_ref().is_some_and(|advice| advice.starts_with("Watch longer")), "{short:?}");
        assert_eq!(advice(|_, _| (10, Outcome::Error)), None, "nothing that watching longer would tell");
    }
}
