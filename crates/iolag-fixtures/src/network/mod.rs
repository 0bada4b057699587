//! Clients of file servers, and their servers, on one machine.

mod gluster;
mod sshfs;

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

pub use gluster::GlusterMount;
pub use sshfs::SshfsMount;

/// For a start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Waits until this client has mounted what it serves.
///
/// # Panics
/// If it ends instead, or takes too long.
fn wait_until_mounted(mount_point: &Path, client: &mut Child) {
    let mount_point = mount_point.to_str().expect("the temporary directory is text");
    wait_until(client, "the client mounts", || {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        mounts.lines().any(|line| line.split(' ').nth(1) == Some(mount_point))
    });
}

/// Waits until this process has done something.
///
/// # Panics
/// If it ends instead, or takes too long.
fn wait_until(process: &mut Child, what: &str, is_done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_done() {
        let ended = process.try_wait().ok().flatten();
        assert!(ended.is_none() && begin.elapsed() < PATIENCE, "waited in vain until {what}: {ended:?}");
        std::thread::sleep(POLL_INTERVAL);
    }
}
