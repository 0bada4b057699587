//! Clocks that were stepped and machines that slept, seen by comparing three clocks from time to time.

use iolag_model::{Anchor, Nanoseconds};

/// Below this nothing is said, in seconds: readings are not simultaneous, and clocks are slewed.
const THRESHOLD: Nanoseconds = Nanoseconds::from_seconds(1);
/// NTP slews by at most 500 ppm; this share of the time between two readings is taken for slewing.
const SLEW_PARTS_PER_MILLION: u64 = 1000;

/// Compares each reading with the one before.
#[derive(Debug, Clone)]
pub struct ClockWatch {
    last: Anchor,
}

/// Something that durations do not show and wall-clock times do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockChange {
    /// The wall clock was set, by this many nanoseconds (negative: back).
    Stepped(i64),
    /// The machine was suspended for this long.
    Suspended(Nanoseconds),
}

impl ClockWatch {
    /// From this reading on.
    pub const fn new(first: Anchor) -> Self {
        Self { last: first }
    }

    /// The last reading.
    pub const fn last(&self) -> Anchor {
        self.last
    }

    /// What happened between the last reading and this one.
    pub fn look(&mut self, now: Anchor) -> Vec<ClockChange> {
        let last = std::mem::replace(&mut self.last, now);
        let monotonic = now.monotonic_ns.since(last.monotonic_ns).0;
        let boottime = now.boottime_ns.saturating_sub(last.boottime_ns);
        let mut changes = Vec::new();
        let asleep = boottime.saturating_sub(monotonic);
        if asleep >= THRESHOLD.0 {
            changes.push(ClockChange::Suspended(Nanoseconds(asleep)));
        }
        let realtime = i128::from(now.realtime_ns) - i128::from(last.realtime_ns);
        let stepped = realtime - i128::from(boottime);
        let slewed = boottime / 1_000_000 * SLEW_PARTS_PER_MILLION;
        if stepped.unsigned_abs() >= u128::from(THRESHOLD.0.max(slewed)) {
            changes.push(ClockChange::Stepped(stepped.clamp(i64::MIN.into(), i64::MAX.into()) as i64));
        }
        changes
    }
}

impl std::fmt::Display for ClockChange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stepped(by) => {
                let direction = if *by < 0 { "back" } else { "forward" };
                write!(formatter, "the wall clock was set {direction} by {}", Nanoseconds(by.unsigned_abs()))
            }
            Self::Suspended(time) => write!(formatter, "the machine was suspended for {time}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::MonotonicTime;

    const SECOND: u64 = 1_000_000_000;

    fn anchor(monotonic: u64, boottime: u64, realtime: u64) -> Anchor {
        let [monotonic, boottime, realtime] = [monotonic, boottime, realtime].map(|seconds| seconds * SECOND);
        Anchor { monotonic_ns: MonotonicTime(monotonic), boottime_ns: boottime, realtime_ns: realtime }
    }

    #[test]
    fn steps_and_suspends_are_told_apart() {
        let mut watch = ClockWatch::new(anchor(100, 100, 5000));
        assert_eq!(watch.look(anchor(160, 160, 5060)), []);
        assert_eq!(watch.look(anchor(161, 161, 8661)), [ClockChange::Stepped(3600 * SECOND as i64)]);
        assert_eq!(watch.look(anchor(162, 162, 5062)), [ClockChange::Stepped(-3600 * SECOND as i64)]);
        let night = Nanoseconds::from_seconds(500);
        assert_eq!(watch.look(anchor(163, 663, 5563)), [ClockChange::Suspended(night)]);
        assert_eq!(
            watch.look(anchor(164, 1164, 6000)),
            [ClockChange::Suspended(night), ClockChange::Stepped(-64 * SECOND as i64)]
        );
    }

    #[test]
    fn slewing_is_no_step() {
        let mut watch = ClockWatch::new(anchor(0, 0, 0));
        assert_eq!(watch.look(anchor(100_000, 100_000, 100_050)), []);
    }

    #[test]
    fn changes_are_said_in_words() {
        assert_eq!(ClockChange::Stepped(-2_000_000_000).to_string(), "the wall clock was set back by 2.00 s");
    }
}
