//! What a program did over time, in slots of one width.
//!
//! Nobody knows before its end how long a trace is: where there are too many slots, two neighbours become one, and all are twice as wide.

use iolag_model::{Nanoseconds, TraceSlot, TraceTimeLine};

use super::places::Ground;

/// More is not seen in a picture.
const SLOTS_MAX: u64 = 200;
/// The first width: no call is shorter than a few of them.
const WIDTH: u64 = 1000;

/// The slots so far.
#[derive(Debug)]
pub(super) struct TimeLine {
    width: u64,
    slots: Vec<TraceSlot>,
}

/// A part of what a slot has.
type Part = fn(&mut TraceSlot) -> &mut Nanoseconds;

impl Default for TimeLine {
    fn default() -> Self {
        Self { width: WIDTH, slots: Vec::new() }
    }
}

impl TimeLine {
    /// A call: it counts where it began, its time where it passed.
    pub(super) fn call(&mut self, start: u64, time: u64, failed: bool, ground: Option<Ground>) {
        let slot = self.slot(start);
        slot.calls += 1;
        slot.errors += u64::from(failed);
        let of: Part = match ground {
            Some(Ground::Storage) => |slot| &mut slot.storage_ns,
            _ => |slot| &mut slot.elsewhere_ns,
        };
        self.spread(start, start.saturating_add(time), time, of);
    }

    /// A task was so long on the processor between its calls, from the end of one to the beginning of the next.
    pub(super) fn processor(&mut self, from: u64, to: u64, own: u64) {
        self.spread(from, to, own, |slot| &mut slot.processor_ns);
    }

    /// What it comes to; nothing if no time is known.
    pub(super) fn finish(self, end: u64) -> Option<TraceTimeLine> {
        (end > 0).then_some(TraceTimeLine { slot_ns: Nanoseconds(self.width), slots: self.slots })
    }

    /// The slot of a time.
    fn slot(&mut self, at: u64) -> &mut TraceSlot {
        while at / self.width >= SLOTS_MAX {
            self.double();
        }
        let place = (at / self.width) as usize;
        if self.slots.len() <= place {
            self.slots.resize(place + 1, TraceSlot::default());
        }
        &mut self.slots[place]
    }

    fn double(&mut self) {
        self.width *= 2;
        let pairs = self.slots.chunks(2).map(|pair| {
            let mut sum = pair[0];
            pair[1..].iter().for_each(|other| sum.add(other));
            sum
        });
        self.slots = pairs.collect();
    }

    /// Divides an amount evenly over a stretch of time; the sum of the parts is the amount.
    fn spread(&mut self, from: u64, to: u64, amount: u64, of: Part) {
        if amount == 0 || to <= from {
            return;
        }
        self.slot(to - 1);
        let (width, length) = (self.width, u128::from(to - from));
        let mut given = 0;
        for place in from / width..=(to - 1) / width {
            let reached = (place + 1).saturating_mul(width).min(to) - from;
            let due = (u128::from(amount) * u128::from(reached) / length) as u64;
            let part = of(&mut self.slots[place as usize]);
            part.0 = part.0.saturating_add(due - given);
            given = due;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MICROSECOND: u64 = 1000;

    fn slot(calls: u64, storage: u64, processor: u64, elsewhere: u64) -> TraceSlot {
        TraceSlot {
            calls,
            errors: 0,
            storage_ns: Nanoseconds(storage),
            processor_ns: Nanoseconds(processor),
            elsewhere_ns: Nanoseconds(elsewhere),
        }
    }

    #[test]
    fn time_is_where_it_passed() {
        let mut line = TimeLine::default();
        line.call(500, 2000, false, Some(Ground::Storage));
        // 1.5 µs, of which 0.6 are the tracer's.
        line.processor(2500, 4000, 900);
        line.call(4000, 0, false, None);
        line.call(4100, 100, false, None);
        let line = line.finish(4200).unwrap();
        assert_eq!(line.slot_ns, Nanoseconds(MICROSECOND));
        assert_eq!(
            line.slots,
            [
                slot(1, 500, 0, 0),
                slot(0, 1000, 0, 0),
                slot(0, 500, 300, 0),
                slot(0, 0, 600, 0),
                slot(2, 0, 0, 100)
            ]
        );
    }

    #[test]
    fn a_longer_trace_has_wider_slots() {
        let mut line = TimeLine::default();
        for number in 0..1000 {
            line.call(number * MICROSECOND, MICROSECOND, number % 4 == 0, Some(Ground::Storage));
        }
        let line = line.finish(1000 * MICROSECOND).unwrap();
        assert_eq!((line.slot_ns, line.slots.len()), (Nanoseconds(8 * MICROSECOND), 125));
        let expected = TraceSlot { errors: 2, ..slot(8, 8 * MICROSECOND, 0, 0) };
        assert!(line.slots.iter().all(|slot| *slot == expected), "{:?}", line.slots);
        assert_eq!(TimeLine::default().finish(0), None);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_whatever_comes_in_which_order(calls in proptest::collection::vec((any::<u64>(), any::<u32>(), 0_u32..64), 0..50)) {
            let mut line = TimeLine::default();
            let (mut time, mut own) = (0, 0);
            for (start, took, shift) in &calls {
                let (start, took) = (start >> shift, u64::from(*took));
                line.call(start, took, true, Some(Ground::Storage));
                line.processor(start, start.saturating_add(took), took / 3);
                let fits = u64::MAX - start >= took;
                time += if fits { took } else { 0 };
                own += if fits { took / 3 } else { 0 };
            }
            let line = line.finish(1).unwrap();
            prop_assert!(line.slots.len() as u64 <= SLOTS_MAX);
            let sum = |of: fn(&TraceSlot) -> u64| line.slots.iter().map(of).sum::<u64>();
            prop_assert_eq!(sum(|slot| slot.calls), calls.len() as u64);
            prop_assert_eq!(sum(|slot| slot.errors), calls.len() as u64);
            prop_assert!(sum(|slot| slot.storage_ns.0) >= time && sum(|slot| slot.processor_ns.0) >= own);
        }
    }
}
