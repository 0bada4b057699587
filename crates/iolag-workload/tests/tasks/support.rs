//! What the tests share: a recorder that remembers, and a directory to work in.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use iolag_fixtures::{current_test, skip};
use iolag_model::Nanoseconds;
use iolag_workload::{PartEnding, PartRecorder, ProbeTask, TaskError, TaskOutput, TaskSpec, probe_task};

/// What happened to parts, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stamp {
    /// A part began.
    Begin(usize),
    /// It ended so.
    End(usize, PartEnding),
}

/// Remembers stamps with their times.
#[derive(Debug, Default)]
pub struct Remembering {
    pub stamps: Vec<(Instant, Stamp)>,
    pub guard: Option<u32>,
    pub said: Option<String>,
}

impl PartRecorder for Remembering {
    fn begin(&mut self, part: usize) {
        self.stamps.push((Instant::now(), Stamp::Begin(part)));
    }

    fn end(&mut self, part: usize, ending: PartEnding) {
        self.stamps.push((Instant::now(), Stamp::End(part, ending)));
    }

    fn end_ago(&mut self, part: usize, ending: PartEnding, ago: Nanoseconds) {
        self.stamps.push((Instant::now() - ago.as_duration(), Stamp::End(part, ending)));
    }

    fn said(&mut self, line: &str) {
        self.said = Some(line.to_owned());
    }

    fn guarded(&mut self, guard: u32) {
        assert!(self.stamps.is_empty(), "the guard is told before the first begin");
        self.guard = Some(guard);
    }
}

impl Remembering {
    /// The order of begins (`+part`) and ends (`-part`).
    pub fn order(&self) -> String {
        let text = |stamp: &Stamp| match stamp {
            Stamp::Begin(part) => format!("+{part}"),
            Stamp::End(part, _) => format!("-{part}"),
        };
        self.stamps.iter().map(|(_, stamp)| text(stamp)).collect::<Vec<_>>().join(" ")
    }

    /// How a part ended.
    pub fn ending(&self, part: usize) -> PartEnding {
        let found = self.stamps.iter().find_map(|(_, stamp)| match stamp {
            Stamp::End(ended, ending) if *ended == part => Some(*ending),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("part {part} has not ended: {self:?}"))
    }

    /// How long a part took.
    pub fn duration(&self, part: usize) -> Duration {
        let begin = self.stamps.iter().find(|(_, stamp)| *stamp == Stamp::Begin(part)).expect("it began").0;
        let is_end = |stamp: &Stamp| matches!(stamp, Stamp::End(ended, _) if *ended == part);
        let end = self.stamps.iter().find(|(_, stamp)| is_end(stamp)).expect("it ended").0;
        end - begin
    }
}

/// One probe in `place`, in this process.
pub fn probe(place: &Path, spec: &TaskSpec) -> Result<Remembering, TaskError> {
    perform(place, &mut *probe_task(spec, 7))
}

/// The same with a task that is already there.
pub fn perform(place: &Path, task: &mut dyn ProbeTask) -> Result<Remembering, TaskError> {
    let directory = File::open(place).expect("the place can be opened");
    let mut recorder = Remembering::default();
    task.prepare(directory.as_fd(), &mut recorder)?;
    task.perform(directory.as_fd(), &mut recorder);
    Ok(recorder)
}

/// Names in a directory, sorted.
pub fn names(place: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(place)
        .expect("it can be listed")
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A command of the user's, run by `sh`.
pub fn shell_command(script: &str, output: TaskOutput) -> TaskSpec {
    TaskSpec::Command { command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(), output }
}

/// For whatever must happen on a busy machine, unless something hangs.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Waits for something that happens at once on a machine with nothing else to do.
pub fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Seconds to sleep that nobody else on this machine sleeps, by which processes of this test are known.
pub fn seconds_of(kind: u32) -> String {
    format!("{kind}{:08}.25", std::process::id())
}

/// Processes that have this text among their arguments.
pub fn processes_with(text: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("procfs");
    let has_text = |process: &u32| {
        let arguments = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|argument| argument == text.as_bytes())
    };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(has_text).count()
}

/// Peak of this process's resident memory. The kernel adds it up from counters of each processor, so it may seem to fall a little.
pub fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("Linux says it");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number of KiB")
}

/// Whether this test is skipped because a program is not here.
pub fn lacks(program: &str) -> bool {
    let lacks = !Path::new(program).exists();
    if lacks {
        skip(&current_test(), &format!("there is no {program}"));
    }
    lacks
}
