//! Bad times that an incident report is about: outages, episodes that people notice, and raised levels.
//!
//! - An *episode* is noticed if an attempt did not end, or if several samples were bad and one of them took a second, failed or was
//!   skipped. One slow sample is a tail.
//! - What is slow for hours is no episode but a change of level, and one back. A level is *raised* if its median is a second or more, and
//!   at least twice that of the level from which it rose, until it falls below that.
//!
//! Limits: a series that was slow from the beginning has no raised level; the moments of a level are those of its first and last sample.

use iolag_model::{Nanoseconds, SeriesKey, WallSpan, WallTime};
use serde::Serialize;

use crate::history::analysis::HistoryAnalysis;
use crate::history::changes::change_point::ChangePoint;
use crate::history::changes::spells::spells_of;
use crate::history::episodes::search::{Episode, SeriesEpisode};
use crate::history::input::HistoryInput;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::timed_values::Quantity;
use crate::statistics::knowledge::Knowledge;

/// What takes at least so long is noticed, in seconds.
const NOTICED_SECONDS: f64 = 1.0;

/// A level this many times the usual one is raised.
const RAISED_RATIO: f64 = 2.0;

/// A time in which a series was on a raised level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RaisedLevel {
    /// Which series.
    pub series: SeriesKey,
    /// When its first sample was taken.
    pub begin: WallTime,
    /// When its last sample had ended, as its median says.
    pub end: WallTime,
    /// Whether it had not fallen again.
    pub is_ongoing: bool,
    /// Median before it rose, in seconds.
    pub usual: f64,
    /// How much is known of it.
    pub usual_is: Knowledge,
    /// Greatest median of it, in seconds.
    pub raised: f64,
    /// How much is known of it.
    pub raised_is: Knowledge,
}

/// Bad times and what they are made of.
#[derive(Debug)]
pub(crate) struct BadTimes {
    /// In the order of time, disjoint.
    pub(crate) spans: Vec<WallSpan>,
    /// Whether the last one lasts.
    pub(crate) is_ongoing: bool,
    /// Places of noticed episodes in the analysis.
    pub(crate) episodes: Vec<usize>,
    pub(crate) raised_levels: Vec<RaisedLevel>,
}

impl BadTimes {
    pub(crate) fn of(input: &HistoryInput, analysis: &HistoryAnalysis) -> Self {
        let until = known_until(input);
        let is_told = |index: &usize| is_noticed(&analysis.episodes[*index]);
        let episodes: Vec<usize> = (0..analysis.episodes.len()).filter(is_told).collect();
        let raised_levels: Vec<RaisedLevel> =
            analysis.series.iter().flat_map(|one| raised_levels(one, until)).collect();
        let of_outages = input.outages.iter().map(|outage| {
            let end = outage.end.unwrap_or_else(|| until.max(outage.begin));
            (WallSpan { begin: outage.begin, end: end.max(outage.begin) }, outage.end.is_none())
        });
        let of_episodes = episodes.iter().map(|index| {
            let episode = &analysis.episodes[*index];
            (WallSpan { begin: episode.begin, end: episode.end }, episode.is_ongoing)
        });
        let of_levels = raised_levels
            .iter()
            .map(|level| (WallSpan { begin: level.begin, end: level.end }, level.is_ongoing));
        let (spans, is_ongoing) = joined(of_outages.chain(of_episodes).chain(of_levels).collect());
        Self { spans, is_ongoing, episodes, raised_levels }
    }
}

fn is_noticed(episode: &Episode) -> bool {
    let samples: u64 = episode.series.iter().map(SeriesEpisode::samples).sum();
    let is_long = |one: &SeriesEpisode| one.peak.is_some_and(|peak| peak >= NOTICED_SECONDS);
    let has_no_answer = |one: &SeriesEpisode| one.failed + one.skipped > 0;
    episode.series.iter().any(|one| one.unfinished + one.late > 0)
        || (samples > 1 && episode.series.iter().any(|one| is_long(one) || has_no_answer(one)))
}

fn raised_levels(one: &SeriesAnalysis, until: WallTime) -> Vec<RaisedLevel> {
    let key = &one.summary.series.key;
    let mut found: Vec<RaisedLevel> = Vec::new();
    if one.summary.quantity != Quantity::Duration || !key.part.is_empty() {
        return found;
    }
    let mut is_raised = false;
    let spells = spells_of(&one.changes);
    for (index, change) in one.changes.iter().enumerate() {
        match found.last_mut().filter(|_| is_raised) {
            Some(level) if change.median_after < RAISED_RATIO * level.usual => {
                level.end = change.last_before.after(seconds(change.median_before));
                is_raised = false;
            }
            Some(level) if change.median_after > level.raised => {
                (level.raised, level.raised_is) = (change.median_after, change.median_after_is);
            }
            Some(_) => {}
            // What ends a good spell raises nothing.
            None if rises(change) && !spells.iter().any(|begin| begin + 1 == index) => {
                is_raised = true;
                found.push(RaisedLevel {
                    series: key.clone(),
                    begin: change.first_after,
                    end: until.max(change.first_after),
                    is_ongoing: false,
                    usual: change.median_before,
                    usual_is: change.median_before_is,
                    raised: change.median_after,
                    raised_is: change.median_after_is,
                });
            }
            None => {}
        }
    }
    if let Some(level) = found.last_mut() {
        level.is_ongoing = is_raised;
    }
    found
}

fn rises(change: &ChangePoint) -> bool {
    change.median_after >= NOTICED_SECONDS && change.median_after >= RAISED_RATIO * change.median_before
}

fn seconds(seconds: f64) -> Nanoseconds {
    Nanoseconds((seconds.max(0.0) * 1e9) as u64)
}

/// The last moment of which some sample tells.
fn known_until(input: &HistoryInput) -> WallTime {
    let ends = input.series.iter().flat_map(|(_, columns)| {
        (0..columns.len()).map(|row| columns.start[row].after(columns.duration_ns[row]))
    });
    ends.max().unwrap_or_default()
}

/// Spans joined where they overlap, and whether the last one lasts. Each comes with whether it lasts.
fn joined(mut all: Vec<(WallSpan, bool)>) -> (Vec<WallSpan>, bool) {
    all.sort_by_key(|(span, _)| (span.begin, span.end));
    let mut joined: Vec<WallSpan> = Vec::new();
    for (span, _) in &all {
        match joined.last_mut() {
            Some(last) if span.begin <= last.end => last.end = last.end.max(span.end),
            _ => joined.push(*span),
        }
    }
    let is_ongoing = joined
        .last()
        .is_some_and(|last| all.iter().any(|(span, is_ongoing)| *is_ongoing && span.begin >= last.begin));
    (joined, is_ongoing)
}

#[cfg(test)]
mod tests {
    use iolag_model::Outcome;
    use proptest::prelude::*;

    use super::*;
    use crate::history::{HistoryOptions, analyse_history};
    use iolag_fixtures::made_up_series::{DAY, columns_of, levels, series_of};

    #[test]
    fn what_ends_a_good_spell_raises_nothing() {
        let raised = |usual: f64, spell: f64| {
            let level = |slot| if (20 * DAY..22 * DAY).contains(&slot) { spell } else { usual };
            let input = HistoryInput { series: vec![levels(30 * DAY, level)], ..HistoryInput::default() };
            let analysis = analyse_history(&input, &HistoryOptions::default());
            raised_levels(&analysis.series[0], WallTime(0)).len()
        };
        assert_eq!((raised(2.0, 0.3), raised(0.3, 2.0)), (0, 1));
    }

    #[test]
    fn a_level_at_which_nothing_ended_is_a_bound() {
        let columns = columns_of((0..28 * DAY).map(|slot| match slot {
            ..1344 => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
            _ => (slot * 900, 60_000, Outcome::Timeout),
        }));
        let input =
            HistoryInput { series: vec![(series_of("/home", "list"), columns)], ..HistoryInput::default() };
        let analysis = analyse_history(&input, &HistoryOptions::default());
        let [level] = &raised_levels(&analysis.series[0], WallTime(0))[..] else { panic!("one level") };
        assert_eq!((level.raised, level.raised_is), (60.0, Knowledge::AtLeast));
        assert_eq!(level.usual_is, Knowledge::Exactly);
    }

    fn spans(all: &[(i64, i64)]) -> Vec<(WallSpan, bool)> {
        let span = |&(begin, end): &(i64, i64)| WallSpan { begin: WallTime(begin), end: WallTime(end) };
        all.iter().map(|one| (span(one), false)).collect()
    }

    #[test]
    fn what_overlaps_is_one() {
        let (joined, is_ongoing) = joined(spans(&[(30, 40), (1, 5), (5, 9), (2, 3)]));
        let ends: Vec<_> = joined.iter().map(|span| (span.begin.0, span.end.0)).collect();
        assert_eq!((ends, is_ongoing), (vec![(1, 9), (30, 40)], false));
    }

    #[test]
    fn only_the_last_can_last() {
        let mut all = spans(&[(1, 5), (30, 40), (32, 35)]);
        all[0].1 = true;
        assert!(!joined(all.clone()).1);
        all[2].1 = true;
        assert!(joined(all).1);
    }

    proptest! {
        #[test]
        fn joined_spans_are_disjoint_and_cover_the_same(
            all in proptest::collection::vec((0_i64..200, 0_i64..30), 0..20),
            moment in 0_i64..240,
        ) {
            let all: Vec<_> = all.into_iter().map(|(begin, length)| (begin, begin + length)).collect();
            let (joined, _) = joined(spans(&all));
            prop_assert!(joined.windows(2).all(|pair| pair[0].end < pair[1].begin));
            let is_in = all.iter().any(|(begin, end)| (*begin..=*end).contains(&moment));
            let is_in_joined = joined.iter().any(|span| (span.begin.0..=span.end.0).contains(&moment));
            prop_assert_eq!(is_in, is_in_joined);
        }
    }
}
