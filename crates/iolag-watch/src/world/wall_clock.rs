//! Wall-clock moments of a running watch, and what is said when the wall clock or the machine made a jump.
//!
//! Durations, deadlines and the grid of rounds are monotonic, so a jump moves none of them. Wall-clock times are read anew for each
//! probe. Every reading is compared with the one before: a jump is an event, and the round under way is told by the new clock from
//! there on, so that no probe starts before it was due.

use iolag_model::{
    Anchor, Clock, EventSource, HistoryRecord, MonotonicClock, MonotonicTime, Nanoseconds, WallTime,
};

use crate::ClockChange;
use crate::run::running::Running;
use crate::world::configurations::event;

/// Readings of three clocks that took longer are taken again: a watch that was held up in between would see a jump.
const READING_MAX: Nanoseconds = Nanoseconds::from_milliseconds(10);
const READINGS_MAX: u32 = 5;

impl Running<'_> {
    /// The clocks now.
    pub fn anchor(&mut self) -> Anchor {
        let anchor = read(self.anchors);
        let before = self.clocks.last();
        let changes = self.clocks.look(anchor);
        if !changes.is_empty() {
            self.round_intended = wall_of(anchor, self.round_begin);
        }
        for change in changes {
            let begin = WallTime(before.realtime_ns as i64);
            let mut event =
                event(&self.plan.host, "", begin, EventSource::Watch, "clock", change.to_string());
            event.end = match change {
                ClockChange::Suspended(_) => Some(begin.max(WallTime(anchor.realtime_ns as i64))),
                ClockChange::Stepped(_) => None,
            };
            self.ledger.record(HistoryRecord::Event(event));
        }
        anchor
    }

    /// The wall clock now.
    pub fn wall(&mut self) -> WallTime {
        WallTime(self.anchor().realtime_ns as i64)
    }

    /// A round begins whose place in the grid is `begin`.
    pub fn round_began(&mut self, begin: MonotonicTime) {
        let anchor = self.anchor();
        self.round_begin = begin;
        self.round_intended = wall_of(anchor, begin);
    }

    /// When this boot began, by the wall clock of now.
    pub fn booted(&mut self) -> WallTime {
        let anchor = self.anchor();
        WallTime(anchor.realtime_ns.saturating_sub(anchor.boottime_ns) as i64)
    }
}

fn wall_of(anchor: Anchor, moment: MonotonicTime) -> WallTime {
    WallTime(anchor.realtime_of(moment) as i64)
}

/// A reading during which nothing held the watch up.
fn read(anchors: &dyn Fn() -> Anchor) -> Anchor {
    let mut anchor = anchors();
    for _ in 1..READINGS_MAX {
        if MonotonicClock.now().since(anchor.monotonic_ns) <= READING_MAX {
            break;
        }
        anchor = anchors();
    }
    anchor
}
