//! Hangs of a history as stretches of time, so that every figure of a place shows them, whatever task hung.

use std::collections::BTreeMap;

use iolag_model::{Outcome, SeriesKey, WallTime};
use serde::{Deserialize, Serialize};

use super::axis::HistoryAxis;
use crate::history::input::HistoryInput;

/// Hangs of one place closer together than so many of these in the whole are one.
const COLUMNS: u64 = 1600;

/// A stretch of time in which attempts on a target were past their deadlines, from the start of the first to the end of the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistoryHang {
    /// The host.
    pub host: String,
    /// The target.
    pub target: String,
    /// The task that hung longest.
    pub task: String,
    /// Start of the first attempt, by wall clock.
    pub begin_ns: i64,
    /// Until when it is known to have lasted, by wall clock.
    pub seen_ns: i64,
    /// Whether all had ended, or when the watch looked last one had not.
    pub state: HangState,
}

/// Whether a hang is known to be over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum HangState {
    /// All its attempts ended.
    Ended,
    /// One had not ended when it was looked at last.
    NotEnded,
}

/// The hangs of all targets, by host, target and time.
pub(crate) fn hangs(input: &HistoryInput, axis: &HistoryAxis) -> Vec<HistoryHang> {
    let mut by_place: BTreeMap<(&str, &str), Vec<HistoryHang>> = BTreeMap::new();
    for (series, columns) in &input.series {
        if !series.kind.is_duration() {
            continue;
        }
        let own = by_place.entry((&series.key.host, &series.key.target)).or_default();
        let rows = columns.outcome.iter().zip(&columns.start).zip(&columns.duration_ns);
        own.extend(rows.filter_map(|((outcome, start), duration)| {
            hang_of(&series.key, *outcome, (*start, start.after(*duration)))
        }));
    }
    let gap_ns = axis.span_ns / COLUMNS;
    by_place.into_values().flat_map(|hangs| joined(hangs, gap_ns)).collect()
}

fn hang_of(key: &SeriesKey, outcome: Outcome, (start, end): (WallTime, WallTime)) -> Option<HistoryHang> {
    let state = match outcome {
        Outcome::Hung => HangState::NotEnded,
        Outcome::Late | Outcome::Timeout => HangState::Ended,
        Outcome::Ok | Outcome::Error | Outcome::Skipped | Outcome::Interrupted | Outcome::Retried => {
            return None;
        }
    };
    Some(HistoryHang {
        host: key.host.clone(),
        target: key.target.clone(),
        task: key.task.clone(),
        begin_ns: start.0,
        seen_ns: end.0,
        state,
    })
}

fn joined(mut hangs: Vec<HistoryHang>, gap_ns: u64) -> Vec<HistoryHang> {
    hangs.sort_by_key(|hang| (hang.begin_ns, -hang.seen_ns));
    let mut joined: Vec<(HistoryHang, i64)> = Vec::new();
    for hang in hangs {
        let length = hang.seen_ns - hang.begin_ns;
        match joined.last_mut() {
            Some((all, longest)) if hang.begin_ns <= all.seen_ns.saturating_add_unsigned(gap_ns) => {
                if length > *longest {
                    (all.task, *longest) = (hang.task, length);
                }
                all.seen_ns = all.seen_ns.max(hang.seen_ns);
                all.state = all.state.max(hang.state);
            }
            _ => joined.push((hang, length)),
        }
    }
    joined.into_iter().map(|(hang, _)| hang).collect()
}
