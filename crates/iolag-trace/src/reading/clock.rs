//! Times since the beginning of the trace, from whatever column the text has.

use iolag_model::Nanoseconds;

use crate::text::moment::{Moment, SECOND};

const DAY: u64 = 86_400 * SECOND;

/// What the times of a trace are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clockwork {
    /// There are none: only the order is known.
    #[default]
    None,
    /// The time of some day, in some zone (`-t`, `-tt`).
    OfDay,
    /// The time since 1970 (`-ttt`).
    Unix,
    /// What passed from line to line (`-r`).
    SinceLast,
}

/// The clock of a text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock {
    clockwork: Clockwork,
    first: u64,
    last: u64,
    days: u64,
}

impl Clock {
    /// The time of a line since the first that had one; of a line without, that of the line before.
    pub(super) fn at(&mut self, moment: Option<Moment>) -> Nanoseconds {
        let Some(moment) = moment else { return Nanoseconds(self.last.saturating_sub(self.first)) };
        let (clockwork, time) = match moment {
            Moment::Unix(time) => (Clockwork::Unix, time),
            Moment::OfDay(time) => (Clockwork::OfDay, self.over_midnight(time)),
            Moment::SinceLast(time) => (Clockwork::SinceLast, self.last.saturating_add(time)),
        };
        if self.clockwork == Clockwork::None {
            self.clockwork = clockwork;
            self.first = time;
        }
        self.last = time;
        Nanoseconds(time.saturating_sub(self.first))
    }

    /// Time that went back by more than half a day passed midnight; by less, the lines are not in order.
    fn over_midnight(&mut self, time: u64) -> u64 {
        if self.clockwork == Clockwork::None {
            return time;
        }
        let mut time = self.days * DAY + time;
        if time + DAY / 2 < self.last {
            self.days += 1;
            time += DAY;
        } else if self.days > 0 && time > self.last + DAY / 2 {
            time -= DAY;
        }
        time
    }

    /// So late it was, in ns since 1970, when the text ended; where its times are of another kind that says nothing.
    pub(super) fn ended(&mut self, realtime_ns: u64) {
        if self.clockwork == Clockwork::Unix {
            self.last = self.last.max(realtime_ns);
        }
    }

    /// What its times are made of.
    pub(super) const fn clockwork(&self) -> Clockwork {
        self.clockwork
    }

    /// When the trace began, in ns since 1970, if the text says so.
    pub(super) fn began(&self) -> Option<u64> {
        (self.clockwork == Clockwork::Unix).then_some(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(moments: &[Moment]) -> Vec<u64> {
        let mut clock = Clock::default();
        moments.iter().map(|moment| clock.at(Some(*moment)).0).collect()
    }

    #[test]
    fn times_count_from_the_first() {
        assert_eq!(
            times(&[Moment::Unix(50), Moment::Unix(70), Moment::Unix(60), Moment::Unix(40)]),
            [0, 20, 10, 0]
        );
        assert_eq!(times(&[Moment::SinceLast(0), Moment::SinceLast(5), Moment::SinceLast(7)]), [0, 5, 12]);
        let mut clock = Clock::default();
        clock.at(Some(Moment::Unix(50)));
        clock.at(Some(Moment::Unix(70)));
        assert_eq!((clock.at(None), clock.began()), (Nanoseconds(20), Some(50)));
        clock.ended(60);
        assert_eq!(clock.at(None), Nanoseconds(20), "it was later already");
        clock.ended(90);
        assert_eq!(clock.at(None), Nanoseconds(40));
        let mut others = Clock::default();
        others.at(Some(Moment::OfDay(5)));
        others.ended(1_700_000_000 * SECOND);
        assert_eq!(others.at(None), Nanoseconds(0));
    }

    #[test]
    fn midnight_is_passed_and_lines_out_of_order_pass_none() {
        let at = |seconds: u64| Moment::OfDay(seconds * SECOND);
        let seconds =
            |moments: &[Moment]| -> Vec<u64> { times(moments).iter().map(|time| time / SECOND).collect() };
        assert_eq!(seconds(&[at(86_390), at(86_399), at(1), at(86_399), at(2)]), [0, 9, 11, 9, 12]);
        assert_eq!(seconds(&[at(86_390), at(0), at(86_390), at(5)]), [0, 10, 0, 15]);
        assert_eq!(seconds(&[at(10), at(5), at(11)]), [0, 0, 1]);
    }
}
