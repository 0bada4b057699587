//! What memory was taken by: once a second the keeper looks at the page cache, dirty and write-back.

use std::path::{Path, PathBuf};

use iolag_model::{MemoryCourse, MonotonicTime, Nanoseconds};

use crate::environment::memory;

/// How often is looked.
const INTERVAL: Nanoseconds = Nanoseconds::from_seconds(1);

/// What was seen of memory until now.
#[derive(Debug)]
pub struct MemoryWatch {
    proc: PathBuf,
    /// The second after the one in which was looked last, counted from the begin of the course.
    next: u64,
    course: MemoryCourse,
}

impl MemoryWatch {
    /// Nothing is seen yet; `proc` is `/proc`.
    pub fn new(proc: &Path, begin: MonotonicTime) -> Self {
        Self { proc: proc.to_owned(), next: 0, course: MemoryCourse::new(begin, INTERVAL) }
    }

    /// Looks, if a second has begun in which nobody looked. Seconds are those of the clock, not of the last look: who comes late in one is
    /// not late in the next.
    pub fn look(&mut self, now: MonotonicTime) {
        let second = now.since(self.course.begin).0 / INTERVAL.0;
        if second >= self.next {
            self.next = second + 1;
            self.see(now);
        }
    }

    fn see(&mut self, now: MonotonicTime) {
        if let Some(look) = memory::look(&self.proc) {
            self.course.add(now, look);
        }
    }

    /// What there is to tell, after a last look; nothing where the kernel tells nothing.
    pub fn course(mut self, now: MonotonicTime) -> Option<MemoryCourse> {
        self.see(now);
        (!self.course.looks.is_empty()).then_some(self.course)
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::MemoryLook;

    use super::*;

    const MEBIBYTE: u64 = 1 << 20;

    fn at(milliseconds: u64) -> MonotonicTime {
        MonotonicTime(5).after(Nanoseconds::from_milliseconds(milliseconds))
    }

    fn hold(proc: &Path, page_cache: u64, dirty: u64, writeback: u64) {
        let [page_cache, dirty, writeback] = [page_cache, dirty, writeback].map(|mebibytes| mebibytes << 10);
        let text = format!("Cached: {page_cache} kB\nDirty: {dirty} kB\nWriteback: {writeback} kB\n");
        std::fs::write(proc.join("meminfo"), text).unwrap();
    }

    fn seen(page_cache: u64, dirty: u64, writeback: u64) -> Option<MemoryLook> {
        let [page_cache_bytes, dirty_bytes, writeback_bytes] =
            [page_cache, dirty, writeback].map(|mebibytes| mebibytes * MEBIBYTE);
        Some(MemoryLook { page_cache_bytes, dirty_bytes, writeback_bytes })
    }

    #[test]
    fn each_second_is_looked_at_once_also_by_who_comes_late_and_the_end_is() {
        let proc = tempfile::tempdir().unwrap();
        let mut watch = MemoryWatch::new(proc.path(), at(0));
        hold(proc.path(), 100, 1, 0);
        watch.look(at(0));
        hold(proc.path(), 900, 900, 900);
        watch.look(at(999));
        hold(proc.path(), 300, 200, 0);
        watch.look(at(1900));
        hold(proc.path(), 500, 150, 50);
        watch.look(at(2000));
        // The keeper slept.
        hold(proc.path(), 600, 0, 90);
        watch.look(at(5500));
        hold(proc.path(), 610, 7, 0);
        let course = watch.course(at(5700)).unwrap();
        assert_eq!((course.begin, course.interval_ns), (at(0), INTERVAL));
        let looks = [seen(100, 1, 0), seen(300, 200, 0), seen(500, 150, 50), None, None, seen(610, 7, 90)];
        assert_eq!(course.looks, looks);
    }

    #[test]
    fn a_kernel_that_does_not_tell_leaves_no_course() {
        let proc = tempfile::tempdir().unwrap();
        let mut watch = MemoryWatch::new(proc.path(), at(0));
        watch.look(at(0));
        std::fs::write(proc.path().join("meminfo"), "Cached: 5 kB\nDirty: 6 kB\n").unwrap();
        watch.look(at(1000));
        assert_eq!(watch.course(at(1500)), None);
    }

    #[test]
    fn this_machine_tells() {
        let mut watch = MemoryWatch::new(Path::new("/proc"), at(0));
        watch.look(at(0));
        assert_eq!(watch.course(at(1)).map(|course| course.looks.len()), Some(1));
    }
}
