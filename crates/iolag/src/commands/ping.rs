//! `iolag ping`: one line per probe, live, and a summary at the end.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;

use iolag_analysis::history::{Blockers, SummaryOptions, summarise_series};
use iolag_keeper::Signals;
use iolag_model::{
    Anchor, Clock, HistoryColumns, HistoryRecord, HistorySample, MonotonicClock, MonotonicTime, Nanoseconds,
    Outcome, ProbeId, ProbePhase, ProbeStatus, Series, SeriesKind,
};
use iolag_report::ping_text;
use iolag_watch::{
    AtDeadline, Configurations, Errands, FirstContact, Place, PlannedTask, Recall, Recollection,
    RuntimeDirectory, Spool, Watch as Watching, WatchIdentity, WatchLimit, WatchObserver, WatchPlan,
    WatchTarget,
};
use iolag_workload::{TaskSpec, probe_task, remove_probe_files};

use super::start::{become_keeper, leave_current_directory};
use super::watch::contact::look_at_target;
use super::watch::terminal::Lines;
use crate::args::{Common, Ping};
use crate::conduct::scout::{self, Answer};
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use crate::watching::{Origin, Places};

/// How long the directory may take to let what was made be removed.
const REMOVAL: Nanoseconds = Nanoseconds::from_seconds(5);
/// When a probe that has not ended is told.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(2);
const GRACE: Nanoseconds = Nanoseconds::from_seconds(1);
/// How often the age of a probe in flight is shown at a terminal.
const AGES: Nanoseconds = Nanoseconds::from_seconds(1);

/// Runs the command.
///
/// # Errors
/// If the directory cannot be measured.
pub fn run(options: &Ping, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "ping")?;
    let Some(spec) = TaskSpec::from_name(&options.task) else {
        return Err(Failure::usage(format!(
            "there is no task {:?}: expected one of {}",
            options.task,
            TaskSpec::builtin_names().join(", ")
        )));
    };
    let keeper = become_keeper(common)?;
    leave_current_directory();
    let directory = options.directory.clone();
    let places = Places::new(Some("/ping"), None, &Origin::of_process()).map_err(Failure::bug)?;
    let runtime_path = places.runtime_base.join(format!("ping-{}", std::process::id()));
    let plan = plan(options, &directory, spec, &runtime_path);
    let contacts = look_at_target(&plan)?.all;
    if let Some(FirstContact::Silent { start, .. }) = contacts.first() {
        let age = MonotonicClock.now().since(*start);
        output::notice(
            common,
            &format!("{} has not answered for {age}; it is asked all the same", directory.display()),
        );
    }
    let is_base_ours = !places.runtime_base.exists();
    let summary = ping(&plan, options, contacts, &keeper.signals, &runtime_path);
    if is_base_ours {
        // Another watch or ping may use it by now; then it is not empty.
        let _ = std::fs::remove_dir(&places.runtime_base);
    }
    let summary = summary?;
    let name = Place::watch_name(&plan.host, &plan.runtime_directory);
    let left = match summary.code {
        ExitCode::Fine => remove(&directory, &name),
        // A probe hangs there: whoever went to remove what it made would only be the next.
        _ => vec![may_be_left(&directory, &name, "a probe hangs there")],
    };
    output::print(&summary.text);
    for sentence in left {
        output::complain(&sentence);
    }
    Ok(summary.code)
}

fn plan(options: &Ping, directory: &Path, spec: TaskSpec, runtime: &Path) -> WatchPlan {
    let shell = std::env::var_os("SHELL").map_or_else(|| "/bin/sh".into(), std::path::PathBuf::from);
    WatchPlan {
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        period: options.every,
        jitter: Nanoseconds::ZERO,
        targets: vec![WatchTarget {
            directory: directory.to_owned(),
            name: output::printable(&directory.display().to_string()),
            kind: SeriesKind::Task,
            tasks: vec![PlannedTask {
                name: options.task.clone(),
                spec: spec.with_shell(&shell),
                soft_deadline: PATIENCE.min(options.deadline),
                deadline: options.deadline,
                at_deadline: AtDeadline::End { grace: GRACE },
            }],
        }],
        covariates: Vec::new(),
        runtime_directory: runtime.to_owned(),
        orphans_max: 1,
    }
}

/// What is said at the end.
struct Summary {
    text: String,
    code: ExitCode,
}

fn ping(
    plan: &WatchPlan,
    options: &Ping,
    contacts: Vec<FirstContact>,
    signals: &Signals,
    path: &Path,
) -> Result<Summary, Failure> {
    let runtime = RuntimeDirectory::open(path).map_err(Failure::unusable)?;
    let (mut spool, _) = Spool::open(&runtime).map_err(Failure::unusable)?;
    let identity = WatchIdentity {
        boot_id: iolag_store::boot_id().unwrap_or_default(),
        iolag_version: env!("CARGO_PKG_VERSION").to_owned(),
        history: "nowhere".to_owned(),
        seed: u64::from(std::process::id()),
        history_deadline: Nanoseconds::from_seconds(10),
        recall: Recall::Done,
        configurations: Configurations::default(),
        open_outages: Vec::new(),
    };
    let errands = Errands {
        probe_task: &probe_task,
        facts: &|_| Default::default(),
        recall: &|| Ok(Recollection::default()),
        remember: &|_| Ok(()),
    };
    let limit = options.count.map_or(WatchLimit::UntilStopped, WatchLimit::Rounds);
    let liveness = if std::io::stdout().is_terminal() { Liveness::Ages } else { Liveness::Lines };
    let mut pinging = Pinging::new(std::io::stdout(), liveness);
    let watching = Watching {
        plan,
        errands,
        runtime: &runtime,
        spool: &mut spool,
        signals,
        identity: &identity,
        contacts,
        anchors: &Anchor::take,
    };
    let end = watching.run(limit, &mut pinging);
    pinging.lines.finish(Nanoseconds::from_seconds(1));
    drop((spool, runtime));
    // Nothing of a ping is kept; what an orphan leaves in memory vanishes with the boot.
    let _ = std::fs::remove_dir_all(path);
    let code = if end.left_behind.is_empty() { ExitCode::Fine } else { ExitCode::Found };
    Ok(Summary { text: pinging.summary(), code })
}

/// Removes what the probes made; says what stays.
fn remove(directory: &Path, name: &str) -> Vec<String> {
    let removed = scout::ask("clean-up", REMOVAL, || {
        remove_probe_files(directory, name)
            .map(|left| {
                left.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason)).collect()
            })
            .map_err(|error| error.to_string())
    });
    match removed {
        Ok(Answer::Given(Ok(left))) => left,
        Ok(Answer::Given(Err(sentence))) => vec![sentence],
        Ok(Answer::None { age, .. }) => {
            vec![may_be_left(directory, name, &format!("{} has not answered for {age}", directory.display()))]
        }
        Err(failure) => vec![failure.sentence],
    }
}

fn may_be_left(directory: &Path, name: &str, why: &str) -> String {
    let made = directory.join(name);
    format!("{} may still be there: {why}; remove that directory when it answers again", made.display())
}

/// What is told of a probe while it is in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Liveness {
    /// Its age, in a line that is written anew: for a terminal.
    Ages,
    /// Only that it is slow.
    Lines,
}

/// Collects and tells.
struct Pinging<W> {
    lines: Lines<W>,
    liveness: Liveness,
    /// The probe that was begun last, as long as it has not ended.
    in_flight: Option<ProbeId>,
    series: Option<Series>,
    columns: HistoryColumns,
}

impl<W: Write + AsFd> Pinging<W> {
    fn new(output: W, liveness: Liveness) -> Self {
        let (lines, columns) = (Lines::to(output), HistoryColumns::default());
        Self { lines, liveness, in_flight: None, series: None, columns }
    }

    fn sample(&mut self, sample: &HistorySample) {
        if !sample.series.part.is_empty() {
            return;
        }
        let told = match sample.outcome {
            Outcome::Ok => format!("time={}", sample.duration_ns),
            Outcome::Late => format!("late, time={}", sample.duration_ns),
            Outcome::Error => format!("failed after {}: {}", sample.duration_ns, sample.failure.class()),
            Outcome::Timeout => format!("ended after {}", sample.duration_ns),
            Outcome::Hung => format!("hung for {}", sample.duration_ns),
            Outcome::Skipped => "skipped: an earlier probe has not ended".to_owned(),
            Outcome::Interrupted => format!("interrupted after {}", sample.duration_ns),
        };
        if self.in_flight == Some(sample.probe) && sample.outcome != Outcome::Hung {
            self.in_flight = None;
        }
        // A probe that was told to hang and ends is one probe, the last that is known of it.
        let at = match self.columns.probe.iter().position(|known| *known == sample.probe) {
            Some(at) => {
                self.replace(at, sample);
                at
            }
            None => {
                self.columns.push(sample);
                self.columns.len() - 1
            }
        };
        let line = format!("{}: seq={} {told}", sample.series, at + 1);
        self.lines.line(&line);
        if self.lines.is_gone() {
            // `iolag ping DIR | head`: nobody reads any more, so nobody is to be measured for; the end is that of Ctrl-C.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT);
        }
    }

    fn replace(&mut self, at: usize, sample: &HistorySample) {
        self.columns.duration_ns[at] = sample.duration_ns;
        self.columns.outcome[at] = sample.outcome;
    }

    fn summary(&self) -> String {
        let Some(series) = &self.series else { return String::new() };
        let mut blockers = Blockers::of_host(&series.key.host);
        blockers.add_series(series, &self.columns);
        ping_text(&summarise_series(series, &self.columns, &blockers, &SummaryOptions::default()))
    }
}

impl<W: Write + AsFd> WatchObserver for Pinging<W> {
    fn recorded(&mut self, record: &HistoryRecord) {
        match record {
            HistoryRecord::Sample(sample) => self.sample(sample),
            HistoryRecord::Series(series) if series.key.part.is_empty() => self.series = Some(series.clone()),
            _ => {}
        }
    }

    fn phase_changed(&mut self, probe: &ProbeStatus) {
        self.in_flight = Some(probe.probe);
        if probe.phase == ProbePhase::Slow {
            let waits = if probe.waits_in.is_empty() {
                String::new()
            } else {
                format!(", waiting in {}", probe.waits_in)
            };
            self.lines.line(&format!(
                "{}: no answer for {PATIENCE} (process {}{waits})",
                probe.series, probe.process
            ));
        }
    }

    fn troubled(&mut self, sentence: &str) {
        self.lines.line(&format!("iolag: {sentence}"));
    }

    fn wants_to_be_woken(&self) -> Option<Nanoseconds> {
        (self.liveness == Liveness::Ages && self.in_flight.is_some()).then_some(AGES)
    }

    fn tick(&mut self, now: MonotonicTime, in_flight: &[ProbeStatus]) {
        if let Some(probe) = in_flight.first() {
            let age_seconds = (now.since(probe.start_ns).0 + 500_000_000) / 1_000_000_000;
            self.lines.in_place(&format!("{age_seconds} s without an answer (process {})", probe.process));
        }
    }
}
