//! The memory of a program with all its processes, while it runs.

use std::fs;
use std::process::Child;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

const EVERY: Duration = Duration::from_millis(50);

/// Memory in KiB at its peak, summed over all processes at the same moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Peak {
    /// Pages that processes share are counted once, in equal parts.
    pub proportional_kib: u64,
    /// Pages that processes share are counted in each.
    pub resident_kib: u64,
    /// Processes at most.
    pub processes: usize,
}

/// Looks at a program and its descendants every 50 ms until it ends.
pub fn watch(mut child: Child) -> Result<Peak> {
    let mut peak = Peak::default();
    loop {
        let family = family_of(child.id());
        let memory: Vec<(u64, u64)> = family.iter().filter_map(|process| memory_of(*process)).collect();
        peak.proportional_kib = peak.proportional_kib.max(memory.iter().map(|(pss, _)| pss).sum());
        peak.resident_kib = peak.resident_kib.max(memory.iter().map(|(_, rss)| rss).sum());
        peak.processes = peak.processes.max(memory.len());
        if let Some(status) = child.try_wait().context("waiting for the program")? {
            ensure!(status.success(), "the program failed: {status}");
            return Ok(peak);
        }
        std::thread::sleep(EVERY);
    }
}

/// A process and all its descendants.
pub fn family_of(process: u32) -> Vec<u32> {
    let mut family = vec![process];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        next += 1;
        let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { continue };
        for thread in threads.flatten() {
            // A process that ended meanwhile has no children.
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            family.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    family
}

/// Pss and Rss in KiB; `None` of a process that ended.
fn memory_of(process: u32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    Some((field_kib(&text, "Pss:")?, field_kib(&text, "Rss:")?))
}

fn field_kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn fields_of_a_rollup_are_found() {
        let text = "55-66 ---p 0 0 [rollup]\nRss:                1700 kB\nPss:                 300 kB\nPss_Dirty: 9 kB\n";
        assert_eq!((field_kib(text, "Pss:"), field_kib(text, "Rss:")), (Some(300), Some(1700)));
        assert_eq!(field_kib(text, "Swap:"), None);
    }

    #[test]
    fn children_of_children_are_counted() {
        // The first shell waits for two others.
        let mut command = Command::new("sh");
        command.args(["-c", "sh -c 'sleep 0.3; true' & sh -c 'sleep 0.3; true'; wait"]).stdin(Stdio::null());
        let peak = watch(command.spawn().unwrap()).unwrap();
        assert!(peak.processes >= 3, "{peak:?}");
        assert!(peak.resident_kib >= peak.proportional_kib && peak.proportional_kib > 0, "{peak:?}");
    }
}
