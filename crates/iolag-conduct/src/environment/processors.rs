//! What the processors have done for this process.

use std::path::Path;

use iolag_model::Nanoseconds;
use iolag_workload::ProcessorClocks;
use rustix::time::{ClockId, clock_gettime};

use super::read_line;

/// Whose time counts: that of clients' threads, and beside it this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Processors {
    /// Nobody's.
    Alone,
    /// That of programs that have been started, have ended and been waited for.
    WithPrograms,
    /// That of the kernel's workers for `io_uring`, which are threads of this process.
    WithWorkers,
    /// Nobody's; what counts of the one client that asks is all of this process.
    WholeProcess,
}

impl ProcessorClocks for Processors {
    fn of_thread(&self) -> Nanoseconds {
        let taken = clock_gettime(match self {
            Self::WholeProcess => ClockId::ProcessCPUTime,
            _ => ClockId::ThreadCPUTime,
        });
        Nanoseconds(taken.tv_sec as u64 * 1_000_000_000 + taken.tv_nsec as u64)
    }

    fn of_others(&self) -> Nanoseconds {
        match self {
            Self::Alone | Self::WholeProcess => Nanoseconds::ZERO,
            Self::WithPrograms => time_of_children(),
            Self::WithWorkers => time_of_workers(Path::new("/proc")),
        }
    }
}

fn time_of_children() -> Nanoseconds {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one record to memory that is there for it; zeroes are a valid record too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let taken = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    Nanoseconds(taken(usage.ru_utime) + taken(usage.ru_stime))
}

/// Of those that are there: one that had nothing to do for 5 s may have ended.
fn time_of_workers(proc: &Path) -> Nanoseconds {
    let tasks = std::fs::read_dir(proc.join("self/task")).into_iter().flatten().flatten();
    let of_worker = |task: std::fs::DirEntry| {
        read_line(&task.path().join("comm")).filter(|name| name.starts_with("iou-wrk-"))?;
        read_line(&task.path().join("schedstat"))?.split(' ').next()?.parse::<u64>().ok()
    };
    Nanoseconds(tasks.filter_map(of_worker).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::fixture::Tree;
    use std::time::{Duration, Instant};

    #[test]
    fn a_thread_is_told_what_it_took_and_not_what_others_do_meanwhile() {
        let end = Instant::now() + Duration::from_millis(60);
        let spinning = std::thread::spawn(move || {
            let before = Processors::Alone.of_thread();
            while Instant::now() < end {
                std::hint::spin_loop();
            }
            Processors::Alone.of_thread().0 - before.0
        });
        let before = Processors::Alone.of_thread();
        std::thread::sleep(Duration::from_millis(60));
        let asleep = Processors::Alone.of_thread().0 - before.0;
        let spun = spinning.join().unwrap();
        assert!(asleep < 5_000_000 && asleep < spun, "{asleep} {spun}");
        assert!(spun < 70_000_000, "{spun}");
    }

    #[test]
    fn of_all_threads_only_workers_of_the_kernel_count_beside_clients() {
        let tree = Tree::with(&[
            ("self/task/7/comm", "measurer\n"),
            ("self/task/7/schedstat", "5000000 12 3\n"),
            ("self/task/8/comm", "iou-wrk-7\n"),
            ("self/task/8/schedstat", "300 12 3\n"),
            ("self/task/9/comm", "iou-wrk-7\n"),
            ("self/task/9/schedstat", "40 1 1\n"),
            ("self/task/10/comm", "iou-wrk-7\n"),
        ]);
        assert_eq!(time_of_workers(tree.path()), Nanoseconds(340));
        assert_eq!(time_of_workers(&tree.join("absent")), Nanoseconds::ZERO);
    }
}
