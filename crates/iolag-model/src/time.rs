//! Time: unsigned nanoseconds of `CLOCK_MONOTONIC` for everything that is measured, tied to wall clock by anchors.
//!
//! Limits: `CLOCK_MONOTONIC` stops while the machine is suspended and is slewed by NTP (at most 500 ppm). Anchors
//! taken at the start, every 60 s and at the end record `CLOCK_BOOTTIME` and `CLOCK_REALTIME` next to it, so that a
//! suspend (boottime runs ahead) and a stepped wall clock (realtime jumps) are visible afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A length of time in nanoseconds; never negative, never a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct Nanoseconds(pub u64);

impl Nanoseconds {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `milliseconds` × 10⁶ ns.
    pub const fn from_milliseconds(milliseconds: u64) -> Self {
        Self(milliseconds * 1_000_000)
    }

    /// `seconds` × 10⁹ ns.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// For rates and printing only; never stored.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The same length as a standard duration, for system calls that wait.
    pub const fn as_duration(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }

    /// The same for system calls that wait for descriptors.
    pub const fn as_timespec(self) -> Timespec {
        Timespec {
            tv_sec: (self.0 / NANOSECONDS_PER_SECOND) as i64,
            tv_nsec: (self.0 % NANOSECONDS_PER_SECOND) as _,
        }
    }
}

/// A moment on this boot's `CLOCK_MONOTONIC`, in nanoseconds. Zero is reserved for "no moment".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct MonotonicTime(pub u64);

impl MonotonicTime {
    /// Time since `earlier`; zero if `earlier` is later, since clocks of two processors may disagree by a tick.
    #[inline]
    pub const fn since(self, earlier: Self) -> Nanoseconds {
        Nanoseconds(self.0.saturating_sub(earlier.0))
    }

    /// The moment `duration` after this one.
    #[inline]
    pub const fn after(self, duration: Nanoseconds) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

/// Something that tells the time. The loop is generic over it, so that the real clock is inlined.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> MonotonicTime;

    /// Returns at `moment`, never before it; at once if it has passed. The real clock sleeps and, for the last
    /// stretch, spins, because a sleeping thread is woken 50 µs late; a simulated clock jumps there.
    fn sleep_until(&self, moment: MonotonicTime);

    /// As [`Clock::sleep_until`], but asleep to the end: later by what it takes to be woken, and no processor is kept from
    /// those who could use it.
    fn rest_until(&self, moment: MonotonicTime);
}

/// `clock_gettime(CLOCK_MONOTONIC)` by the vDSO: about 20 ns a reading.
#[derive(Debug, Clone, Copy, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> MonotonicTime {
        MonotonicTime(read_clock(ClockId::Monotonic))
    }

    fn sleep_until(&self, moment: MonotonicTime) {
        const SPIN_NS: u64 = 100_000;
        loop {
            let left = moment.since(self.now());
            if left == Nanoseconds::ZERO {
                return;
            }
            if left.0 > SPIN_NS {
                std::thread::sleep(Nanoseconds(left.0 - SPIN_NS).as_duration());
            } else {
                std::hint::spin_loop();
            }
        }
    }

    fn rest_until(&self, moment: MonotonicTime) {
        let until = Nanoseconds(moment.0).as_timespec();
        // An absolute moment: who is descheduled before it sleeps does not sleep longer for it. Interrupted, it sleeps again.
        while self.now() < moment {
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &until);
        }
    }
}

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// A clock that moves only when told to: known answers need no tolerance under it.
#[derive(Debug, Clone, Default)]
pub struct SimulatedClock {
    now_ns: Arc<AtomicU64>,
}

impl SimulatedClock {
    /// A clock that shows `start`.
    pub fn starting_at(start: MonotonicTime) -> Self {
        Self { now_ns: Arc::new(AtomicU64::new(start.0)) }
    }

    /// Moves every copy of this clock forward.
    pub fn advance(&self, duration: Nanoseconds) {
        self.now_ns.fetch_add(duration.0, Ordering::Relaxed);
    }

    /// Moves every copy of this clock to `moment`, unless it is already later.
    pub fn advance_to(&self, moment: MonotonicTime) {
        self.now_ns.fetch_max(moment.0, Ordering::Relaxed);
    }
}

impl Clock for SimulatedClock {
    #[inline]
    fn now(&self) -> MonotonicTime {
        MonotonicTime(self.now_ns.load(Ordering::Relaxed))
    }

    fn sleep_until(&self, moment: MonotonicTime) {
        self.advance_to(moment);
    }

    fn rest_until(&self, moment: MonotonicTime) {
        self.advance_to(moment);
    }
}

/// One moment on three clocks at once. Readings are taken in this order within a microsecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// `CLOCK_MONOTONIC`: what samples are stamped with.
    pub monotonic_ns: MonotonicTime,
    /// `CLOCK_BOOTTIME`: runs on while the machine is suspended.
    pub boottime_ns: u64,
    /// `CLOCK_REALTIME`: nanoseconds since 1970-01-01 UTC.
    pub realtime_ns: u64,
}

impl Anchor {
    /// Reads the three clocks.
    pub fn take() -> Self {
        Self {
            monotonic_ns: MonotonicTime(read_clock(ClockId::Monotonic)),
            boottime_ns: read_clock(ClockId::Boottime),
            realtime_ns: read_clock(ClockId::Realtime),
        }
    }

    /// Wall-clock nanoseconds since 1970 of a monotonic moment, by this anchor.
    pub fn realtime_of(&self, moment: MonotonicTime) -> u64 {
        if moment >= self.monotonic_ns {
            self.realtime_ns.saturating_add(moment.0 - self.monotonic_ns.0)
        } else {
            self.realtime_ns.saturating_sub(self.monotonic_ns.0 - moment.0)
        }
    }
}

#[inline]
fn read_clock(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_clock_moves_forward() {
        let before = MonotonicClock.now();
        let after = MonotonicClock.now();
        assert!(after >= before && before.0 > 0);
    }

    #[test]
    fn nobody_is_woken_before_the_moment() {
        for wait in [MonotonicClock::sleep_until, MonotonicClock::rest_until] {
            let moment = MonotonicClock.now().after(Nanoseconds::from_milliseconds(3));
            wait(&MonotonicClock, moment);
            assert!(MonotonicClock.now() >= moment);
            wait(&MonotonicClock, moment);
        }
    }

    #[test]
    fn a_simulated_clock_moves_only_when_told() {
        let clock = SimulatedClock::starting_at(MonotonicTime(5));
        let copy = clock.clone();
        clock.advance(Nanoseconds(7));
        assert_eq!(copy.now(), MonotonicTime(12));
        clock.advance_to(MonotonicTime(3));
        assert_eq!(copy.now(), MonotonicTime(12));
    }

    #[test]
    fn an_anchor_maps_moments_before_and_after_itself() {
        let anchor = Anchor { monotonic_ns: MonotonicTime(100), boottime_ns: 100, realtime_ns: 1_000 };
        assert_eq!(anchor.realtime_of(MonotonicTime(150)), 1_050);
        assert_eq!(anchor.realtime_of(MonotonicTime(40)), 940);
    }
}
