//! How many times as long something takes beside a load as before it.
//!
//! Attempts that follow each other share what the storage does at that moment, so what is compared is not they but eighths of either time: of
//! each its level, the middle of the means of a few attempts each, which a single slow one does not move. The interval is Welch's, of the
//! logarithms of these levels, at 99 %, since a run has many rows. It is of this run: whether it was the load, or chance, repetitions tell.

use iolag_model::Nanoseconds;
use serde::Serialize;

use crate::run::summary::Summary;
use crate::statistics::quantile::censored::QuantileValue;
use crate::statistics::runs::difference::RunDifference;
use crate::statistics::runs::log_range::LogRange;
use crate::statistics::runs::pairing::RunPairing;

/// Either time is cut into so many parts.
const PARTS: usize = 8;
/// Fewer say nothing of how far they scatter.
const PARTS_LEAST: usize = 4;
/// The interval misses the truth with this probability.
const LEVEL: f64 = 0.01;
/// What takes less than this longer nobody feels, ...
const TIMES_LEAST: f64 = 1.1;
/// ... nor what is longer by less than this: so much do caches and clocks of a processor make that has something else to do.
const LONGER_LEAST_NS: f64 = 50_000.0;
/// A wait of this length is felt by itself, ...
const STALL: Nanoseconds = Nanoseconds::from_milliseconds(100);
/// ... if it is so many times as long as the longest before.
const STALL_TIMES: u64 = 10;

/// How many times as long something takes as it did before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimesAsLong {
    /// The ratio of the levels.
    pub factor: f64,
    /// Its interval, of 99 %; absent if one of the times had too few attempts.
    pub interval: Option<[f64; 2]>,
    /// Whether it is that at least: the median lies among attempts that had not ended.
    pub is_at_least: bool,
    /// The level before, in ns.
    pub before_ns: f64,
}

impl TimesAsLong {
    /// Of what was felt at one time by what was felt before; `None` where nothing is known of one of them, or somebody hung for good and asked no more.
    pub(super) fn of(summary: &Summary, before: &Summary) -> Option<Self> {
        if summary.hung > 0 || before.hung > 0 {
            return None;
        }
        let [base, now] = [before, summary].map(levels);
        let pairing = RunPairing::Apart([base.clone(), now.clone()]);
        let difference = RunDifference::of(&pairing, 0.0)?;
        let is_told = base.len().min(now.len()) >= PARTS_LEAST;
        let interval = is_told.then(|| difference.interval_at(LEVEL));
        Some(Self {
            factor: difference.estimate().known()?.exp(),
            interval: interval.map(|interval| [interval.low().exp(), interval.high().exp()]),
            is_at_least: matches!(summary.durations.median.value, QuantileValue::AtLeast(_)),
            before_ns: LogRange::mean(&base).known()?.exp(),
        })
    }

    /// Whether it is shown to take longer, by more than this machine's own memory did meanwhile.
    pub(super) fn is_longer(&self, control: Option<&Self>) -> bool {
        let of_machine = control.map_or(0.0, |control| control.before_ns * (control.factor - 1.0)).max(0.0);
        let Some([low, _]) = self.interval else { return false };
        low > TIMES_LEAST && self.before_ns * (low - 1.0) > LONGER_LEAST_NS.max(2.0 * of_machine)
    }
}

/// The logarithms of the levels of equal parts of a time, in their order.
fn levels(summary: &Summary) -> Vec<LogRange> {
    let means = &summary.durations.part_means_ns;
    let parts = PARTS.min(means.len());
    let level = |part: usize| {
        let mut own = means[part * means.len() / parts..(part + 1) * means.len() / parts].to_vec();
        own.sort_by(f64::total_cmp);
        LogRange::exactly(own[own.len() / 2].max(1.0).ln())
    };
    (0..parts).map(level).collect()
}

/// Whether somebody waited much longer than anybody had before, and than anybody did in this machine's memory.
pub(super) fn is_stall(
    longest: QuantileValue,
    before: Option<QuantileValue>,
    control: Option<QuantileValue>,
) -> bool {
    let bound =
        |value: Option<QuantileValue>| value.and_then(QuantileValue::bound).unwrap_or(Nanoseconds::ZERO);
    let (longest, before, control) = (bound(Some(longest)), bound(before), bound(control));
    longest >= STALL
        && before > Nanoseconds::ZERO
        && longest.0 / STALL_TIMES >= before.0
        && longest.0 / 2 >= control.0
}
