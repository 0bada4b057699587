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
pub(crate) fn kill_descendants(ancestor: u32) {
    let parents = parents();
    for process in descendants(ancestor, &parents) {
        kill_child_of(process, parents[&process]);
    }
}

/// Processor time of a living process and of the children that it has waited for: user and system, in clock ticks.
pub(crate) fn processor_ticks(process: u32) -> Option<[u64; 2]> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut ticks = fields(&stat).skip(11).map(|field| field.parse::<u64>().ok());
    let (user, system, user_of_children, system_of_children) =
        (ticks.next()??, ticks.next()??, ticks.next()??, ticks.next()??);
    Some([user + user_of_children, system + system_of_children])
}

/// Tells, from one look to the next, whether a process waits for something itself.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    stat: String,
}

impl Rest {
    /// Whether the process sleeps, has no children, and has done nothing since the last look.
    ///
    /// One look is not enough: while children are looked for, one may end and the next not yet be there, and who is about to
    /// go on after a wait is called asleep for a moment. Both show in the next stat, which has what ended children used.
    pub(crate) fn look(&mut self, process: u32) -> bool {
        let has_children = parents().values().any(|parent| *parent == process);
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        self.is_undisturbed(stat) && !has_children
    }

    fn is_undisturbed(&mut self, stat: String) -> bool {
        let before = std::mem::replace(&mut self.stat, stat);
        self.stat == before && fields(&self.stat).next() == Some("S")
    }
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
    fn this_process_has_used_the_processor() {
        let own = std::process::id();
        assert!(processor_ticks(own).is_some());
        assert_eq!(processor_ticks(u32::MAX >> 1), None);
        assert!(parents().contains_key(&own));
    }

    #[test]
    fn who_sleeps_between_two_children_is_not_at_rest() {
        let mut rest = Rest::default();
        // One child waited for has 77 minor faults, two have 154.
        let looks = ["S 1 7 7 0 -1 0 67 77", "S 1 7 7 0 -1 0 67 154", "S 1 7 7 0 -1 0 67 154"];
        let at_rest = looks.map(|rest_of_stat| rest.is_undisturbed(format!("9 (sh) {rest_of_stat}")));
        assert_eq!(at_rest, [false, false, true]);
        assert!(!rest.is_undisturbed("9 (sh) R 1 7".into()) && !rest.is_undisturbed("9 (sh) R 1 7".into()));
        assert!(!rest.look(u32::MAX >> 1) && !rest.look(u32::MAX >> 1), "it is gone");
    }

    #[test]
    fn who_waits_for_a_child_is_not_at_rest_until_it_has_ended() {
        let mut shell =
            std::process::Command::new("/bin/sh").args(["-c", "sleep 60; exec sleep 60"]).spawn().unwrap();
        let has_child = || parents().values().any(|parent| *parent == shell.id());
        while !has_child() {}
        let mut rest = Rest::default();
        assert!(!rest.look(shell.id()) && !rest.look(shell.id()));
        kill_descendants(shell.id());
        while !rest.look(shell.id()) {}
        assert!(!has_child());
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}
