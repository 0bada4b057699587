//! The times in which a run was in trouble, in words: where, when, what happened, and what took longest.

use iolag_analysis::figure::{Episode, RunFigures, TroubleCounts};
use iolag_model::{MonotonicTime, Nanoseconds, TargetIndex, counted, format_count, format_duration};

use super::numbers::{NOTHING, utc};

/// What people notice (Nielsen 1993, as the limits of a check).
pub(crate) const NOTICED: Nanoseconds = Nanoseconds::from_milliseconds(100);

/// What had not ended of the attempts in trouble.
pub(crate) const fn unended(troubles: &TroubleCounts) -> u64 {
    troubles.hung + troubles.timeout
}

/// Whether a target is one that was asked for, and not there to be compared with.
pub(crate) fn is_asked(figures: &RunFigures, target: TargetIndex) -> bool {
    figures.run.control != Some(target)
}

/// The episodes of the targets that were asked for.
pub(crate) fn asked(figures: &RunFigures) -> impl Iterator<Item = &Episode> {
    figures.episodes.iter().filter(|episode| is_asked(figures, episode.target))
}

/// The name of a target.
pub(crate) fn name(figures: &RunFigures, target: TargetIndex) -> &str {
    figures.run.targets.get(usize::from(target.0)).map_or(NOTHING, |target| &target.name)
}

/// The operation of a series.
fn operation(figures: &RunFigures, series: u16) -> &'static str {
    figures.series.get(usize::from(series)).map_or(NOTHING, |series| series.operation.name())
}

/// The operation of which attempts were in this trouble, if it is only one.
fn only_operation(
    figures: &RunFigures,
    episode: &Episode,
    of: fn(&TroubleCounts) -> u64,
) -> Option<&'static str> {
    let mut in_trouble = episode.series.iter().filter(|own| of(&own.troubles) > 0);
    let first = operation(figures, in_trouble.next()?.series);
    in_trouble.all(|own| operation(figures, own.series) == first).then_some(first)
}

/// Whether what took longest had not ended: it took at least so long.
pub(crate) fn has_not_ended(episode: &Episode) -> bool {
    episode.longest_wait_ns >= Some(episode.peak.duration_ns)
}

/// What was gravest, as in `stat on /home took at least 1 min 00 s`, or `3 stat on /home failed`.
pub(crate) fn gravest(figures: &RunFigures, episode: &Episode) -> String {
    let place = name(figures, episode.target);
    let failed = episode.troubles.failed;
    if unended(&episode.troubles) > 0 {
        let wait = format_duration(episode.longest_wait_ns.unwrap_or(episode.peak.duration_ns));
        let of_peak = has_not_ended(episode).then(|| operation(figures, episode.peak.series));
        let operation = of_peak.or_else(|| only_operation(figures, episode, unended));
        return format!("{} on {place} took at least {wait}", operation.unwrap_or("an attempt"));
    }
    if failed > 0 {
        let attempts = match only_operation(figures, episode, |troubles| troubles.failed) {
            Some(operation) => format!("{} {operation}", format_count(failed)),
            None => counted(failed, "attempt", "attempts"),
        };
        return format!("{attempts} on {place} failed{}", after_long(episode));
    }
    let (operation, took) =
        (operation(figures, episode.peak.series), format_duration(episode.peak.duration_ns));
    format!("{operation} on {place} took {took}")
}

/// As in `, after up to 3.00 s`: of failures alone that took as long as people notice.
fn after_long(episode: &Episode) -> String {
    let is_alone = count(episode.troubles) == episode.troubles.failed;
    match is_alone && episode.peak.duration_ns >= NOTICED {
        true => format!(", after up to {}", format_duration(episode.peak.duration_ns)),
        false => String::new(),
    }
}

/// What took longest, as in `stat ≥ 60.0 s` (it had not ended), `stat 1.20 s`, `stat failed after 3.00 s`.
pub(crate) fn longest(figures: &RunFigures, episode: &Episode) -> String {
    let how = match episode.troubles {
        troubles if count(troubles) == troubles.failed => "failed after ",
        _ if has_not_ended(episode) => "≥ ",
        _ => "",
    };
    format!("{} {how}{}", operation(figures, episode.peak.series), format_duration(episode.peak.duration_ns))
}

/// How many attempts were in trouble.
pub(crate) const fn count(troubles: TroubleCounts) -> u64 {
    let TroubleCounts { slow, late, failed, timeout, hung, skipped } = troubles;
    slow + late + failed + timeout + hung + skipped
}

/// How long it lasted.
pub(crate) const fn length(episode: &Episode) -> Nanoseconds {
    episode.end_ns.since(episode.begin_ns)
}

/// The wall clock of a moment in ns since 1970, if the run knows it.
pub(crate) fn realtime(figures: &RunFigures, moment: MonotonicTime) -> Option<u64> {
    let begin = figures.run.begin_realtime_ns?;
    // A trouble may have begun before the run's span.
    let (after, before) = (moment.since(figures.run.begin_ns), figures.run.begin_ns.since(moment));
    Some(begin.saturating_add(after.0).saturating_sub(before.0))
}

/// As in `2026-11-20 18:59:00`, in UTC; without a wall clock as in `3.00 s after the start`.
pub(crate) fn moment(figures: &RunFigures, at: MonotonicTime) -> String {
    match realtime(figures, at) {
        Some(realtime_ns) => utc(realtime_ns),
        None => format!("{} after the start", format_duration(at.since(figures.run.begin_ns))),
    }
}

/// As in `3 hung, 12 slow`, the gravest first.
pub(crate) fn kinds(troubles: TroubleCounts) -> String {
    let TroubleCounts { slow, late, failed, timeout, hung, skipped } = troubles;
    let kinds = [
        (hung, "hung"),
        (timeout, "timed out"),
        (failed, "failed"),
        (late, "late"),
        (skipped, "skipped"),
        (slow, "slow"),
    ];
    let told = kinds.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, kind)| format!("{} {kind}", format_count(*count))).collect();
    told.join(", ")
}
