//! A span of time in which requests are counted, and what processes have of the processors meanwhile.

#[path = "../processor_time/mod.rs"]
mod processor_time;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use processor_time::processor_ns;

/// After all have begun: what was made ready is in the caches by then.
const SETTLING: Duration = Duration::from_millis(500);

/// What was measured.
pub struct Measured {
    pub requests_per_second: f64,
    /// Of a request, of all processes.
    pub processor_ns: f64,
    /// In all, also before and after.
    pub requests: u64,
}

/// Requests of each client: those that ended, and those that failed.
pub struct Counted {
    ended: Vec<AtomicU64>,
    failed: AtomicU64,
}

impl Counted {
    pub fn of(clients: u32) -> Self {
        Self { ended: (0..clients).map(|_| AtomicU64::new(0)).collect(), failed: AtomicU64::new(0) }
    }

    /// Only the client itself counts its own, so that nothing is waited for.
    pub fn count(&self, rank: u32, is_ok: bool) {
        let own = &self.ended[rank as usize];
        own.store(own.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        if !is_ok {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn sum(&self) -> u64 {
        self.ended.iter().map(|one| one.load(Ordering::Relaxed)).sum()
    }
}

/// Looks at the beginning and at the end of a span of `seconds` in which clients ask.
pub fn look(processes: &[u32], counted: &Counted, seconds: u64) -> Result<Measured> {
    let now =
        || -> Result<(Instant, u64, u64)> { Ok((Instant::now(), processor_ns(processes)?, counted.sum())) };
    std::thread::sleep(SETTLING);
    let (begin, busy_before, before) = now()?;
    std::thread::sleep(Duration::from_secs(seconds));
    let (end, busy_after, after) = now()?;
    let failed = counted.failed.load(Ordering::Relaxed);
    ensure!(failed == 0, "{failed} requests failed");
    let within = (after - before) as f64;
    Ok(Measured {
        requests_per_second: within / (end - begin).as_secs_f64(),
        processor_ns: (busy_after - busy_before) as f64 / within.max(1.0),
        requests: after,
    })
}
