//! The family of a process: what it started, and what is left of that when it is gone.
//!
//! A program that waits in the kernel outlives the child that started it, however that was ended; who counts only children would
//! start the next one on the same mount, and the next. Only `children` and `stat` below /proc are read.

use iolag_model::ProcessStat;

use super::evidence::read;

/// Processes beyond this number are left out.
const PROCESSES_MAX: usize = 256;

/// The living descendants of a process by its first thread, and so on, nearest first.
pub fn descendants(process: u32) -> Vec<u32> {
    let mut family = children(process);
    let mut asked = 0;
    while asked < family.len() {
        let grandchildren = children(family[asked]);
        family.extend(grandchildren);
        family.truncate(PROCESSES_MAX);
        asked += 1;
    }
    family
}

/// The processes of a session, those that have ended and were not asked for excepted. Looks at every process of the machine.
pub fn members_of_session(session: u32) -> Vec<u32> {
    living(SESSION, session).take(PROCESSES_MAX).collect()
}

/// Whether a process group has a process that has not ended. Looks at every process of the machine.
pub(crate) fn is_living_group(group: u32) -> bool {
    living(GROUP, group).next().is_some()
}

/// Where a stat file has the process group.
const GROUP: usize = 5;
/// Where it has the session.
const SESSION: usize = 6;

/// The processes of which this field of the stat file is `value`, and that have not ended.
fn living(field: usize, value: u32) -> impl Iterator<Item = u32> {
    let is_meant = move |process: &u32| {
        let stat = read(&format!("/proc/{process}/stat")).unwrap_or_default();
        let stat = ProcessStat::of(&stat);
        stat.is_living() && stat.number(field) == Some(u64::from(value))
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    processes.filter(is_meant)
}

fn children(process: u32) -> Vec<u32> {
    let text = read(&format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Child, Orphanage, SharedWords, Word};
    use iolag_model::Nanoseconds;

    #[test]
    fn grandchildren_are_found_by_descent_and_by_session() {
        let words = SharedWords::<[Word; 1]>::new().unwrap();
        let theirs = words.clone();
        let mut child = Child::fork_apart("test", Orphanage::Die, move || {
            // SAFETY: this process has one thread; both sleep until they are killed.
            let grandchild = unsafe { libc::fork() };
            if grandchild > 0 {
                theirs[0].store(grandchild as u64);
            }
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        })
        .unwrap();
        while words[0].load() == 0 {
            assert_eq!(child.wait(Nanoseconds::from_milliseconds(1)), None);
        }
        let grandchild = words[0].load() as u32;
        assert_eq!(descendants(child.id()), [grandchild]);
        let mut members = members_of_session(child.id());
        members.sort_unstable();
        let mut expected = [child.id(), grandchild];
        expected.sort_unstable();
        assert_eq!(members, expected);
        child.end(Nanoseconds::from_seconds(5));
        assert_eq!(descendants(u32::MAX >> 1), []);
    }
}
