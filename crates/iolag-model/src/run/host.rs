//! Hosts of a run besides the first, and how their clocks and the first one's belong together.

use serde::{Deserialize, Serialize};

use super::environment::{Calibration, Environment, MemoryState};
use crate::{Anchor, MonotonicTime, Nanoseconds};

/// A further host of a run. Its samples have its own monotonic clock until they are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// The machine.
    pub environment: Environment,
    /// Load and memory before.
    pub before: MemoryState,
    /// Load and memory after; absent if the run did not get there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<MemoryState>,
    /// Its clocks at start, now and then, and at the end.
    pub anchors: Vec<Anchor>,
    /// What measuring costs there.
    pub calibration: Calibration,
    /// Its monotonic clock against the first host's, in the order of time. None: it is the same clock.
    pub offsets: Vec<ClockOffset>,
}

/// How far the monotonic clock of a host was ahead of the first host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// When that was measured, on that host's clock.
    pub at: MonotonicTime,
    /// How far it was ahead; negative if it was behind.
    pub ahead_ns: i64,
    /// At most so wrong is that.
    pub error_ns: Nanoseconds,
}

impl HostRecord {
    /// Of a host of which nothing more is known than its name and its clock.
    pub fn new(name: impl Into<String>, offsets: Vec<ClockOffset>) -> Self {
        Self {
            environment: Environment { host: name.into(), ..Environment::default() },
            before: MemoryState::default(),
            after: None,
            anchors: Vec::new(),
            calibration: Calibration::default(),
            offsets,
        }
    }

    /// The moment on the first host's clock: between two offsets along the line through them, before and after them as at the nearest.
    pub fn to_first(&self, moment: MonotonicTime) -> MonotonicTime {
        // Zero is no moment.
        if moment == MonotonicTime(0) {
            return moment;
        }
        let after = self.offsets.partition_point(|offset| offset.at <= moment);
        let ahead_ns =
            match (after.checked_sub(1).map(|before| self.offsets[before]), self.offsets.get(after)) {
                (None, None) => return moment,
                (Some(only), None) => i128::from(only.ahead_ns),
                (None, Some(only)) => i128::from(only.ahead_ns),
                (Some(before), Some(after)) => {
                    let drift_ns = i128::from(after.ahead_ns) - i128::from(before.ahead_ns);
                    let passed = i128::from(moment.since(before.at).0);
                    let between = i128::from(after.at.since(before.at).0);
                    i128::from(before.ahead_ns) + drift_ns * passed / between
                }
            };
        MonotonicTime((i128::from(moment.0) - ahead_ns).clamp(1, i128::from(u64::MAX)) as u64)
    }

    /// The greatest error of an offset; nothing is known of how far the clock went from the line between two of them.
    pub fn error_max(&self) -> Nanoseconds {
        self.offsets.iter().map(|offset| offset.error_ns).max().unwrap_or_default()
    }
}

/// What is known of any host of a run.
#[derive(Debug, Clone, Copy)]
pub struct HostView<'a> {
    /// The machine.
    pub environment: &'a Environment,
    /// Its clocks.
    pub anchors: &'a [Anchor],
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn host(offsets: Vec<ClockOffset>) -> HostRecord {
        HostRecord::new("node2", offsets)
    }

    fn offset(at: u64, ahead_ns: i64) -> ClockOffset {
        ClockOffset { at: MonotonicTime(at), ahead_ns, error_ns: Nanoseconds(at / 1000) }
    }

    #[test]
    fn between_two_offsets_a_clock_drifts_evenly_and_beyond_them_not() {
        let host = host(vec![offset(2_000, -500), offset(4_000, -300)]);
        for (own, first) in [(1_000, 1_500), (2_000, 2_500), (3_000, 3_400), (4_000, 4_300), (9_000, 9_300)] {
            assert_eq!(host.to_first(MonotonicTime(own)), MonotonicTime(first), "{own}");
        }
        assert_eq!(host.error_max(), Nanoseconds(4));
        assert_eq!(host.to_first(MonotonicTime(0)), MonotonicTime(0), "no moment");
    }

    #[test]
    fn without_offsets_it_is_the_same_clock() {
        assert_eq!(host(Vec::new()).to_first(MonotonicTime(77)), MonotonicTime(77));
        assert_eq!(host(Vec::new()).error_max(), Nanoseconds::ZERO);
    }

    proptest! {
        /// Clocks that drift by less than they run keep their order, and what was measured is met exactly.
        #[test]
        fn moments_keep_their_order_and_offsets_are_exact(
            steps in prop::collection::vec((1_u64..1_000_000, -1.0..1.0_f64), 0..8),
            begin in -(1_i64 << 40)..(1 << 40),
            moments in prop::collection::vec(0_u64..8_000_000, 2..40),
        ) {
            const SINCE: u64 = 1 << 41;
            let mut offsets = vec![offset(SINCE, begin)];
            for (after, drift) in steps {
                let last = offsets[offsets.len() - 1];
                offsets.push(offset(last.at.0 + after, last.ahead_ns + (drift * after as f64) as i64));
            }
            let host = host(offsets);
            for offset in &host.offsets {
                let first = offset.at.0 as i64 - offset.ahead_ns;
                prop_assert_eq!(host.to_first(offset.at), MonotonicTime(first as u64));
            }
            let mut moments: Vec<MonotonicTime> = moments.iter().map(|ns| MonotonicTime(SINCE + ns)).collect();
            moments.sort_unstable();
            prop_assert!(moments.iter().map(|moment| host.to_first(*moment)).is_sorted());
        }
    }
}
