//! Findings about series together: correlations and their absence, what bad times come with, the host's share, two places compared.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use iolag_model::{Nanoseconds, SeriesKey, SeriesKind};

use super::finding::{HistoryFinding, Names, counted, p_in_words, task};
use super::said_together::{Saying, SayingUnit};
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::finding::words::factor_in_words;
use crate::history::analysis::{HistoryAnalysis, SeriesComparison};
use crate::history::comparison::{ComparisonVerdict, ShiftEstimate};
use crate::history::correlation::coefficient::{Correlation, Strength};
use crate::history::correlation::lag::LagScan;
use crate::history::correlation::matrix::{CorrelatedPair, Variable};
use crate::history::episodes::bad_overlap::{BadOverlap, Place};
use crate::history::series::summary::SeriesSummary;
use crate::history::series::timed_values::Quantity;
use crate::statistics::multiple_testing::SIGNIFICANCE;
use crate::statistics::rhythm::profile::{DAY_SECONDS, DAYS_LEAST};

/// Correlations that are told one by one.
const TOLD_MOST: usize = 6;

/// What is said with what may be no more than the hours of the day.
const RECORD_TOO_SHORT: &str = "; the record is too short to tell that from the time of day";

/// How much of a coefficient the time of day has to explain to be told.
const RHYTHM_LEAST: f64 = 0.2;

pub(crate) fn findings_together(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let mut findings = correlations(analysis, names);
    findings.extend(shared_rhythms(analysis, names));
    findings.extend(bad_together(analysis));
    findings.extend(no_correlation(analysis));
    findings.extend(lags(analysis, names));
    findings.extend(associations(analysis));
    findings.extend(host_slow(analysis));
    findings.extend(analysis.comparisons.iter().filter_map(|compared| comparison(compared, names)));
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
        counted(found.pairs, "pair"),
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

fn bad_together(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let hosts: BTreeSet<&str> =
        analysis.bad_overlaps.iter().flat_map(|one| [one.first.host.as_str(), &one.second.host]).collect();
    let mut told: Vec<&BadOverlap> =
        analysis.bad_overlaps.iter().filter(|one| one.p_adjusted <= SIGNIFICANCE).collect();
    told.sort_by_key(|one| Reverse(one.both_ns));
    let finding = |one: &&BadOverlap| {
        let is_of_one_host = one.first.host == one.second.host;
        let seen_from = if hosts.len() > 1 { format!(" from {}", one.second.host) } else { String::new() };
        let first_from = if is_of_one_host { String::new() } else { format!(" from {}", one.first.host) };
        let judged = if one.other_hours_ns < one.both_ns {
            format!("{} of it at hours in which they are seldom both bad, where ", one.other_hours_ns)
        } else {
            String::new()
        };
        let sentence = format!(
            "{}{first_from} and {}{seen_from} were bad at the same time: {} together, of {} and {}; {judged}by chance it would be {} ({}){}.",
            place(&one.first),
            place(&one.second),
            one.both_ns,
            one.first_bad_ns,
            one.second_bad_ns,
            one.expected_ns,
            p_in_words(one.p_adjusted),
            doubt_of(analysis),
        );
        let advice = if is_of_one_host {
            "Look for what the two share: server, network, name service, this host."
        } else {
            "Look first at what both hosts share: the server, the network, jobs that run on both."
        };
        HistoryFinding::new(FindingKind::BadTogether, Severity::Warning, sentence, advice)
            .sized(one.both_ns.as_seconds())
    };
    told.iter().take(TOLD_MOST).map(finding).collect()
}

/// What has to be said of bad times where there are too few days to know the hours of the day.
fn doubt_of(analysis: &HistoryAnalysis) -> &'static str {
    let covered = analysis.begin.zip(analysis.end).map(|(begin, end)| end.since(begin).as_seconds());
    if covered.is_some_and(|covered| covered >= DAYS_LEAST * DAY_SECONDS) { "" } else { RECORD_TOO_SHORT }
}

/// What was imported without a target is of its host.
fn place(place: &Place) -> String {
    if place.target.is_empty() {
        format!("what has no target on {}", place.host)
    } else {
        place.target.clone()
    }
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
        counted(durations.count() as u64, "pair"),
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

fn associations(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let told =
        analysis.associations.iter().filter(|one| one.p_adjusted <= SIGNIFICANCE && one.events_near > 0);
    told.map(|one| {
        let rate = one.rate.map_or_else(
            || "and none would by chance".to_owned(),
            |rate| format!("{} times as many as by chance", factor_in_words(rate)),
        );
        let sentence = format!(
            "{} of {} of kind \"{}\" lie within {} of a bad time, {rate} ({}){}.",
            one.events_near,
            counted(one.events, "event"),
            one.kind,
            one.tolerance_ns,
            p_in_words(one.p_adjusted),
            doubt_of(analysis)
        );
        let advice = "Look at one of these moments in the report: does the event come first, or does it tell of the same trouble?";
        HistoryFinding::new(FindingKind::Association, Severity::Warning, sentence, advice)
            .sized(one.rate.unwrap_or(f64::INFINITY))
    })
    .collect()
}

/// Bad times that the control on the host's memory shares are the host's, not the storage's.
fn host_slow(analysis: &HistoryAnalysis) -> Option<HistoryFinding> {
    let controls: Vec<&SeriesSummary> = analysis
        .series
        .iter()
        .map(|one| &one.summary)
        .filter(|summary| summary.series.kind == SeriesKind::Control)
        .collect();
    let is_control = |key: &SeriesKey| controls.iter().any(|control| control.series.key == *key);
    let of_storage: Vec<_> = analysis
        .episodes
        .iter()
        .filter(|episode| {
            let was_measured = |control: &&SeriesSummary| {
                control.series.key.host == episode.host
                    && control.first <= Some(episode.begin)
                    && Some(episode.end) <= control.last
            };
            controls.iter().any(was_measured) && episode.series.iter().any(|one| !is_control(&one.series))
        })
        .collect();
    let shared =
        of_storage.iter().filter(|episode| episode.series.iter().any(|one| is_control(&one.series))).count();
    let all = of_storage.len();
    if all < 3 {
        return None;
    }
    let finding = if shared == 0 {
        let sentence = format!(
            "In none of {all} bad times did a task on the host's own memory take long as well: that speaks for the storage or the way to it, and \
             against this host."
        );
        HistoryFinding::new(
            FindingKind::HostSlow,
            Severity::Note,
            sentence,
            "Look at the servers and the network; another host that watches the same targets tells these two apart.",
        )
    } else if shared * 3 >= all {
        let sentence = format!(
            "In {shared} of {all} bad times a task on the host's own memory took long as well: then this host was slow, and not the storage alone."
        );
        HistoryFinding::new(
            FindingKind::HostSlow,
            Severity::Warning,
            sentence,
            "Look at what runs on this host then: processors, memory, other users.",
        )
    } else {
        return None;
    };
    Some(finding.of(controls.iter().map(|control| &control.series.key)).sized(shared as f64))
}

fn comparison(compared: &SeriesComparison, names: &Names) -> Option<HistoryFinding> {
    let slower_second = match compared.comparison.verdict {
        ComparisonVerdict::Slower => true,
        ComparisonVerdict::Faster => false,
        _ => return None,
    };
    let (slow, fast) =
        if slower_second { (&compared.second, &compared.first) } else { (&compared.first, &compared.second) };
    let shift = compared.comparison.shift?;
    let (ratio, bound) = match shift.estimate {
        ShiftEstimate::Exactly(ratio) => (ratio, ""),
        ShiftEstimate::AtLeast(ratio) | ShiftEstimate::AtMost(ratio) => (ratio, "at least "),
        ShiftEstimate::Unknown => return None,
    };
    let ratio = if slower_second { ratio } else { 1.0 / ratio };
    // Two places are hardly ever equal: only what is felt is told.
    if ratio.is_nan() || ratio < 1.2 {
        return None;
    }
    let (slow_name, fast_name) = (names.series(slow), names.series(fast));
    let sentence =
        format!("{slow_name} takes {bound}{} times as long as {fast_name}.", factor_in_words(ratio));
    let advice =
        "The report shows both distributions; compare times in which both were watched before deciding.";
    let finding = HistoryFinding::new(FindingKind::Comparison, Severity::Note, sentence, advice);
    let other = SeriesKey { task: String::new(), ..fast.clone() };
    let together = bound.is_empty().then(|| Saying {
        pattern: format!("{{series}} take {{range}} times as long as{}", names.place(&other)),
        subjects: vec![slow.clone()],
        amounts: vec![ratio],
        unit: SayingUnit::Factor,
        detail: task(slow),
    });
    Some(finding.of([slow, fast]).sized(ratio).saying(together))
}

#[cfg(test)]
mod tests {
    use iolag_model::{HistoryColumns, Outage, Outcome, ProbeId, Series, WallTime};

    use super::*;
    use crate::history::made_up_series::{columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};
    use crate::statistics::noise::Noise;

    /// Two weeks of quarter hours of an imported `list`, which takes 30 s and more at these slots.
    fn imported(target: &str, seed: u64, slow: &[i64]) -> (Series, HistoryColumns) {
        let mut noise = Noise::new(seed);
        let columns = columns_of((0..1344).map(|slot| {
            let usual = 200.0 * (0.3 * noise.normal()).exp();
            let milliseconds = if slow.contains(&slot) { 150.0 * usual } else { usual };
            (slot * 900, milliseconds as u64, Outcome::Ok)
        }));
        (Series { kind: SeriesKind::ImportedDuration, ..series_of(target, "list") }, columns)
    }

    #[test]
    fn a_place_that_hangs_is_not_quicker_than_one_that_answers() {
        let mut noise = Noise::new(3);
        let mut usual = |milliseconds: f64| -> u64 { (milliseconds * (0.2 * noise.normal()).exp()) as u64 };
        let live = columns_of((0..80).map(|slot| (slot * 5, usual(450.0), Outcome::Ok)));
        let frozen = |hung: Option<ProbeId>, usual: &mut dyn FnMut(f64) -> u64| {
            let mut columns = columns_of((0..80).map(|slot| match slot < 30 || hung.is_none() {
                true => (slot * 5, usual(10.0), Outcome::Ok),
                false => (slot * 5, 0, Outcome::Skipped),
            }));
            columns.blocker[30..].fill(hung.unwrap_or_default());
            columns
        };
        let outage = Outage {
            kind: Default::default(),
            targets: Default::default(),
            host: series_of("/frozen", "create").key.host,
            mount: "/frozen".to_owned(),
            probe: ProbeId(99),
            begin: WallTime::from_seconds(149),
            end: None,
            ending: None,
            skipped: 50,
        };
        let mut praises = |hung: Option<ProbeId>| {
            let input = HistoryInput {
                series: vec![
                    (series_of("/live", "create"), live.clone()),
                    (series_of("/frozen", "create"), frozen(hung, &mut usual)),
                ],
                outages: hung.map(|_| outage.clone()).into_iter().collect(),
                ..HistoryInput::default()
            };
            let findings = analyse_history(&input, &HistoryOptions::default()).findings;
            let sentences: Vec<String> = findings.into_iter().map(|one| one.finding.sentence).collect();
            sentences.iter().any(|sentence| sentence.starts_with("`create` on /live takes"))
        };
        assert!(praises(None), "a quicker place is told as such");
        assert!(!praises(Some(ProbeId(99))));
    }

    fn no_correlation_of(series: Vec<(Series, HistoryColumns)>) -> String {
        let input = HistoryInput { series, ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        let found = findings.into_iter().find(|one| one.finding.kind == FindingKind::NoCorrelation);
        found.map_or_else(String::new, |one| one.finding.sentence)
    }

    #[test]
    fn what_follows_another_goes_with_it() {
        let mut noise = Noise::new(6);
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
    fn what_two_hosts_see_at_once_may_be_a_job_on_both() {
        let bad: Vec<i64> = (100..124).collect();
        let series = [("here", 1), ("there", 2)].map(|(host, seed)| {
            let (mut series, columns) = imported("/home", seed, &bad);
            series.key.host = host.to_owned();
            (series, columns)
        });
        let input = HistoryInput { series: series.into(), ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        let found = findings.into_iter().find(|one| one.finding.kind == FindingKind::BadTogether);
        let found = found.expect("they were bad together").finding;
        let begin = "/home from here and /home from there were bad at the same time: ";
        assert!(found.sentence.starts_with(begin), "{}", found.sentence);
        assert!(found.advice.contains("jobs that run on both"), "{}", found.advice);
    }

    #[test]
    fn memory_that_was_not_measured_in_bad_times_says_nothing_of_them() {
        let told = |slots: usize| {
            let bad: Vec<i64> = [300, 500, 700, 900].iter().flat_map(|begin| *begin..begin + 4).collect();
            let (_, columns) = imported("memory", 3, &[]);
            let control = Series { kind: SeriesKind::Control, ..series_of("memory", "list") };
            let columns = columns.rows(&(0..slots).collect::<Vec<_>>());
            let series = vec![imported("/home", 1, &bad), (control, columns)];
            let input = HistoryInput { series, ..HistoryInput::default() };
            let findings = analyse_history(&input, &HistoryOptions::default()).findings;
            let found = findings.into_iter().find(|one| one.finding.kind == FindingKind::HostSlow);
            found.map(|one| one.finding.sentence)
        };
        assert_eq!(told(96), None);
        assert!(told(1344).is_some_and(|sentence| sentence.starts_with("In none of 4 bad times did a task")));
    }

    #[test]
    fn a_common_incident_is_told_and_in_few_days_that_they_are_few() {
        let told = |slots: usize| {
            let bad: Vec<i64> = (100..124).collect();
            let mut series = vec![imported("/home", 1, &bad), imported("/scratch", 2, &bad)];
            series
                .iter_mut()
                .for_each(|(_, columns)| *columns = columns.rows(&(0..slots).collect::<Vec<_>>()));
            let input = HistoryInput { series, ..HistoryInput::default() };
            let findings = analyse_history(&input, &HistoryOptions::default()).findings;
            let found = findings.into_iter().find(|one| one.finding.kind == FindingKind::BadTogether);
            found.map_or_else(String::new, |one| one.finding.sentence)
        };
        let (few, many) = (told(300), told(672));
        let doubt = "); the record is too short to tell that from the time of day.";
        assert!(few.contains("by chance it would be ") && few.ends_with(doubt), "{few}");
        assert!(many.contains("at the same time") && !many.contains("too short"), "{many}");
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
