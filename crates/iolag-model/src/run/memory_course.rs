//! What of a host's memory the page cache, dirty and write-back had while a run lasted, by slots of equal width. Bounded: when there are
//! too many slots, neighbours become one and the width doubles, so a run of weeks takes no more room than one of an hour.

use serde::{Deserialize, Serialize};

use crate::{MonotonicTime, Nanoseconds};

/// More slots than this are never kept.
pub const MEMORY_LOOKS_MAX: usize = 3600;

/// What was seen, slot by slot. A slot in which nobody looked, since who looks did not run, has nothing, and those after it stay where
/// they are in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Columns", into = "Columns")]
pub struct MemoryCourse {
    /// When the first slot begins.
    pub begin: MonotonicTime,
    /// How wide each slot is.
    pub interval_ns: Nanoseconds,
    /// What was seen in each slot, the first at the begin; at most [`MEMORY_LOOKS_MAX`].
    pub looks: Vec<Option<MemoryLook>>,
}

/// What memory was taken by, seen once or in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLook {
    /// The page cache in bytes (`Cached` of /proc/meminfo: with tmpfs, without buffers of block devices). Of a slot what was seen last.
    pub page_cache_bytes: u64,
    /// Dirty memory in bytes: written by programs, and not yet on its way to the storage. Of a slot the most.
    pub dirty_bytes: u64,
    /// Memory that is being written back, in bytes. Of a slot the most.
    pub writeback_bytes: u64,
}

impl MemoryLook {
    /// What both say; `later` was seen after this.
    pub fn and(self, later: Self) -> Self {
        Self {
            page_cache_bytes: later.page_cache_bytes,
            dirty_bytes: self.dirty_bytes.max(later.dirty_bytes),
            writeback_bytes: self.writeback_bytes.max(later.writeback_bytes),
        }
    }
}

impl MemoryCourse {
    /// Nothing is seen yet. An interval of nothing is taken as 1 ns.
    pub fn new(begin: MonotonicTime, interval: Nanoseconds) -> Self {
        Self { begin, interval_ns: interval.max(Nanoseconds(1)), looks: Vec::new() }
    }

    /// Adds what was seen at `now`, not before what was seen last. Neighbours are joined until it has a slot.
    pub fn add(&mut self, now: MonotonicTime, look: MemoryLook) {
        let slot = loop {
            match self.slot(now) {
                slot if slot < MEMORY_LOOKS_MAX as u64 => break slot as usize,
                _ => self.join_neighbours(),
            }
        };
        if self.looks.len() <= slot {
            self.looks.resize(slot + 1, None);
        }
        self.looks[slot] = both(self.looks[slot], Some(look));
    }

    /// The same in at most so many slots.
    #[must_use]
    pub fn in_slots(mut self, slots_max: usize) -> Self {
        while self.looks.len() > slots_max.max(1) {
            self.join_neighbours();
        }
        self
    }

    /// What was seen in slots that lie between these moments as a whole: nothing of before or after is in it.
    pub fn within(&self, begin: MonotonicTime, end: MonotonicTime) -> impl Iterator<Item = MemoryLook> {
        let is_within = move |slot: u64| self.moment(slot) >= begin && self.moment(slot + 1) <= end;
        (0..).zip(&self.looks).filter(move |(slot, _)| is_within(*slot)).filter_map(|(_, look)| *look)
    }

    /// What was seen, in its order.
    pub fn seen(&self) -> impl DoubleEndedIterator<Item = MemoryLook> {
        self.looks.iter().flatten().copied()
    }

    fn slot(&self, now: MonotonicTime) -> u64 {
        now.since(self.begin).0 / self.interval_ns.0.max(1)
    }

    /// When a slot begins.
    fn moment(&self, slot: u64) -> MonotonicTime {
        self.begin.after(Nanoseconds(self.interval_ns.0.saturating_mul(slot)))
    }

    fn join_neighbours(&mut self) {
        let joined = self.looks.chunks(2).map(|two| two.iter().copied().fold(None, both));
        self.looks = joined.collect();
        self.interval_ns.0 = self.interval_ns.0.max(1).saturating_mul(2);
    }
}

fn both(earlier: Option<MemoryLook>, later: Option<MemoryLook>) -> Option<MemoryLook> {
    match (earlier, later) {
        (Some(earlier), Some(later)) => Some(earlier.and(later)),
        (earlier, later) => later.or(earlier),
    }
}

/// As it stands in a file: names once, and not for each slot.
#[derive(Serialize, Deserialize)]
struct Columns {
    begin: MonotonicTime,
    interval_ns: Nanoseconds,
    page_cache_bytes: Vec<Option<u64>>,
    dirty_bytes: Vec<Option<u64>>,
    writeback_bytes: Vec<Option<u64>>,
}

impl From<Columns> for MemoryCourse {
    fn from(columns: Columns) -> Self {
        let Columns { begin, interval_ns, page_cache_bytes, dirty_bytes, writeback_bytes } = columns;
        let look = |((page_cache, dirty), writeback): ((Option<u64>, Option<u64>), Option<u64>)| {
            Some(MemoryLook {
                page_cache_bytes: page_cache?,
                dirty_bytes: dirty?,
                writeback_bytes: writeback?,
            })
        };
        let looks = page_cache_bytes.into_iter().zip(dirty_bytes).zip(writeback_bytes).map(look);
        Self { looks: looks.collect(), ..Self::new(begin, interval_ns) }
    }
}

impl From<MemoryCourse> for Columns {
    fn from(course: MemoryCourse) -> Self {
        let column = |of: fn(MemoryLook) -> u64| course.looks.iter().map(|look| look.map(of)).collect();
        Self {
            begin: course.begin,
            interval_ns: course.interval_ns,
            page_cache_bytes: column(|look| look.page_cache_bytes),
            dirty_bytes: column(|look| look.dirty_bytes),
            writeback_bytes: column(|look| look.writeback_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Nanoseconds = Nanoseconds::from_seconds(1);
    const BEGIN: MonotonicTime = MonotonicTime(7_000_000_123);

    fn look(page_cache_bytes: u64, dirty_bytes: u64, writeback_bytes: u64) -> MemoryLook {
        MemoryLook { page_cache_bytes, dirty_bytes, writeback_bytes }
    }

    fn at(milliseconds: u64) -> MonotonicTime {
        BEGIN.after(Nanoseconds::from_milliseconds(milliseconds))
    }

    #[test]
    fn who_slept_leaves_a_gap_and_moves_nothing() {
        let mut course = MemoryCourse::new(BEGIN, SECOND);
        let looks =
            [(20, look(1, 5, 0)), (1040, look(2, 4, 1)), (4900, look(3, 3, 2)), (5010, look(4, 2, 3))];
        looks.into_iter().for_each(|(milliseconds, look)| course.add(at(milliseconds), look));
        let seen = [Some(looks[0].1), Some(looks[1].1), None, None, Some(looks[2].1), Some(looks[3].1)];
        assert_eq!(course.looks, seen);
        assert_eq!(course.within(at(1000), at(5000)).collect::<Vec<_>>(), [looks[1].1, looks[2].1]);
        assert_eq!(course.within(at(1001), at(5999)).collect::<Vec<_>>(), [looks[2].1], "whole slots only");
    }

    #[test]
    fn the_slot_after_the_last_doubles_the_interval() {
        let mut course = MemoryCourse::new(BEGIN, SECOND);
        for second in 0..=3600_u64 {
            course.add(at(second * 1000), look(second, second % 7, 0));
        }
        assert_eq!((course.interval_ns, course.looks.len()), (Nanoseconds::from_seconds(2), 1801));
        assert_eq!(course.looks[0], Some(look(1, 1, 0)), "the later page cache, the most of the others");
        assert_eq!(course.looks[1800], Some(look(3600, 3600 % 7, 0)));
        let joined = course.in_slots(500);
        assert_eq!((joined.interval_ns, joined.looks.len()), (Nanoseconds::from_seconds(8), 451));
    }

    #[test]
    fn a_column_for_each_is_written_and_read() {
        let mut course = MemoryCourse::new(MonotonicTime(5), SECOND);
        course.add(MonotonicTime(5), look(10, 20, 30));
        course.add(MonotonicTime(2_000_000_005), look(11, 21, 31));
        let text = serde_json::to_string(&course).unwrap();
        assert_eq!(
            text,
            r#"{"begin":5,"interval_ns":1000000000,"page_cache_bytes":[10,null,11],"dirty_bytes":[20,null,21],"writeback_bytes":[30,null,31]}"#
        );
        assert_eq!(serde_json::from_str::<MemoryCourse>(&text).unwrap(), course);
        let damaged = r#"{"begin":5,"interval_ns":0,"page_cache_bytes":[10,11],"dirty_bytes":[20],"writeback_bytes":[30,31]}"#;
        let mut damaged: MemoryCourse = serde_json::from_str(damaged).unwrap();
        damaged.add(MonotonicTime(6), look(1, 1, 1));
        assert_eq!(damaged.looks, [Some(look(10, 20, 30)), Some(look(1, 1, 1))]);
    }

    proptest! {
        #[test]
        fn joining_loses_no_maximum_and_no_moment(
            looks in prop::collection::vec((0_u64..40_000, 0_u64..1000, 0_u64..1000, 0_u64..1000), 1..300),
            sleep in prop_oneof![Just(0_u64), 0..u64::MAX / 1_000_000_000],
        ) {
            let mut looks = looks;
            looks.sort_unstable();
            // Whoever looked last had slept before it.
            looks.last_mut().unwrap().0 += sleep;
            let mut course = MemoryCourse::new(BEGIN, SECOND);
            let moment = |second: u64| BEGIN.after(Nanoseconds(second.saturating_mul(SECOND.0)));
            for &(second, page_cache, dirty, writeback) in &looks {
                course.add(moment(second), look(page_cache, dirty, writeback));
            }
            prop_assert!(course.looks.len() <= MEMORY_LOOKS_MAX);
            prop_assert!((course.interval_ns.0 / SECOND.0).is_power_of_two());
            for (slot, found) in (0_u64..).zip(&course.looks) {
                let is_here = |second: u64| course.slot(moment(second)) == slot;
                let expected = looks.iter().filter(|(second, ..)| is_here(*second));
                let expected = expected.map(|&(_, page_cache, dirty, writeback)| look(page_cache, dirty, writeback));
                prop_assert_eq!(*found, expected.reduce(MemoryLook::and));
            }
            let most = course.seen().map(|look| (look.dirty_bytes, look.writeback_bytes));
            let most = most.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1))).unwrap();
            prop_assert_eq!(most.0, looks.iter().map(|look| look.2).max().unwrap());
            prop_assert_eq!(most.1, looks.iter().map(|look| look.3).max().unwrap());
            prop_assert_eq!(course.seen().next_back().unwrap().page_cache_bytes, looks[looks.len() - 1].1);
        }
    }
}
