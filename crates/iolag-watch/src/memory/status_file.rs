//! What the watch is doing, as a file that others read: `iolag watch --status`, `iolag serve`.
//!
//! Invariants: the file is replaced as a whole, so a reader sees one status or the next, never a mixture; a status names the process
//! and the boot that wrote it, so one that a killed watch left is not taken for the present.
//!
//! Limits: a watch in another process namespace (a container) cannot be seen, and counts as ended.

use std::path::Path;

use iolag_model::{ProcessStat, WatchStatus};
use serde::Deserialize;

use crate::memory::runtime::{RuntimeDirectory, RuntimeError};

/// The version of the form that is written and read here.
pub const STATUS_VERSION: u32 = 1;

pub(crate) const NAME: &str = "status.json";
/// Some thousand series fit.
const STATUS_BYTES_MAX: u64 = 16 << 20;

/// What a runtime directory says of its watch.
#[derive(Debug, Clone, PartialEq)]
pub enum PublishedStatus {
    /// The watch that wrote this goes on.
    Live(WatchStatus),
    /// The watch that wrote this is gone; this is the last that it said.
    Ended(WatchStatus),
    /// No watch has said anything.
    None,
}

/// Publishes what the watch is doing, in the place of what it said before.
///
/// # Errors
/// If it cannot be written; then the former status stands.
pub fn publish(directory: &RuntimeDirectory, status: &WatchStatus) -> Result<(), RuntimeError> {
    let text = serde_json::to_vec(status).map_err(|error| RuntimeError::Damaged {
        path: directory.path().join(NAME),
        what: format!("the status has no form as text: {error}"),
    })?;
    directory.replace_file(NAME, &text)
}

/// Reads what the watch of the runtime directory at `path` last published.
///
/// # Errors
/// If the directory is no safe place, or the file is damaged or of another version.
pub fn read_status(path: &Path) -> Result<PublishedStatus, RuntimeError> {
    read_status_below(path, Path::new("/proc"))
}

/// [`read_status`] with another directory in the place of /proc.
///
/// # Errors
/// As [`read_status`].
pub fn read_status_below(path: &Path, proc: &Path) -> Result<PublishedStatus, RuntimeError> {
    let Some(directory) = RuntimeDirectory::open_read_only(path)? else { return Ok(PublishedStatus::None) };
    let Some(text) = directory.read_file(NAME, STATUS_BYTES_MAX)? else { return Ok(PublishedStatus::None) };
    let status = parse(&text).map_err(|what| RuntimeError::Damaged { path: path.join(NAME), what })?;
    Ok(if is_alive(&status, proc) { PublishedStatus::Live(status) } else { PublishedStatus::Ended(status) })
}

/// The part of a status that all versions have.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

fn parse(text: &[u8]) -> Result<WatchStatus, String> {
    let damaged = |error: serde_json::Error| {
        format!("it is no status of a watch ({error}); remove it, a running watch writes it anew")
    };
    // First of all, because another version may lack any other field.
    let Versioned { version } = serde_json::from_slice(text).map_err(damaged)?;
    if version != STATUS_VERSION {
        return Err(format!(
            "it has version {version} and this iolag reads version {STATUS_VERSION}; use the iolag that runs the watch"
        ));
    }
    serde_json::from_slice(text).map_err(damaged)
}

/// Whether that very process of that very boot exists and is no zombie.
fn is_alive(status: &WatchStatus, proc: &Path) -> bool {
    boot_id(proc).as_ref() == Some(&status.boot_id)
        && is_that_process(proc, status.process, status.process_start_ticks)
}

/// The kernel's id of the present boot.
pub(crate) fn boot_id(proc: &Path) -> Option<String> {
    let text = std::fs::read_to_string(proc.join("sys/kernel/random/boot_id")).ok()?;
    Some(text.trim().to_owned())
}

/// Whether the process that started at this tick since boot exists and is no zombie.
pub(crate) fn is_that_process(proc: &Path, process: u32, start_ticks: u64) -> bool {
    let Ok(stat) = std::fs::read_to_string(proc.join(format!("{process}/stat"))) else { return false };
    let stat = ProcessStat::of(&stat);
    stat.is_living() && stat.start_ticks() == Some(start_ticks)
}
