//! What the tests of running watches share: a plan with short times, a history in a vector, and an observer that remembers.

#![allow(dead_code, clippy::unwrap_used, clippy::type_complexity, reason = "tests; each file uses a part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use iolag_fixtures::FuseMount;
use iolag_keeper::Signals;
use iolag_model::{
    Anchor, Configuration, HistoryRecord, HistorySample, Nanoseconds, Outage, Outcome, ProbeStatus,
    SeriesKind,
};
use iolag_watch::{
    AtDeadline, Backing, Callbacks, Configurations, FirstContact, Location, Mounted, Place, PlannedTask,
    Recall, Recollection, RuntimeDirectory, Spool, Watch, WatchIdentity, WatchLimit, WatchObserver,
    WatchPlan, WatchSummary, WatchTarget,
};
use iolag_workload::{ProbeTask, TaskSpec, probe_task};

pub const HOST: &str = "node1";

/// Milliseconds.
pub const fn ms(milliseconds: u64) -> Nanoseconds {
    Nanoseconds::from_milliseconds(milliseconds)
}

/// A task with deadlines in milliseconds that is ended with a grace of 30 ms.
pub fn task(name: &str, spec: TaskSpec, soft: u64, hard: u64) -> PlannedTask {
    PlannedTask {
        name: name.to_owned(),
        spec,
        soft_deadline: ms(soft),
        deadline: ms(hard),
        at_deadline: AtDeadline::End { grace: ms(30) },
    }
}

pub fn target(directory: &Path, name: &str, tasks: Vec<PlannedTask>) -> WatchTarget {
    let (location, name) = (Location::Directory(directory.to_owned()), name.to_owned());
    WatchTarget { location, name, kind: SeriesKind::Task, mounted: Mounted::Required, tasks }
}

/// A scene for watches: a runtime directory that outlives them.
pub struct Scene {
    pub runtime: tempfile::TempDir,
    pub plan: WatchPlan,
    pub open_outages: Vec<Outage>,
    pub recall: Recall,
    /// For the next watch.
    pub contacts: std::cell::RefCell<Vec<FirstContact>>,
    pub anchors: Box<dyn Fn() -> Anchor>,
}

impl Scene {
    pub fn new(period: Nanoseconds, targets: Vec<WatchTarget>) -> Self {
        let memory = Path::new("/dev/shm");
        let runtime = match memory.is_dir() {
            true => tempfile::tempdir_in(memory).unwrap(),
            false => tempfile::tempdir().unwrap(),
        };
        let plan = WatchPlan {
            host: HOST.to_owned(),
            period,
            jitter: Nanoseconds::ZERO,
            targets,
            covariates: Vec::new(),
            facts: Vec::new(),
            runtime_directory: runtime.path().join("watch"),
            orphans_max: 8,
        };
        Self {
            runtime,
            plan,
            open_outages: Vec::new(),
            recall: Recall::Done,
            contacts: Default::default(),
            anchors: Box::new(Anchor::take),
        }
    }

    pub fn directory(&self) -> RuntimeDirectory {
        RuntimeDirectory::open_on(&self.plan.runtime_directory, Backing::Anything).unwrap()
    }

    /// Watches with the real tasks and a history that takes everything.
    pub fn watch(&self, limit: WatchLimit, observer: &mut Onlooker<'_>) -> WatchSummary {
        self.watch_with(limit, &probe_task, &|_| Ok(()), observer)
    }

    pub fn watch_with(
        &self,
        limit: WatchLimit,
        probe_task: &dyn Fn(&TaskSpec, u64) -> Box<dyn ProbeTask>,
        remember: &dyn Fn(&[HistoryRecord]) -> Result<(), String>,
        observer: &mut Onlooker<'_>,
    ) -> WatchSummary {
        self.watch_observed(limit, probe_task, remember, observer)
    }

    pub fn watch_observed(
        &self,
        limit: WatchLimit,
        probe_task: &dyn Fn(&TaskSpec, u64) -> Box<dyn ProbeTask>,
        remember: &dyn Fn(&[HistoryRecord]) -> Result<(), String>,
        observer: &mut dyn WatchObserver,
    ) -> WatchSummary {
        let facts = |target: &WatchTarget| BTreeMap::from([("name".to_owned(), target.name.clone())]);
        let callbacks = Callbacks { probe_task, facts: &facts, recall: &knows_nothing, remember };
        self.watch_with_facts(limit, callbacks, Vec::new(), observer)
    }

    pub fn watch_with_facts(
        &self,
        limit: WatchLimit,
        callbacks: Callbacks<'_>,
        known_configurations: Vec<Configuration>,
        observer: &mut dyn WatchObserver,
    ) -> WatchSummary {
        let runtime = self.directory();
        let (mut spool, _) = Spool::open(&runtime).unwrap();
        let signals = Signals::block().unwrap();
        let identity = WatchIdentity {
            boot_id: std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned(),
            iolag_version: "0".to_owned(),
            history: "memory".to_owned(),
            seed: 7,
            history_deadline: ms(2000),
            recall: self.recall,
            configurations: Configurations::resume(known_configurations),
            open_outages: self.open_outages.clone(),
        };
        let watch = Watch {
            plan: &self.plan,
            callbacks,
            runtime: &runtime,
            spool: &mut spool,
            signals: &signals,
            identity: &identity,
            contacts: self.contacts.take(),
            anchors: self.anchors.as_ref(),
        };
        watch.run(limit, observer)
    }
}

/// A history that is new.
pub fn knows_nothing() -> Result<Recollection, String> {
    Ok(Recollection::default())
}

/// Remembers everything, and does something at the end of rounds.
#[derive(Default)]
pub struct Onlooker<'a> {
    pub records: Vec<HistoryRecord>,
    pub phases: Vec<ProbeStatus>,
    pub troubles: Vec<String>,
    pub rounds_ended: u64,
    pub at_round_end: Option<Box<dyn FnMut(u64) + 'a>>,
    pub at_record: Option<Box<dyn FnMut(&HistoryRecord) + 'a>>,
}

impl WatchObserver for Onlooker<'_> {
    fn recorded(&mut self, record: &HistoryRecord) {
        self.records.push(record.clone());
        if let Some(act) = &mut self.at_record {
            act(record);
        }
    }

    fn phase_changed(&mut self, probe: &ProbeStatus) {
        self.phases.push(probe.clone());
    }

    fn round_ended(&mut self, _round: u64) {
        self.rounds_ended += 1;
        if let Some(act) = &mut self.at_round_end {
            act(self.rounds_ended);
        }
    }

    fn troubled(&mut self, sentence: &str) {
        self.troubles.push(sentence.to_owned());
    }
}

impl Onlooker<'_> {
    /// Samples of wholes on a target, as a history would keep them: of two with one key the one that knows more.
    pub fn wholes(&self, target: &str) -> Vec<HistorySample> {
        let mut kept: BTreeMap<u64, HistorySample> = BTreeMap::new();
        for record in &self.records {
            let HistoryRecord::Sample(sample) = record else { continue };
            if sample.series.target != target || !sample.series.part.is_empty() {
                continue;
            }
            match kept.get(&sample.probe.0) {
                Some(known) if !sample.supersedes(known) => {}
                _ => drop(kept.insert(sample.probe.0, sample.clone())),
            }
        }
        kept.into_values().collect()
    }

    pub fn outages(&self) -> Vec<Outage> {
        let mut kept: BTreeMap<u64, Outage> = BTreeMap::new();
        for record in &self.records {
            if let HistoryRecord::Outage(outage) = record {
                kept.insert(outage.probe.0, outage.clone());
            }
        }
        kept.into_values().collect()
    }
}

/// Living processes with this argument.
pub fn processes_with(argument: &str) -> usize {
    let is_argument = |word: &[u8]| word == argument.as_bytes();
    command_lines().filter(|line| line.split(|byte| *byte == 0).any(is_argument)).count()
}

fn command_lines() -> impl Iterator<Item = Vec<u8>> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.flatten().filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
}

/// Living processes that list this directory; the fixture has its name among its arguments too.
pub fn listing(path: &Path) -> usize {
    let is_argument = |word: &[u8]| word == path.as_os_str().as_encoded_bytes();
    command_lines()
        .filter(|line| line.starts_with(b"/bin/ls\0") && line.split(|byte| *byte == 0).any(is_argument))
        .count()
}

/// Open descriptors of this process.
pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Resident size of a process in KiB.
pub fn resident_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A new directory on the disk of the test.
pub fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The path of the place that a task has below a target.
pub fn place_of(scene: &Scene, target: &Path, task: &str) -> PathBuf {
    target.join(Place::watch_name(HOST, &scene.plan.runtime_directory)).join(task)
}

/// For whatever must happen on a busy machine, unless something hangs.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(90);

/// Waits until `is_so`: a hang of the test itself is what is bounded.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what} did not happen within {PATIENCE:?}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Whether a process has ended, be it that nobody has asked how.
pub fn has_ended(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

/// Processes that this thread has started and that have not been reaped.
pub fn children() -> Vec<u32> {
    let children = std::fs::read_to_string("/proc/thread-self/children").unwrap();
    children.split_whitespace().map(|child| child.parse().unwrap()).collect()
}

/// Waits, at the end of a round and within the process of the watch, until what a mount has let go has ended: on a busy machine that may
/// take longer than all rounds that are left. The watch stands still meanwhile, so that no round is lost.
pub fn wait_for_what_was_released(mount: &FuseMount) {
    let is_over = |child: u32| child == mount.daemon_pid() || has_ended(child);
    wait_until("the end of what was released", || children().into_iter().all(is_over));
}

/// Whether the watch has gone on with a target since then: rounds follow each other so fast that of the last ones all may be skipped
/// because of one probe that takes its time.
pub fn is_fine_after(samples: &[HistorySample], moment: i64) -> bool {
    samples.iter().any(|sample| sample.outcome == Outcome::Ok && sample.start.0 > moment)
}

/// Wall-clock nanoseconds.
pub fn wall() -> i64 {
    Anchor::take().realtime_ns as i64
}
