//! Episodes: times in which a series was bad, and which series were bad together.
//!
//! A slot that was skipped because another series hung says nothing of its own: it is neither good nor bad.
//! Any other sample is bad if it was skipped, timed out, hung or failed, or if it took longer than the limit. The limit is what the user
//! says, or else the far fence of Tukey 1977 on logarithms (upper quartile + 3 interquartile ranges, at least three times the upper quartile)
//! between two changes of level, so that a new level is no endless episode; and never below 0.1 s, which nobody feels. Bad samples
//! with at most one good one between them are one episode. A time without samples ends it.
//!
//! Limits: an episode begins with the first bad sample, so it may have begun up to one period earlier; it ends with the end of the last bad
//! one.

use iolag_model::{HistoryColumns, Nanoseconds, Outage, Outcome, Series, SeriesKey, WallTime};
use serde::{Deserialize, Serialize};

use crate::history::changes::change_point::{ChangePoint, segments_of};
use crate::history::series::timed_values::{Quantity, TimedValues, usual_spacing};
use crate::history::source::blockers_asked;
use crate::statistics::knowledge::Knowledge;
use crate::statistics::ranking::ascending;

/// What counts as bad.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpisodeOptions {
    /// Longer than this is bad; absent: by the fence.
    pub limit_ns: Option<Nanoseconds>,
    /// The fence is never below this.
    pub fence_ns_min: Nanoseconds,
    /// Good samples that do not end an episode.
    pub good_between_max: usize,
}

impl Default for EpisodeOptions {
    fn default() -> Self {
        Self { limit_ns: None, fence_ns_min: Nanoseconds::from_milliseconds(100), good_between_max: 1 }
    }
}

/// A time in which one series was bad.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesEpisode {
    /// Which one.
    pub series: SeriesKey,
    /// Start of the first bad sample.
    pub begin: WallTime,
    /// End of the last bad sample as far as it is known.
    pub end: WallTime,
    /// Whether it had not ended when the series was last looked at.
    pub is_ongoing: bool,
    /// Bad attempts that took too long.
    pub slow: u64,
    /// Of these, the ones that ended after their deadline.
    pub late: u64,
    /// Bad attempts that did not end: timed out or hung.
    pub unfinished: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Slots that were skipped.
    pub skipped: u64,
    /// The longest duration in seconds; absent if nothing but failures and skipped slots is known.
    pub peak: Option<f64>,
    /// How much is known of it.
    pub peak_is: Knowledge,
}

/// A time in which one or more series of a host were bad.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Which host.
    pub host: String,
    /// The first begin.
    pub begin: WallTime,
    /// The last end.
    pub end: WallTime,
    /// Whether one of them had not ended.
    pub is_ongoing: bool,
    /// Which series, and how bad, in the order of their begins; a series that was good in between is there several times.
    pub series: Vec<SeriesEpisode>,
}

impl Episode {
    /// Its series, each once.
    pub(crate) fn keys(&self) -> Vec<&SeriesKey> {
        let mut keys: Vec<&SeriesKey> = Vec::new();
        for one in &self.series {
            if !keys.contains(&&one.series) {
                keys.push(&one.series);
            }
        }
        keys
    }

    /// Whether it is nothing but these outages: each of its series is of a target that one of them concerns at that time.
    pub fn is_of_outages(&self, outages: &[Outage]) -> bool {
        let is_at_that_time =
            |outage: &&Outage| outage.begin <= self.end && outage.end.is_none_or(|end| self.begin <= end);
        self.keys().into_iter().all(|key| {
            outages.iter().filter(is_at_that_time).any(|outage| outage.concerns(&key.host, &key.target))
        })
    }
}

/// Episodes of a series of durations in the order of time. `changes` are those of its durations.
pub fn find_episodes(
    series: &Series,
    columns: &HistoryColumns,
    changes: &[ChangePoint],
    options: &EpisodeOptions,
) -> Vec<SeriesEpisode> {
    let values = TimedValues::read(series, columns, Quantity::Duration);
    let limits = Limits::of(&values, changes, options);
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|row| columns.start[*row]);
    // Skipped slots are no values but show that somebody watched.
    let moments: Vec<WallTime> = order.iter().map(|row| columns.start[*row]).collect();
    let silence = Nanoseconds(4 * usual_spacing(&moments).unwrap_or(Nanoseconds::ZERO).0);

    let mut others = blockers_asked(columns);
    for probe in &columns.probe {
        others.remove(probe);
    }
    let mut episodes: Vec<SeriesEpisode> = Vec::new();
    let mut open = false;
    let (mut good, mut previous) = (0, None);
    for row in order {
        if matches!(columns.outcome[row], Outcome::Interrupted | Outcome::Retried) {
            // Neither good nor bad: it says nothing of the storage, or the attempt after it does.
            continue;
        }
        let start = columns.start[row];
        let is_silent = previous
            .is_some_and(|previous: WallTime| silence > Nanoseconds::ZERO && start.since(previous) > silence);
        previous = Some(start.max(start.after(columns.duration_ns[row])));
        if is_silent {
            open = false;
        }
        if columns.outcome[row] == Outcome::Skipped && others.contains(&columns.blocker[row]) {
            continue;
        }
        if !is_bad(columns, row, limits.at(start)) {
            good += 1;
            open &= good <= options.good_between_max;
            if let Some(last) = episodes.last_mut() {
                last.is_ongoing = false;
            }
            continue;
        }
        good = 0;
        if !open {
            episodes.push(begun(series, start));
        }
        open = true;
        if let Some(episode) = episodes.last_mut() {
            episode.add(columns, row);
        }
    }
    episodes
}

/// Joins episodes of series of the same host that overlap, or are at most `apart_max` apart.
pub fn merge_episodes(mut episodes: Vec<SeriesEpisode>, apart_max: Nanoseconds) -> Vec<Episode> {
    episodes.sort_by(|one, other| {
        let order = |episode: &SeriesEpisode| (episode.begin, episode.end);
        let by_host = one.series.host.cmp(&other.series.host);
        by_host.then(order(one).cmp(&order(other))).then_with(|| one.series.cmp(&other.series))
    });
    let mut merged: Vec<Episode> = Vec::new();
    for episode in episodes {
        match merged.last_mut() {
            Some(last) if last.host == episode.series.host && episode.begin <= last.end.after(apart_max) => {
                last.end = last.end.max(episode.end);
                last.is_ongoing |= episode.is_ongoing;
                last.series.push(episode);
            }
            _ => merged.push(Episode {
                host: episode.series.host.clone(),
                begin: episode.begin,
                end: episode.end,
                is_ongoing: episode.is_ongoing,
                series: vec![episode],
            }),
        }
    }
    merged.sort_by_key(|episode| (episode.begin, episode.end));
    merged
}

fn begun(series: &Series, begin: WallTime) -> SeriesEpisode {
    SeriesEpisode {
        series: series.key.clone(),
        begin,
        end: begin,
        is_ongoing: false,
        slow: 0,
        late: 0,
        unfinished: 0,
        failed: 0,
        skipped: 0,
        peak: None,
        peak_is: Knowledge::Exactly,
    }
}

impl SeriesEpisode {
    fn add(&mut self, columns: &HistoryColumns, row: usize) {
        let (outcome, duration) = (columns.outcome[row], columns.duration_ns[row]);
        self.end = self.end.max(columns.start[row].after(duration));
        self.is_ongoing = matches!(outcome, Outcome::Hung | Outcome::Skipped);
        match outcome {
            Outcome::Ok => self.slow += 1,
            Outcome::Late => {
                self.slow += 1;
                self.late += 1;
            }
            Outcome::Timeout | Outcome::Hung => self.unfinished += 1,
            Outcome::Error => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
            Outcome::Interrupted | Outcome::Retried => {}
        }
        let knowledge = match outcome {
            Outcome::Error | Outcome::Skipped | Outcome::Interrupted | Outcome::Retried => return,
            _ if outcome.is_censored() => Knowledge::AtLeast,
            _ => Knowledge::Exactly,
        };
        if self.peak.is_none_or(|peak| duration.as_seconds() >= peak) {
            self.peak = Some(duration.as_seconds());
            self.peak_is = knowledge;
        }
    }

    /// Bad attempts and skipped slots.
    pub const fn samples(&self) -> u64 {
        self.slow + self.unfinished + self.failed + self.skipped
    }
}

fn is_bad(columns: &HistoryColumns, row: usize, limit_seconds: f64) -> bool {
    match columns.outcome[row] {
        Outcome::Timeout | Outcome::Hung | Outcome::Late | Outcome::Skipped | Outcome::Error => true,
        Outcome::Ok => columns.duration_ns[row].as_seconds() > limit_seconds,
        Outcome::Interrupted | Outcome::Retried => false,
    }
}

/// Limits in seconds, each from a moment on.
struct Limits(Vec<(WallTime, f64)>);

impl Limits {
    fn of(values: &TimedValues, changes: &[ChangePoint], options: &EpisodeOptions) -> Self {
        if let Some(limit) = options.limit_ns {
            return Self(vec![(WallTime(i64::MIN), limit.as_seconds())]);
        }
        let segments = segments_of(changes, values.len()).into_iter();
        let starts =
            std::iter::once(WallTime(i64::MIN)).chain(changes.iter().map(|change| change.first_after));
        let limits = starts.zip(segments).map(|(start, segment)| {
            let fence = fence_of(&values.part(segment.first, segment.end));
            (start, fence.max(options.fence_ns_min.as_seconds()))
        });
        Self(limits.collect())
    }

    fn at(&self, moment: WallTime) -> f64 {
        let passed = self.0.partition_point(|limit| limit.0 <= moment);
        self.0.get(passed.saturating_sub(1)).map_or(f64::INFINITY, |limit| limit.1)
    }
}

/// The far fence of the logarithms in seconds; infinite if a quartile had not ended, zero without values.
fn fence_of(values: &TimedValues) -> f64 {
    let order = ascending(&values.ordered());
    let quartile = |quarter: usize| values.at_rank(&order, (quarter * order.len()).div_ceil(4).max(1));
    match (quartile(1), quartile(3)) {
        (Some((low, Knowledge::Exactly | Knowledge::AtMost)), Some((high, known)))
            if known != Knowledge::AtLeast =>
        {
            let range = (high / low.max(1e-9)).max(1.0).ln();
            high * (3.0 * range).max(3.0_f64.ln()).exp()
        }
        (None, _) | (_, None) => 0.0,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::ProbeId;

    use super::*;
    use iolag_fixtures::made_up_series::{columns_of, series_of};

    const SLOT: i64 = 900;

    fn slots(rows: &[(u64, Outcome)]) -> HistoryColumns {
        let rows = rows.iter().enumerate();
        columns_of(rows.map(|(slot, (milliseconds, outcome))| (slot as i64 * SLOT, *milliseconds, *outcome)))
    }

    fn episodes(rows: &[(u64, Outcome)]) -> Vec<SeriesEpisode> {
        find_episodes(&series_of("/scratch", "list"), &slots(rows), &[], &EpisodeOptions::default())
    }

    fn quiet(n: usize) -> Vec<(u64, Outcome)> {
        (0..n).map(|slot| (20 + (slot as u64 * 7) % 11, Outcome::Ok)).collect()
    }

    #[test]
    fn a_hang_with_its_skipped_slots_is_one_episode() {
        let mut rows = quiet(100);
        rows[40] = (7_200_000, Outcome::Late);
        rows[41..48].fill((0, Outcome::Skipped));
        let found = episodes(&rows);
        assert_eq!(found.len(), 1, "{found:?}");
        let hang = &found[0];
        assert_eq!(
            (hang.begin, hang.end),
            (WallTime::from_seconds(40 * SLOT), WallTime::from_seconds(48 * SLOT))
        );
        assert_eq!((hang.slow, hang.skipped, hang.samples(), hang.peak), (1, 7, 8, Some(7200.0)));
        assert!(!hang.is_ongoing && hang.peak_is == Knowledge::Exactly);
    }

    #[test]
    fn slots_skipped_because_of_another_series_are_not_bad_of_this_one() {
        let mut rows = quiet(100);
        rows[40] = (7_200_000, Outcome::Late);
        rows[41..48].fill((0, Outcome::Skipped));
        rows[60..70].fill((0, Outcome::Skipped));
        let mut columns = slots(&rows);
        columns.probe = (1..=100).map(ProbeId).collect();
        columns.blocker[41..48].fill(ProbeId(41));
        columns.blocker[60..70].fill(ProbeId(777));
        let series = series_of("/live", "list");
        let found = find_episodes(&series, &columns, &[], &EpisodeOptions::default());
        assert_eq!(found.iter().map(SeriesEpisode::samples).collect::<Vec<_>>(), [8], "{found:?}");
    }

    #[test]
    fn what_has_not_ended_is_ongoing() {
        let mut rows = quiet(50);
        rows[48] = (900_000, Outcome::Hung);
        rows[49] = (0, Outcome::Skipped);
        let found = episodes(&rows);
        assert!(found[0].is_ongoing && found[0].peak_is == Knowledge::AtLeast, "{found:?}");
    }

    #[test]
    fn one_good_sample_does_not_end_a_storm_and_two_do() {
        let mut rows = quiet(100);
        for slot in [20, 21, 23, 30, 33] {
            rows[slot].0 = 9000;
        }
        let found = episodes(&rows);
        let sizes: Vec<u64> = found.iter().map(SeriesEpisode::samples).collect();
        assert_eq!(sizes, [3, 1, 1]);
        rows[60] = (3, Outcome::Error);
        assert_eq!(episodes(&rows)[3].failed, 1);
        assert!(episodes(&quiet(300)).is_empty());
    }

    #[test]
    fn a_limit_of_the_users_replaces_the_fence() {
        let options = EpisodeOptions {
            limit_ns: Some(Nanoseconds::from_milliseconds(29)),
            ..EpisodeOptions::default()
        };
        let found = find_episodes(&series_of("/home", "list"), &slots(&quiet(11)), &[], &options);
        assert_eq!(found.iter().map(SeriesEpisode::samples).sum::<u64>(), 1);
    }

    #[test]
    fn series_that_are_bad_together_are_one_episode() {
        let mut rows = quiet(100);
        rows[10].0 = 60_000;
        rows[50].0 = 60_000;
        let other: Vec<_> =
            rows.iter().map(|row| if row.0 > 1000 { (90_000, row.1) } else { *row }).collect();
        let mut all = episodes(&rows);
        all.extend(find_episodes(
            &series_of("/home", "list"),
            &slots(&other),
            &[],
            &EpisodeOptions::default(),
        ));
        let merged = merge_episodes(all, Nanoseconds::from_seconds(60));
        assert_eq!(merged.len(), 2);
        assert!(merged.iter().all(|episode| episode.series.len() == 2));
        assert_eq!(merged[0].end, WallTime::from_seconds(10 * SLOT + 90));
    }
}
