//! Whether the keeper of a run is still there.
//!
//! A process id alone says nothing: it may have been given to another process, or belong to another boot. Start time and
//! boot id settle it. A keeper on another host cannot be seen from here, and homes are often shared by hosts: it counts
//! as alive, so that no command on one login node recovers or removes what another one is measuring.
//!
//! Limit: a run that was killed on a host which is gone for good is recovered only if the caller's own judgement says so.

use iolag_model::{ProcessStat, RunRecord, RunState};

/// A process, told apart from every other one of this boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperIdentity {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot (field 22 of /proc/PID/stat).
    pub start_ticks: u64,
    /// The boot in which it runs, if it was known.
    pub boot_id: Option<String>,
    /// The host on which it runs.
    pub host: String,
}

impl KeeperIdentity {
    /// The keeper of a run that says it is running.
    pub fn of(record: &RunRecord) -> Option<Self> {
        match &record.state {
            RunState::Running { keeper_pid, keeper_start_ticks, .. } => Some(Self {
                pid: *keeper_pid,
                start_ticks: *keeper_start_ticks,
                boot_id: record.environment.boot_id.clone(),
                host: record.environment.host.clone(),
            }),
            RunState::Complete | RunState::Incomplete { .. } | RunState::Recovered { .. } => None,
        }
    }

    /// The keeper that rescued a run.
    pub fn of_rescue(record: &RunRecord) -> Option<Self> {
        record.rescue.as_ref().map(|rescue| Self {
            pid: rescue.keeper_pid,
            start_ticks: rescue.keeper_start_ticks,
            boot_id: record.environment.boot_id.clone(),
            host: record.environment.host.clone(),
        })
    }

    /// Whether it ran in the present boot of this very machine. Of another one, locks and processes may not be seen here.
    pub fn is_of_this_boot(&self) -> bool {
        matches!((&self.boot_id, boot_id()), (Some(then), Some(now)) if *then == now)
    }

    /// The identity of the process `pid` of this machine, from /proc.
    pub fn of_process(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let start_ticks = ProcessStat::of(&stat).start_ticks()?;
        Some(Self { pid, start_ticks, boot_id: boot_id(), host: host_name() })
    }

    /// Whether that very process exists and is no zombie. On another host, or on one whose name has changed since, that
    /// cannot be seen: then it counts as alive.
    pub fn is_alive(&self) -> bool {
        if !self.is_of_this_boot() {
            if self.host != host_name() {
                return true;
            }
            if self.boot_id.is_some() && boot_id().is_some() {
                return false;
            }
        }
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)) else { return false };
        let stat = ProcessStat::of(&stat);
        stat.is_living() && stat.start_ticks() == Some(self.start_ticks)
    }
}

/// What this host is called.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The id of the present boot, if the kernel tells it.
pub fn boot_id() -> Option<String> {
    Some(std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_its_namesakes_are_not() {
        let own = KeeperIdentity::of_process(std::process::id()).unwrap();
        assert!(own.is_alive());
        assert!(!KeeperIdentity { start_ticks: own.start_ticks + 1, ..own.clone() }.is_alive());
        assert!(!KeeperIdentity { boot_id: Some("another".into()), ..own.clone() }.is_alive());
        let elsewhere =
            KeeperIdentity { boot_id: Some("another".into()), host: "elsewhere".into(), ..own.clone() };
        assert!(elsewhere.is_alive());
        assert!(KeeperIdentity { boot_id: None, ..elsewhere }.is_alive());
        assert!(KeeperIdentity { boot_id: None, ..own.clone() }.is_alive());
        assert!(!KeeperIdentity { pid: u32::MAX, ..own }.is_alive());
    }

    #[test]
    fn only_what_this_boot_has_seen_is_certain() {
        let own = KeeperIdentity::of_process(std::process::id()).unwrap();
        assert!(own.is_of_this_boot());
        // A host that is called differently by now is still this boot.
        assert!(KeeperIdentity { host: "renamed".into(), ..own.clone() }.is_of_this_boot());
        assert!(!KeeperIdentity { boot_id: Some("another".into()), ..own.clone() }.is_of_this_boot());
        assert!(!KeeperIdentity { boot_id: None, ..own }.is_of_this_boot());
    }
}
