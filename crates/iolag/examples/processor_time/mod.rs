//! The time on the processor of other processes, precisely.

use anyhow::{Result, ensure};

/// That of all of these together, since each began, in ns (clock_getcpuclockid(3)).
pub fn processor_ns(processes: &[u32]) -> Result<u64> {
    let of = |process: &u32| {
        let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
        // SAFETY: the calls only write into what is given to them.
        let told = unsafe {
            libc::clock_getcpuclockid(*process as i32, &raw mut clock) == 0
                && libc::clock_gettime(clock, &raw mut time) == 0
        };
        ensure!(told, "reading the processor time of process {process}");
        Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    };
    processes.iter().map(of).sum()
}
