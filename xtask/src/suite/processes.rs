//! Who descends from whom, from /proc. What is read of all processes can be read of one that hangs, too; a command line cannot.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use rustix::process::Pid;

/// A living process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub id: Pid,
    parent: Option<Pid>,
    state: char,
    name: String,
    /// In which function of the kernel it waits, if it is told.
    waits_in: String,
}

impl fmt::Display for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {} {} ({}", self.id.as_raw_pid(), self.line(), self.state)?;
        if !matches!(&*self.waits_in, "" | "0") {
            write!(formatter, " in {}", self.waits_in)?;
        }
        write!(formatter, ")")
    }
}

impl Process {
    /// What it was started as, or its short name in parentheses if it has gone. Blocks while the process waits for a page of a dead mount.
    fn line(&self) -> String {
        let words = fs::read(format!("/proc/{}/cmdline", self.id.as_raw_pid())).unwrap_or_default();
        let words: Vec<_> = words.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        let line: String = words.join(" ").trim().chars().take(160).collect();
        if line.is_empty() { format!("({})", self.name) } else { line }
    }
}

/// Everybody alive who descends from `ancestor`; zombies are not alive.
pub fn descendants(ancestor: Pid) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in everybody() {
        let parent = process.parent.map_or(0, Pid::as_raw_pid);
        children.entry(parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![ancestor.as_raw_pid()];
    while let Some(parent) = parents.pop() {
        let born = children.remove(&parent).unwrap_or_default();
        parents.extend(born.iter().map(|process| process.id.as_raw_pid()));
        found.extend(born);
    }
    found.retain(|process| process.state != 'Z');
    found
}

fn everybody() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(read).collect()
}

fn read(number: i32) -> Option<Process> {
    let read = |name: &str| fs::read(format!("/proc/{number}/{name}")).unwrap_or_default();
    let stat = read("stat");
    let (name, state, parent) = parse_stat(&String::from_utf8_lossy(&stat))?;
    Some(Process {
        id: Pid::from_raw(number)?,
        parent: Pid::from_raw(parent),
        state,
        name,
        waits_in: String::from_utf8_lossy(&read("wchan")).trim().to_owned(),
    })
}

/// Name, state and parent of `12 (a name) S 1 …` (proc_pid_stat(5)); the name may hold parentheses and spaces.
fn parse_stat(text: &str) -> Option<(String, char, i32)> {
    let (head, rest) = text.rsplit_once(") ")?;
    let (_, name) = head.split_once(" (")?;
    let mut fields = rest.split(' ');
    Some((name.to_owned(), fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn names_with_parentheses_and_spaces_are_read() {
        assert_eq!(parse_stat("12 (a) (b) S 7 1 1"), Some(("a) (b".to_owned(), 'S', 7)));
        assert_eq!(parse_stat("12 (a"), None);
    }

    #[test]
    fn a_child_of_a_child_is_found_with_its_command() {
        let mut child = Command::new("sh").args(["-c", "sleep 30 & wait"]).spawn().unwrap();
        let own = rustix::process::getpid();
        let found = (0..1000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            let everybody = descendants(own).into_iter();
            everybody
                .map(|process| (process.id, process.to_string()))
                .find(|(_, text)| text.contains(" sleep 30 ("))
        });
        let (sleeper, text) = found.expect("the grandchild was not found within 10 s");
        rustix::process::kill_process(sleeper, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(text.starts_with(&format!("process {} sleep 30 (", sleeper.as_raw_pid())), "{text}");
    }
}
