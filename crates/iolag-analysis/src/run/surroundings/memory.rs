//! What the page cache, dirty and write-back had of memory: while iterations ran, and while a run lasted. What came of it is not known.

use iolag_model::{MemoryCourse, MemoryLook, RunRecord, format_bytes};

use crate::finding::words::joined;
use crate::run::stage_rates::StageClock;
use crate::statistics::quantile::censored::median_of;

/// Less than this much is on any host, and told of none.
const WORTH_TELLING_BYTES: u64 = 256 << 20;

/// What memory had while two iterations ran: medians of what was seen in the intervals that lie in them as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryOfIterations {
    /// While the fastest ran.
    pub fastest: MemoryLook,
    /// While the slowest ran.
    pub slowest: MemoryLook,
}

/// The course of the memory of who measured, if that was one host.
pub(crate) fn memory_of_host(run: &RunRecord) -> Option<&MemoryCourse> {
    run.memory.as_ref().filter(|_| run.further_hosts.is_empty())
}

/// The median of each while a stage ran; nothing of one in which no interval lies as a whole.
pub(crate) fn memory_during(course: &MemoryCourse, clock: StageClock) -> Option<MemoryLook> {
    let looks: Vec<MemoryLook> = course.within(clock.begin, clock.end).collect();
    let median = |of: fn(&MemoryLook) -> u64| {
        let mut bytes: Vec<f64> = looks.iter().map(|look| of(look) as f64).collect();
        bytes.sort_unstable_by(f64::total_cmp);
        median_of(&bytes).map(|median| median as u64)
    };
    Some(MemoryLook {
        page_cache_bytes: median(|look| look.page_cache_bytes)?,
        dirty_bytes: median(|look| look.dirty_bytes)?,
        writeback_bytes: median(|look| look.writeback_bytes)?,
    })
}

/// What of a run's memory is worth telling, as a sentence.
pub(crate) fn memory_footnote(run: &RunRecord) -> Option<String> {
    memory_of_host(run).and_then(in_words)
}

fn in_words(course: &MemoryCourse) -> Option<String> {
    let most = |of: fn(MemoryLook) -> u64| course.seen().map(of).max();
    let much = |bytes: Option<u64>| bytes.filter(|bytes| *bytes >= WORTH_TELLING_BYTES).map(format_bytes);
    let dirty = much(most(|look| look.dirty_bytes)).map(|most| format!("up to {most} of memory were dirty"));
    let writeback =
        much(most(|look| look.writeback_bytes)).map(|most| format!("up to {most} were being written back"));
    let [first, last] = [course.seen().next()?, course.seen().next_back()?].map(|look| look.page_cache_bytes);
    let page_cache = much(Some(first.abs_diff(last))).map(|_| {
        let how = if last > first { "grew" } else { "shrank" };
        format!("the page cache {how} from {} to {}", format_bytes(first), format_bytes(last))
    });
    let parts: Vec<String> = dirty.into_iter().chain(writeback).chain(page_cache).collect();
    (!parts.is_empty()).then(|| format!("On the host, while this was measured, {}.", joined(parts)))
}

#[cfg(test)]
mod tests {
    use iolag_model::{MonotonicTime, Nanoseconds};

    use super::*;

    const SECOND: Nanoseconds = Nanoseconds::from_seconds(1);

    fn at(milliseconds: u64) -> MonotonicTime {
        MonotonicTime(7).after(Nanoseconds::from_milliseconds(milliseconds))
    }

    /// Second by second page cache, dirty and write-back in MiB.
    fn course(looks: &[[u64; 3]]) -> MemoryCourse {
        let mut course = MemoryCourse::new(at(0), SECOND);
        for (second, mebibytes) in (0..).zip(looks) {
            let [page_cache_bytes, dirty_bytes, writeback_bytes] = mebibytes.map(|mebibytes| mebibytes << 20);
            course.add(at(second * 1000), MemoryLook { page_cache_bytes, dirty_bytes, writeback_bytes });
        }
        course
    }

    #[test]
    fn a_stage_has_the_medians_of_the_seconds_that_lie_in_it() {
        let course = course(&[[1, 999, 999], [2, 10, 0], [8, 30, 5], [6, 20, 1], [9, 999, 999]]);
        let during = |begin, end| memory_during(&course, StageClock { begin: at(begin), end: at(end) });
        let expected =
            MemoryLook { page_cache_bytes: 6 << 20, dirty_bytes: 20 << 20, writeback_bytes: 1 << 20 };
        assert_eq!(during(500, 4900), Some(expected), "the first and the last second are of others, too");
        assert_eq!(during(1100, 2900), None);
    }

    #[test]
    fn what_is_much_is_told_and_nothing_else() {
        let told = |looks: &[[u64; 3]]| in_words(&course(looks));
        assert_eq!(told(&[[1229, 255, 0], [1300, 3, 255]]), None);
        assert_eq!(
            told(&[[1229, 3, 0], [4000, 812, 300], [10_035, 0, 0]]).unwrap(),
            "On the host, while this was measured, up to 812 MiB of memory were dirty, up to 300 MiB were being written back and the page \
             cache grew from 1.20 GiB to 9.80 GiB."
        );
        assert_eq!(
            told(&[[2048, 0, 0], [1024, 0, 0]]).unwrap(),
            "On the host, while this was measured, the page cache shrank from 2.00 GiB to 1.00 GiB."
        );
        assert_eq!(told(&[]), None);
    }
}
