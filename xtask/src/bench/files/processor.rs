//! The processor time of the whole machine, threads of the kernel included, as its control groups count it: to the nanosecond or microsecond,
//! where /proc/stat counts in ticks.

use std::fs;

use anyhow::{Context, Result};

/// Seconds on all processors since the machine started.
///
/// # Errors
/// Without the accounting of control groups.
pub fn machine_s() -> Result<f64> {
    let version_1 = fs::read_to_string("/sys/fs/cgroup/cpuacct/cpuacct.usage");
    if let Some(used_ns) = version_1.ok().and_then(|text| text.trim().parse::<f64>().ok()) {
        return Ok(used_ns / 1e9);
    }
    let version_2 = fs::read_to_string("/sys/fs/cgroup/cpu.stat").unwrap_or_default();
    let used_us = version_2.lines().find_map(|line| line.strip_prefix("usage_usec "));
    let used_us = used_us.context("no control group tells the processor time of the machine")?;
    Ok(used_us.trim().parse::<f64>()? / 1e6)
}
