//! Finding and killing everything that descends from a process.
//!
//! Only /proc/PID/stat is read: it takes no lock that a hung process may hold. A process is killed through a descriptor
//! after its parent was looked at again, so that nobody is killed who got the process id of one that has just ended.

use std::collections::BTreeMap;
use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// Sends SIGKILL to all descendants of `ancestor`. Those that are started meanwhile are not found: whoever calls repeats
/// it until there are none.
pub(super) fn kill_descendants(ancestor: u32) {
    let parents = parents();
    for process in descendants(ancestor, &parents) {
        kill_child_of(process, parents[&process]);
    }
}

/// Processor time of a living process and of the children that it has waited for: user and system, in clock ticks.
pub(super) fn processor_ticks(process: u32) -> Option<[u64; 2]> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut ticks = fields(&stat).skip(11).map(|field| field.parse::<u64>().ok());
    let (user, system, user_of_children, system_of_children) =
        (ticks.next()??, ticks.next()??, ticks.next()??, ticks.next()??);
    Some([user + user_of_children, system + system_of_children])
}

/// Whether a process sleeps and has no children: it waits for something itself.
pub(super) fn waits_itself(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    fields(&stat).next() == Some("S") && !parents().values().any(|parent| *parent == process)
}

/// The parent of every process.
fn parents() -> BTreeMap<u32, u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    let processes = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter_map(|process| Some((process, parent_of(process)?))).collect()
}

fn parent_of(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    fields(&stat).nth(1)?.parse().ok()
}

fn descendants(ancestor: u32, parents: &BTreeMap<u32, u32>) -> Vec<u32> {
    let mut found = vec![ancestor];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        let children = parents.iter().filter(|(child, its)| **its == parent && **child != ancestor);
        found.extend(children.map(|(child, _)| *child));
    }
    found.split_off(1)
}

fn kill_child_of(process: u32, parent: u32) {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return };
    // Every failure below means that it has ended already.
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) => {
            if parent_of(process) == Some(parent) {
                let _ = pidfd_send_signal(&descriptor, Signal::KILL);
            }
        }
        // Kernels before 5.3.
        Err(Errno::NOSYS) if parent_of(process) == Some(parent) => {
            let _ = kill_process(pid, Signal::KILL);
        }
        Err(_) => {}
    }
}

/// The fields of a stat file after the name, which may itself contain spaces and parentheses.
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_in_every_generation_and_nobody_else() {
        let parents = [(2, 1), (3, 1), (4, 2), (5, 4), (6, 99), (7, 5), (99, 0)].into();
        let mut found = descendants(2, &parents);
        found.sort_unstable();
        assert_eq!(found, [4, 5, 7]);
        assert!(descendants(6, &parents).is_empty());
    }

    #[test]
    fn a_circle_is_no_trap() {
        // A table that is read while processes end and begin can contain nonsense.
        let parents = [(1, 1), (2, 1)].into();
        assert_eq!(descendants(1, &parents), [2]);
    }

    #[test]
    fn this_process_has_used_the_processor_and_is_not_waiting() {
        let own = std::process::id();
        assert!(processor_ticks(own).is_some());
        assert_eq!(processor_ticks(u32::MAX >> 1), None);
        assert!(parents().contains_key(&own));
        assert!(!waits_itself(u32::MAX >> 1));
    }
}
