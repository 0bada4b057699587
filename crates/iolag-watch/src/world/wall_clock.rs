//! The wall clock of a running watch, and what is said when it or the machine made a jump.
//!
//! Durations, deadlines and the grid of rounds are monotonic, so a jump moves none of them. Wall-clock times are read anew for each
//! probe. Every reading is compared with the one before: a jump is an event, and the round under way is told by the new clock from
//! there on, so that no probe starts before it was due.

use iolag_model::{Anchor, Clock, MonotonicClock, MonotonicTime, Nanoseconds, WallTime};

use crate::world::clocks::{ClockChange, ClockWatch};

/// Readings of three clocks that took longer are taken again: a watch that was held up in between would see a jump.
const READING_MAX: Nanoseconds = Nanoseconds::from_milliseconds(10);
const READINGS_MAX: u32 = 5;

/// The wall clock, and the round under way by it.
pub(crate) struct WallClock<'a> {
    anchors: &'a dyn Fn() -> Anchor,
    clocks: ClockWatch,
    round_begin: MonotonicTime,
    round_intended: WallTime,
}

/// A jump of the wall clock or of the machine.
pub(crate) struct Jump {
    /// By the clock before it.
    pub begin: WallTime,
    /// Absent if it took no time.
    pub end: Option<WallTime>,
    /// In a sentence.
    pub text: String,
}

impl<'a> WallClock<'a> {
    /// Reads the clocks for the first time; a round counts as begun.
    pub fn new(anchors: &'a dyn Fn() -> Anchor) -> Self {
        let anchor = anchors();
        let (round_begin, round_intended) = (anchor.monotonic_ns, WallTime(anchor.realtime_ns as i64));
        Self { anchors, clocks: ClockWatch::new(anchor), round_begin, round_intended }
    }

    /// The last reading that was compared with the one before.
    pub const fn last(&self) -> Anchor {
        self.clocks.last()
    }

    /// A reading that is compared with none.
    pub fn peek(&self) -> Anchor {
        (self.anchors)()
    }

    /// The clocks now, and the jumps since the last reading.
    pub fn look(&mut self) -> (Anchor, Vec<Jump>) {
        let anchor = self.read();
        let begin = WallTime(self.clocks.last().realtime_ns as i64);
        let changes = self.clocks.look(anchor);
        if !changes.is_empty() {
            self.round_intended = wall_of(anchor, self.round_begin);
        }
        let jump = |change: ClockChange| Jump {
            begin,
            end: match change {
                ClockChange::Suspended(_) => Some(begin.max(WallTime(anchor.realtime_ns as i64))),
                ClockChange::Stepped(_) => None,
            },
            text: change.to_string(),
        };
        (anchor, changes.into_iter().map(jump).collect())
    }

    /// A round began whose place in the grid is `begin`.
    pub fn round_began(&mut self, begin: MonotonicTime, anchor: Anchor) {
        self.round_begin = begin;
        self.round_intended = wall_of(anchor, begin);
    }

    /// When the round under way was to begin.
    pub const fn round_intended(&self) -> WallTime {
        self.round_intended
    }

    /// A reading during which nothing held the watch up.
    fn read(&self) -> Anchor {
        let mut anchor = self.peek();
        for _ in 1..READINGS_MAX {
            if MonotonicClock.now().since(anchor.monotonic_ns) <= READING_MAX {
                break;
            }
            anchor = self.peek();
        }
        anchor
    }
}

fn wall_of(anchor: Anchor, moment: MonotonicTime) -> WallTime {
    WallTime(anchor.realtime_of(moment) as i64)
}
