//! Findings about one series by itself: tails, failures, periods, modes, names, resolution, too few samples.

use iolag_model::{Nanoseconds, SeriesKey, SeriesKind};

use super::analysis::HistoryAnalysis;
use super::calendar::Weekday;
use super::estimate::{Estimate, amount_in_words};
use super::findings::{FindingKind, HistoryFinding, Names, moment_in_words, task};
use super::findings_grouped::{Saying, SayingUnit};
use super::observed::Quantity;
use super::periodicity::{PeriodName, Periodicity};
use super::series_analysis::SeriesAnalysis;
use super::series_summary::{Regime, WeightedSummary};
use super::shares::ThresholdShare;
use crate::finding::{Severity, factor_in_words, share_in_words};
use crate::statistics::interval::attempts_needed;

pub(crate) fn findings_of_series(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let mut findings = Vec::new();
    for series in analysis.series.iter().filter(|series| series.summary.series.key.part.is_empty()) {
        findings.extend(tail(series, names));
        findings.extend(failure(series, names));
        findings.extend(period(series, names));
        findings.extend(modes(series, names));
        findings.extend(resolution(series, names));
        findings.extend(name_service(analysis, series, names));
    }
    findings.extend(too_few(analysis));
    findings
}

/// What a finding about `key` says together with those of other series.
fn saying(key: &SeriesKey, pattern: String, amount: f64, unit: SayingUnit, detail: String) -> Saying {
    Saying { pattern, subjects: vec![key.clone()], amounts: vec![amount], unit, detail }
}

/// Whoever compiles or makes 500 files expects to wait; whoever lists a directory does not.
fn patience(key: &SeriesKey) -> Nanoseconds {
    let patient =
        ["compile", "create", "build", "setup"].iter().any(|task| key.task.to_lowercase().contains(task));
    Nanoseconds::from_seconds(if patient { 10 } else { 1 })
}

/// Of the latest level at which any attempt took long: what was before a change is told beside it, and not mixed with it.
fn tail(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (summary, key) = (&series.summary, &series.summary.series.key);
    let patience = patience(key);
    let regimes = &summary.regimes;
    let latest = regimes.iter().rposition(|regime| share_over(&regime.summary, patience).is_some());
    let regime = latest.map(|index| &regimes[index]);
    let told = regime.map_or(&summary.by_attempt, |regime| &regime.summary);
    let share = share_over(told, patience)?;
    let over = share.counted.over;
    let part = over as f64 / share.of as f64;
    let interval = share.counted.interval;
    let mut sentence = format!(
        "{}{over} of {} {} ({}; 95 %: {} to {}) took over {patience}, the longest {}",
        regime.map_or_else(String::new, time_of),
        share.of,
        names.series(key),
        share_in_words(part),
        share_in_words(interval.low),
        share_in_words(interval.high),
        told.greatest.in_words(Quantity::Duration),
    );
    if let Some(index) = latest {
        sentence += &beside(regimes, index, patience);
    }
    let past = summary.rates.total.past_deadline.count;
    if past > 0 {
        sentence += &format!("; {past} passed the deadline");
        sentence += if regimes.is_empty() { "" } else { " in all" };
    }
    let is_over = latest.is_some_and(|index| index + 1 < regimes.len());
    let severity = match is_over {
        false if part >= 0.01 || past > 0 => Severity::Serious,
        false => Severity::Warning,
        true => Severity::Note,
    };
    let advice = "The calendar and the heat map of the report show when: compare with jobs, backups and load at these times.";
    let together = saying(
        key,
        format!("Of the attempts of {{series}}, {{range}} took over {patience}"),
        part,
        SayingUnit::Share,
        format!("{}, the longest {}", task(key), told.greatest.in_words(Quantity::Duration)),
    );
    Some(
        HistoryFinding::new(FindingKind::Tail, severity, sentence + ".", advice)
            .of([key])
            .sized(part)
            .saying(regimes.is_empty().then_some(together)),
    )
}

/// The share over a threshold, if any attempt was.
fn share_over(summary: &WeightedSummary, threshold: Nanoseconds) -> Option<&ThresholdShare> {
    let share = summary.shares.iter().find(|share| share.counted.threshold_ns == threshold)?;
    (share.counted.over > 0).then_some(share)
}

/// As in `Since 2008-05-08 19:00 UTC, `.
fn time_of(regime: &Regime) -> String {
    match (regime.since, regime.until) {
        (Some(since), None) => format!("Since {}, ", moment_in_words(since)),
        (None, Some(until)) => format!("Until {}, ", moment_in_words(until)),
        (Some(since), Some(until)) => {
            format!("From {} to {}, ", moment_in_words(since), moment_in_words(until))
        }
        (None, None) => String::new(),
    }
}

/// What was before this level, or since.
fn beside(regimes: &[Regime], index: usize, patience: Nanoseconds) -> String {
    let part = |regime: &Regime| match share_over(&regime.summary, patience) {
        Some(share) => share_in_words(share.counted.over as f64 / share.of as f64),
        None => "none".to_owned(),
    };
    if index + 1 < regimes.len() {
        return "; none since".to_owned();
    }
    match index.checked_sub(1).map(|before| &regimes[before]) {
        Some(before) => format!("; before, {}", part(before)),
        None => String::new(),
    }
}

fn failure(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
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
        PeriodName::Daily => Some(format!("around {phase:02}:30")),
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
    let (modes, key) = (series.summary.modes.as_ref()?, &series.summary.series.key);
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
    // What was fast until some day and slow from then on has a change and no modes.
    let steps = series.changes.iter().filter_map(|change| change.ratio.value);
    if steps.map(|ratio| ratio.ln().abs()).any(|step| step >= distance.ln() / 2.0) {
        return None;
    }
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
        })
        .collect();
    let needed = attempts_needed(0.99);
    let effective = |series: &&&SeriesAnalysis| series.summary.by_attempt.sample_size.effective;
    let few: Vec<&&SeriesAnalysis> =
        measured.iter().filter(|series| effective(series) < needed as f64).collect();
    let least = few.iter().map(effective).min_by(f64::total_cmp)?;
    let sentence = format!(
        "{} of {} series of durations have too few independent samples for a p99: {least:.0} at least, {needed} are needed.",
        few.len(),
        measured.len()
    );
    let advice =
        "Watch longer or more often; neighbouring samples that resemble each other count as less than one.";
    let keys = few.iter().map(|series| &series.summary.series.key);
    Some(HistoryFinding::new(FindingKind::TooFew, Severity::Note, sentence, advice).of(keys))
}
