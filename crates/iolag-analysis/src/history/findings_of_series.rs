//! Findings about one series by itself: tails, periods, modes, names, resolution, too few samples.

use iolag_model::{Nanoseconds, SeriesKey, SeriesKind};

use super::analysis::HistoryAnalysis;
use super::calendar::Weekday;
use super::estimate::{Estimate, amount_in_words};
use super::findings::{FindingKind, HistoryFinding, Names, moment_in_words, task};
use super::findings_grouped::{Saying, SayingUnit};
use super::findings_of_endings::{failure, past_deadline};
use super::observed::Quantity;
use super::periodicity::{PeriodName, Periodicity};
use super::series_analysis::SeriesAnalysis;
use super::series_summary::{Regime, WeightedSummary};
use super::shares::ThresholdShare;
use super::spells::spells_of;
use crate::finding::{Severity, factor_in_words, share_in_words};
use crate::statistics::interval::ShareInterval;

/// Where attempts take this part of what people put up with longer than that, on average, it is serious: one in a hundred takes twice as
/// long, or one in ten thousand a hundred times.
const SERIOUS_WAIT: f64 = 0.01;

const ADVICE_RULE: &str = "That is how long it takes here, and no trouble of a moment: compare with other targets, and with what it should take.";
const ADVICE_PAST: &str = "Attempts that do not end are no matter of patience: look at what they wait for. Whether the others have to take so long, other targets tell.";

const ADVICE_LONGER: &str =
    "Watch longer or more often; neighbouring samples that resemble each other count as less than one.";
const ADVICE_DRIFTING: &str = "What drifts over the whole record has no level of which slow attempts could be told: look at a part of it, with --since and --until.";

pub(crate) fn findings_of_series(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let mut findings = Vec::new();
    for series in analysis.series.iter().filter(|series| series.summary.series.key.part.is_empty()) {
        let tail = tail(series, names);
        if tail.is_none() {
            findings.extend(past_deadline(series, names));
        }
        findings.extend(tail);
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
pub(super) fn saying(
    key: &SeriesKey,
    pattern: String,
    amount: f64,
    unit: SayingUnit,
    detail: String,
) -> Saying {
    Saying { pattern, subjects: vec![key.clone()], amounts: vec![amount], unit, detail }
}

fn interval_in_words(interval: ShareInterval) -> String {
    if !interval.tells() {
        return "too few independent ones for an interval".to_owned();
    }
    format!("95 %: {} to {}", share_in_words(interval.low), share_in_words(interval.high))
}

/// Whoever compiles or makes 500 files expects to wait; whoever lists a directory does not.
fn patience(key: &SeriesKey) -> Nanoseconds {
    let patient =
        ["compile", "create", "build", "setup"].iter().any(|task| key.task.to_lowercase().contains(task));
    Nanoseconds::from_seconds(if patient { 10 } else { 1 })
}

/// Of the latest level at which any attempt took long: what was before a change is told beside it, and not mixed with it. A share that was
/// the same at every level has nothing to do with their changes, and what most attempts take is how the task is, and no tail.
fn tail(series: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (summary, key) = (&series.summary, &series.summary.series.key);
    let patience = patience(key);
    let regimes = &summary.regimes;
    let latest = regimes.iter().rposition(|regime| share_over(&regime.summary, patience).is_some());
    let unchanged_from = latest.map(|index| unchanged_from(regimes, index, patience));
    let is_of_all = unchanged_from == Some(0) && latest == regimes.len().checked_sub(1);
    let latest = latest.filter(|_| !is_of_all);
    let regime = latest.map(|index| &regimes[index]);
    let told = regime.map_or(&summary.by_attempt, |regime| &regime.summary);
    let share = share_over(told, patience)?;
    let over = share.counted.over;
    let part = over as f64 / share.of as f64;
    let interval = share.counted.interval;
    let is_of_most = |share: &&ThresholdShare| share.counted.interval.low > 0.5;
    let rule = told.shares.iter().rev().find(is_of_most).filter(|_| regime.is_none() && is_of_most(&share));
    let mut sentence = if let Some(rule) = rule {
        rule_in_words(told, rule, &names.series(key))
    } else {
        format!(
            "{}{over} of {} {} ({}; {}) took over {patience}, the longest {}",
            regime.map_or_else(String::new, time_of),
            share.of,
            names.series(key),
            share_in_words(part),
            interval_in_words(interval),
            told.greatest.in_words(Quantity::Duration),
        )
    };
    if let Some(index) = latest {
        sentence += &beside(series, index, unchanged_from.unwrap_or(index), patience);
    }
    let waited = share.beyond_seconds / (share.of as f64 * patience.as_seconds());
    let past = summary.rates.total.past_deadline.count;
    if past > 0 {
        sentence += &format!("; {past} passed the deadline");
        sentence += if regime.is_none() { "" } else { " in all" };
    }
    let is_over = latest.is_some_and(|index| index + 1 < regimes.len());
    let severity = match (is_over, rule.is_some()) {
        (true, _) => Severity::Note,
        (false, _) if past > 0 => Severity::Serious,
        // Of what somebody else measured nobody knows how long it may take.
        (false, true) if summary.series.kind == SeriesKind::ImportedDuration => Severity::Note,
        (false, false) if waited >= SERIOUS_WAIT => Severity::Serious,
        _ => Severity::Warning,
    };
    let (pattern, advice) = if let Some(rule) = rule {
        (
            format!("{{series}} take over {} as a rule ({{range}} of attempts)", rule.counted.threshold_ns),
            if past > 0 { ADVICE_PAST } else { ADVICE_RULE },
        )
    } else {
        (
            format!("Of the attempts of {{series}}, {{range}} took over {patience}"),
            "The calendar and the heat map of the report show when: compare with jobs, backups and load at these times.",
        )
    };
    let longest = format!("{}, the longest {}", task(key), told.greatest.in_words(Quantity::Duration));
    let part_told = rule.map_or(part, |rule| rule.counted.over as f64 / rule.of as f64);
    let together = saying(key, pattern, part_told, SayingUnit::Share, longest);
    Some(
        HistoryFinding::new(FindingKind::Tail, severity, sentence + ".", advice)
            .of([key])
            .sized(part)
            .saying(regime.is_none().then_some(together)),
    )
}

/// As in `` `copy` on /home takes over 10.0 s as a rule: 1379 of 1379 (at least 99.7 %) did, the median 25.0 s, the longest 61.0 s ``.
fn rule_in_words(told: &WeightedSummary, share: &ThresholdShare, name: &str) -> String {
    let median = told.median().map_or(Estimate::NOTHING, |median| median.value);
    format!(
        "{name} takes over {} as a rule: {} of {} (at least {}) did, the median {}, the longest {}",
        share.counted.threshold_ns,
        share.counted.over,
        share.of,
        share_in_words(share.counted.interval.low),
        median.in_words(Quantity::Duration),
        told.greatest.in_words(Quantity::Duration),
    )
}

/// The first of the levels up to `index` since which the share has stayed the same, as far as intervals tell.
fn unchanged_from(regimes: &[Regime], index: usize, threshold: Nanoseconds) -> usize {
    let share = |index: usize| share_at(&regimes[index].summary, threshold);
    let is_alike = |one: &ThresholdShare, other: &ThresholdShare| {
        let holds = |one: &ThresholdShare, other: &ThresholdShare| {
            let part = other.counted.over as f64 / other.of.max(1) as f64;
            one.counted.interval.low <= part && part <= one.counted.interval.high
        };
        holds(one, other) && holds(other, one)
    };
    let is_changed = |before: &usize| match (share(*before), share(index)) {
        (Some(before), Some(here)) => !is_alike(before, here),
        _ => true,
    };
    (0..index).rev().find(is_changed).map_or(0, |before| before + 1)
}

fn share_at(summary: &WeightedSummary, threshold: Nanoseconds) -> Option<&ThresholdShare> {
    summary.shares.iter().find(|share| share.counted.threshold_ns == threshold)
}

/// The share over a threshold, if any attempt was.
fn share_over(summary: &WeightedSummary, threshold: Nanoseconds) -> Option<&ThresholdShare> {
    share_at(summary, threshold).filter(|share| share.counted.over > 0)
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

/// What was before this level, or since. Before a level at which nothing changed, nothing is told, and a spell that came back to the level before
/// it is left out: the time after it is compared with the time before it.
fn beside(series: &SeriesAnalysis, index: usize, unchanged_from: usize, patience: Nanoseconds) -> String {
    let regimes = &series.summary.regimes;
    let part = |regime: &Regime| match share_over(&regime.summary, patience) {
        Some(share) => share_in_words(share.counted.over as f64 / share.of as f64),
        None => "none".to_owned(),
    };
    if index + 1 < regimes.len() {
        return "; none since".to_owned();
    }
    let Some(before) = index.checked_sub(1).filter(|_| unchanged_from == index) else { return String::new() };
    let of_spell = before.checked_sub(1).filter(|begin| spells_of(&series.changes).contains(begin));
    match of_spell.map(|ordinary| (&regimes[ordinary], regimes[ordinary].until)) {
        Some((ordinary, Some(until))) => {
            format!("; before, until {}, {}", moment_in_words(until), part(ordinary))
        }
        _ => format!("; before, {}", part(&regimes[before])),
    }
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
        let mut quantiles = series.summary.by_attempt.quantiles.iter();
        let value = quantiles.find(|quantile| quantile.q == 0.99)?.value;
        let is_none = matches!(value, Estimate::TooFew { .. } | Estimate::FewStretches { .. });
        is_none.then_some(value)
    };
    let few: Vec<(&SeriesAnalysis, Estimate)> =
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

/// As the table judges: by the attempts that the p99 itself is worth, and the stretches of time in which the slowest lie.
fn why_no_p99(estimates: &[Estimate]) -> String {
    let short = estimates.iter().filter_map(|one| match one {
        Estimate::TooFew { needed, have } => Some((have, needed)),
        _ => None,
    });
    let clustered = estimates.iter().filter_map(|one| match one {
        Estimate::FewStretches { stretches } => Some(*stretches),
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
    let of_clustered = clustered.clone().min().map(|least| match (clustered.count(), least) {
        (1, 1) => "of one the slowest 1 % lie in a single stretch of time".to_owned(),
        (1, _) => format!("of one the slowest 1 % lie in only {least} stretches of time"),
        (count, _) => {
            format!("of {count} the slowest 1 % lie in too few stretches of time, the fewest in {least}")
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
    use crate::history::samples::{columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};
    use crate::synthetic::Noise;

    #[test]
    fn who_has_no_p99_is_told_why_as_the_table_judges() {
        let short = Estimate::TooFew { needed: 368, have: 106 };
        let clustered = Estimate::FewStretches { stretches: 2 };
        assert_eq!(why_no_p99(&[short]), "one has 106 of the 368 independent samples that are needed");
        assert_eq!(
            why_no_p99(&[clustered, short, Estimate::TooFew { needed: 368, have: 20 }]),
            "2 have too few independent samples, the fewest 20 of 368 that are needed; of one the slowest 1 % lie in only \
             2 stretches of time"
        );
    }

    #[test]
    fn an_interval_of_nearly_all_shares_is_not_printed() {
        let words = |low: f64, high: f64| interval_in_words(ShareInterval { low, high });
        assert_eq!(words(0.011, 0.12), "95 %: 1.1 % to 12 %");
        assert_eq!(words(1e-9, 0.999), "too few independent ones for an interval");
    }

    /// What is told of the tail of an imported `copy` that takes so many seconds in each of 1400 quarter hours.
    fn tail_of(level: impl Fn(i64, f64) -> f64) -> HistoryFinding {
        let mut noise = Noise::new(13);
        let columns = columns_of((0..1400).map(|slot| {
            let milliseconds = 1000.0 * level(slot, noise.uniform()) * (0.05 * noise.normal()).exp();
            (slot * 900, milliseconds as u64, Outcome::Ok)
        }));
        let series = iolag_model::Series { kind: SeriesKind::ImportedDuration, ..series_of("/home", "copy") };
        let input = HistoryInput { series: vec![(series, columns)], ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        findings.into_iter().find(|one| one.finding.kind == FindingKind::Tail).expect("a tail is told")
    }

    #[test]
    fn what_always_takes_long_is_no_news_since_a_change() {
        let found = tail_of(|slot, _| if slot < 700 { 20.0 } else { 30.0 });
        let sentence = &found.finding.sentence;
        let begin = "`copy` on /home takes over 10.0 s as a rule: 1400 of 1400 (at least 99";
        assert!(sentence.starts_with(begin), "{sentence}");
        assert_eq!(found.finding.severity, Severity::Note);
    }

    #[test]
    fn a_share_that_did_not_change_with_the_level_is_told_of_the_whole() {
        let rare = |uniform: f64, usual: f64| if uniform < 0.05 { 2.0 } else { usual };
        let same = tail_of(|slot, uniform| rare(uniform, if slot < 700 { 0.02 } else { 0.2 }));
        let sentence = &same.finding.sentence;
        assert!(
            sentence.contains(" of 1400 `copy` on /home (") && !sentence.contains("before"),
            "{sentence}"
        );
        let other = tail_of(|slot, uniform| if slot < 700 { 0.02 } else { rare(uniform, 0.2) });
        let sentence = &other.finding.sentence;
        assert!(
            sentence.starts_with("Since 1970-01-08 ") && sentence.contains("; before, none"),
            "{sentence}"
        );
    }

    #[test]
    fn a_share_after_a_bad_spell_is_compared_with_that_before_the_spell() {
        let found = tail_of(|slot, uniform| {
            let is_bad = (600..800).contains(&slot);
            match (is_bad, uniform) {
                (true, ..0.16) | (false, ..0.02) => 2.0,
                (true, _) => 0.2,
                (false, _) => 0.02,
            }
        });
        let sentence = &found.finding.sentence;
        assert!(sentence.starts_with("Since 1970-01-09 12:15 UTC, 8 of 583 "), "{sentence}");
        assert!(sentence.ends_with("; before, until 1970-01-07 04:15 UTC, 2.5 %."), "{sentence}");
    }

    #[test]
    fn watching_longer_is_no_advice_where_it_does_not_help() {
        let advice = |of: fn(i64, f64) -> (u64, Outcome)| {
            let mut noise = Noise::new(7);
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

    /// Longer than the second that somebody waits for a list.
    #[test]
    fn the_severity_of_a_tail_goes_by_how_long_was_waited() {
        let of = |count: i64, milliseconds: u64| {
            let columns = columns_of((0..2000).map(|slot| {
                let is_long = slot % (2000 / count) == 7;
                (slot * 900, if is_long { milliseconds } else { 20 + slot as u64 % 7 }, Outcome::Ok)
            }));
            let input = HistoryInput {
                series: vec![(series_of("/home", "list"), columns)],
                ..HistoryInput::default()
            };
            let findings = analyse_history(&input, &HistoryOptions::default()).findings;
            let tail =
                findings.iter().find(|one| one.finding.kind == FindingKind::Tail).expect("a tail is told");
            tail.finding.severity
        };
        // Once six hours, ten times ten minutes, twenty times a minute.
        let serious = [(1, 21_600_000), (10, 600_000), (20, 55_000)].map(|(count, each)| of(count, each));
        assert_eq!(serious, [Severity::Serious; 3]);
        let felt = [(20, 1200), (20, 1900)].map(|(count, each)| of(count, each));
        assert_eq!(felt, [Severity::Warning; 2]);
    }
}
