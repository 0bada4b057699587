//! What a side tells of the requests that it made, and what this program's children took of the processors.

use anyhow::{Result, ensure};

/// What a side tells.
#[derive(Debug, Clone, Copy)]
pub struct Told {
    /// In the span that is looked at.
    pub requests_per_second: f64,
    /// Of a request, of the client.
    pub processor_us: f64,
    /// Of a request, of the server.
    pub server_us: f64,
}

/// What the children of this program that have ended had of the processors.
pub fn busy_seconds() -> Result<f64> {
    // SAFETY: plain data, which the call writes.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        ensure!(libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) == 0, "reading the time of children");
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}
