//! Processor time and resident size, from the kernel's accounting of a thread or of a child that has ended.

use std::mem::MaybeUninit;

use iolag_model::Nanoseconds;

/// What was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// User and system time.
    pub processor: [Nanoseconds; 2],
    /// Largest resident size in bytes.
    pub resident_bytes_max: u64,
}

impl Usage {
    /// From the kernel's record, whose times are in microseconds and whose size is in KiB.
    pub(crate) fn from_kernel(record: &libc::rusage) -> Self {
        let nanoseconds = |time: libc::timeval| {
            let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
            let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
            Nanoseconds(seconds.saturating_mul(1_000_000_000).saturating_add(microseconds * 1000))
        };
        Self {
            processor: [nanoseconds(record.ru_utime), nanoseconds(record.ru_stime)],
            resident_bytes_max: u64::try_from(record.ru_maxrss).unwrap_or(0).saturating_mul(1024),
        }
    }

    /// Processor time since an earlier reading of the same thread.
    pub(crate) fn since(self, earlier: Self) -> [Nanoseconds; 2] {
        let difference =
            |index: usize| Nanoseconds(self.processor[index].0.saturating_sub(earlier.processor[index].0));
        [difference(0), difference(1)]
    }
}

/// What the calling thread has used so far.
pub(crate) fn thread_usage() -> Usage {
    let mut record = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one record to memory that is there for it; zeroes are a valid record too.
    let record = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, record.as_mut_ptr());
        record.assume_init()
    };
    Usage::from_kernel(&record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_units_are_microseconds_and_kibibytes() {
        // SAFETY: zeroes are a valid record.
        let mut record: libc::rusage = unsafe { MaybeUninit::zeroed().assume_init() };
        record.ru_utime = libc::timeval { tv_sec: 2, tv_usec: 3 };
        record.ru_stime = libc::timeval { tv_sec: 0, tv_usec: 5 };
        record.ru_maxrss = 7;
        let usage = Usage::from_kernel(&record);
        assert_eq!(usage.processor, [Nanoseconds(2_000_003_000), Nanoseconds(5_000)]);
        assert_eq!(usage.resident_bytes_max, 7 << 10);
    }

    #[test]
    fn work_of_this_thread_is_seen() {
        let before = thread_usage();
        let mut number = 0_u64;
        while thread_usage().since(before) == [Nanoseconds(0); 2] {
            number = std::hint::black_box(number + 1);
        }
        assert!(thread_usage().resident_bytes_max > 0);
    }
}
