//! What changed with an event: the time before it against the time after it. Which events concern a series is
//! judged by [`crate::history::concerns`].

use iolag_model::{Event, Nanoseconds, WallSpan, WallTime};
use serde::{Deserialize, Serialize};

use crate::history::comparison::{Comparison, ComparisonOptions, compare_alike};
use crate::history::series::observations::{Observations, Weight};

/// Which time before and after an event is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct EventWindows {
    /// How much time before and after.
    pub length: Nanoseconds,
    /// How much time around the event is left out: events are often written down hours late.
    pub margin: Nanoseconds,
}

impl Default for EventWindows {
    /// Two weeks, so that every hour of the week occurs twice, and no margin.
    fn default() -> Self {
        Self { length: Nanoseconds::from_seconds(14 * 86_400), margin: Nanoseconds::ZERO }
    }
}

/// What changed with an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventEffect {
    /// The event.
    pub event: Event,
    /// The time before it that was looked at.
    pub before: WallSpan,
    /// The time after it that was looked at.
    pub after: WallSpan,
    /// Before (first) against after (second).
    pub comparison: Comparison,
}

/// Moments at which the level changed, or began to: those that the event may explain, and all others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChangesNearEvent {
    /// They lie near it. Events are often written down late, so the time between them and the event is on neither side.
    pub own: Vec<WallTime>,
    /// At the nearest of these a side ends.
    pub others: Vec<WallTime>,
}

/// Independent attempts that each side needs where the level changed near the event: that dependence is no difference was judged in all of the record then,
/// and an interval is wide enough for so few.
const CHANGED_ATTEMPTS: u64 = 5;

/// Compares before and after `event`. For an event that lasted, after is after its end.
pub fn event_effect<W: Weight>(
    observations: &Observations<W>,
    event: &Event,
    windows: &EventWindows,
    changes: &ChangesNearEvent,
    options: &ComparisonOptions,
) -> EventEffect {
    let end: WallTime = event.end.map_or(event.begin, |end| end.max(event.begin));
    let noted = (event.begin.before(windows.margin), end.after(windows.margin));
    let own = || changes.own.iter().copied();
    let until = own().fold(noted.0, WallTime::min);
    let from = own().fold(noted.1, WallTime::max);
    let earlier = changes.others.iter().copied().filter(|change| *change < until).max();
    let later = changes.others.iter().copied().filter(|change| *change > from).min();
    let begin = until.before(windows.length);
    let before = WallSpan { begin: earlier.map_or(begin, |change| change.max(begin)), end: until };
    let end = from.after(windows.length);
    let after = WallSpan { begin: from, end: later.map_or(end, |change| change.min(end)) };
    let attempts_least = if changes.own.is_empty() { options.attempts_least } else { CHANGED_ATTEMPTS };
    let options = ComparisonOptions { attempts_least, ..options.clone() };
    let comparison = compare_alike(&observations.within(before), &observations.within(after), &options);
    EventEffect { event: event.clone(), before, after, comparison }
}
