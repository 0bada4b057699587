//! `iolag check`: how the directories stand to each other, and per directory a verdict and findings.

use iolag_model::{Level, Nanoseconds, Operation, RunRecord, ServerRecord, TargetIndex, TargetRecord, Trust};

use super::comparison::{Compared, slower_than_any};
use super::findings::{check_findings, measured_in_part};
use super::partial_create::PartialCreate;
use super::ranking::{Ranked, ranking};
use super::rows::{KNOWN_ROWS, KNOWN_ROWS_WITH_SERVERS};
use super::steadiness::unsteady;
use super::stopped::{Stopped, answered_ns};
use super::verdict::{Evidence, Verdict, verdict};
use crate::finding::of_runs::{RunFinding, Silent};
use crate::finding::words::joined;
use crate::run::any_workload::footnotes;
use crate::run::summary::{Precision, SUMMARY_SCHEMA, Summaries, Summary};
use crate::run::surroundings::generator::{generator_busy, of_a_look};
use crate::run::surroundings::memory::memory_footnote;

/// What `iolag check` found out.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckAnalysis {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How quantiles were found.
    pub precision: Precision,
    /// How the directories stand to each other, in one sentence; absent if there is only one.
    pub ranking: Option<String>,
    /// The directories, in the order of the run's targets.
    pub directories: Vec<DirectoryAnalysis>,
    /// A directory on the machine's own memory, with which they were compared.
    pub control: Option<DirectoryAnalysis>,
    /// What was found of the host, and so of all directories.
    pub findings: Vec<RunFinding>,
    /// What is to be known of nearly every result, each in a sentence; told in one line.
    pub footnotes: Vec<String>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
    /// How the numbers came about: for example which compiler was used.
    pub remarks: Vec<String>,
}

impl CheckAnalysis {
    /// The rows that a user knows, in their order.
    pub fn known_rows(&self) -> &'static [Operation] {
        match self.directories.iter().any(DirectoryAnalysis::is_server) {
            true => &KNOWN_ROWS_WITH_SERVERS,
            false => &KNOWN_ROWS,
        }
    }
}

/// What was found out about one directory, or one server.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectoryAnalysis {
    /// Its number among the run's targets.
    pub target: TargetIndex,
    /// Its name as the user gave it; of a server without its settings, unless only these tell it from another.
    pub name: String,
    /// Kind of its file system, if known.
    pub file_system: Option<String>,
    /// What the server said at the first contact, of a server that did.
    pub server: Option<ServerRecord>,
    /// It did not answer; so long was it waited for.
    pub unanswered_ns: Option<Nanoseconds>,
    /// Its operations, iolag's own left out.
    pub summaries: Vec<Summary>,
    /// How far creating files came, where only a part of them could be created.
    pub partial_create: Option<PartialCreate>,
    /// How it feels.
    pub verdict: Verdict,
    /// What else was found, the gravest first.
    pub findings: Vec<RunFinding>,
}

impl DirectoryAnalysis {
    /// Whether it is a server that answered.
    pub fn is_server(&self) -> bool {
        self.server.is_some()
    }

    /// Kind of its file system, or the server's software, if known.
    pub fn kind(&self) -> Option<&str> {
        self.file_system.as_deref().or_else(|| software(self.server.as_ref()?))
    }
}

/// What a server calls itself, without the packager's words.
fn software(server: &ServerRecord) -> Option<&str> {
    server.software.as_deref().map(|software| software.split(" (").next().unwrap_or(software))
}

/// Judges a run of `iolag check` by summaries that tell targets apart, but neither stages nor clients.
pub fn analyse_check(run: &RunRecord, summaries: &Summaries) -> CheckAnalysis {
    let control = run.control();
    let all: Vec<Measured<'_>> = run
        .targets
        .iter()
        .enumerate()
        .map(|(index, target)| Measured::new(index, target, run, summaries))
        .collect();
    let compared: Vec<Compared<'_>> = all
        .iter()
        .map(|one| Compared {
            name: one.name,
            summaries: &one.summaries,
            is_control: Some(one.index) == control,
        })
        .collect();
    let mut ranked = Vec::new();
    let mut directories = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let (memory, others): (Vec<Compared<'_>>, Vec<Compared<'_>>) =
            compared[..index].iter().chain(&compared[index + 1..]).partition(|other| other.is_control);
        let evidence = Evidence {
            summaries: &one.summaries,
            unanswered_ns: one.unanswered_ns,
            contact: one.target.contact,
            failure: one.target.failure.as_deref(),
            stopped: Stopped::of(&one.summaries, one.hung_opening.as_ref(), &run.anchors),
            partial: one.partial,
            slower: slower_than_any(compared[index], &others),
            slower_than_memory: slower_than_any(compared[index], &memory),
        };
        let verdict = verdict(&evidence);
        if Some(one.index) != control {
            ranked.push(Ranked {
                name: one.title(),
                compared: compared[index],
                feeling: verdict.feeling,
                left_undone: evidence.left_undone(),
                weight: evidence.weight(),
                slower: evidence.slower,
            });
        }
        directories.push(one.analysis(verdict));
    }
    let ranking = ranking(&ranked);
    add_unsteady(&mut directories, control);
    let control = control
        .filter(|control| usize::from(control.0) < directories.len())
        .map(|control| directories.remove(usize::from(control.0)));
    let rows = directories.iter().flat_map(|directory| &directory.summaries);
    let mut footnotes = footnotes(rows, run.calibration.overhead_per_sample_ns);
    footnotes.extend(memory_footnote(run));
    footnotes.extend(rows_of_directories(&directories));
    let busy = run.generator.as_ref().and_then(generator_busy);
    CheckAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: summaries.precision,
        ranking,
        footnotes,
        directories,
        control,
        findings: busy.map(of_a_look).into_iter().collect(),
        trust: run.trust.iter().cloned().chain(summaries.unknown.trust()).collect(),
        remarks: run.remarks.clone(),
    }
}

/// That there are rows which only directories have, where both were measured.
fn rows_of_directories(directories: &[DirectoryAnalysis]) -> Option<String> {
    let (servers, directories): (Vec<&DirectoryAnalysis>, Vec<&DirectoryAnalysis>) =
        directories.iter().filter(|one| !one.summaries.is_empty()).partition(|one| one.is_server());
    let has = |one: &DirectoryAnalysis, row: Operation| {
        one.summaries.iter().any(|summary| summary.key.operation == row)
    };
    let only = |row: &Operation| {
        directories.iter().any(|one| has(one, *row)) && !servers.iter().any(|one| has(one, *row))
    };
    let rows: Vec<String> =
        KNOWN_ROWS_WITH_SERVERS.iter().filter(|row| only(row)).map(|row| format!("`{row}`")).collect();
    let are = if rows.len() == 1 { "is" } else { "are" };
    (!servers.is_empty() && !rows.is_empty()).then(|| {
        format!("Servers are asked for objects alone: {} {are} measured only in directories.", joined(rows))
    })
}

/// Adds to each directory that it changed while it was measured.
fn add_unsteady(directories: &mut [DirectoryAnalysis], control: Option<TargetIndex>) {
    let of = |directory: &DirectoryAnalysis| Some(directory.target) == control;
    let memory = directories.iter().find(|directory| of(directory));
    let others: Vec<(TargetIndex, &[Summary])> = directories
        .iter()
        .filter(|directory| !of(directory))
        .map(|directory| (directory.target, directory.summaries.as_slice()))
        .collect();
    let found = unsteady(&others, memory.map(|memory| memory.summaries.as_slice()));
    for (target, finding) in found {
        if let Some(directory) = directories.iter_mut().find(|directory| directory.target == target) {
            directory.findings.push(finding);
            directory.findings.sort_by_key(|finding| finding.severity);
        }
    }
}

/// A directory before it is judged.
struct Measured<'a> {
    index: TargetIndex,
    name: &'a str,
    target: &'a TargetRecord,
    summaries: Vec<Summary>,
    unanswered_ns: Option<Nanoseconds>,
    /// The opening of a session that did not end, of a directory that had answered before.
    hung_opening: Option<Summary>,
    partial: Option<PartialCreate>,
}

impl<'a> Measured<'a> {
    fn new(index: usize, target: &'a TargetRecord, run: &'a RunRecord, summaries: &Summaries) -> Self {
        let index = TargetIndex(index as u16);
        let is_here = |summary: &&Summary| summary.key.target.is_none_or(|target| target == index);
        let (own, measured): (Vec<&Summary>, Vec<&Summary>) = summaries
            .summaries
            .iter()
            .filter(is_here)
            .partition(|summary| summary.key.operation.level() == Level::Harness);
        // Who was interrupted in its first contact before the deadline may well have answered.
        let hung = hung_opening(&own).filter(|(_, age)| *age >= run.spec.deadline_ns);
        let is_later = |opening: &Summary| {
            opening.silence.is_some() && measured.iter().any(|summary| answered_ns(summary).is_some())
        };
        let (later, first) = match hung {
            Some((opening, _)) if is_later(opening) => (Some(opening.clone()), None),
            _ => (None, hung.map(|(_, age)| age)),
        };
        Self {
            index,
            name: run.shown_name(index),
            target,
            partial: measured.iter().find_map(|summary| PartialCreate::of(summary, run)),
            summaries: measured.into_iter().cloned().collect(),
            unanswered_ns: target.unanswered_ns.or(first),
            hung_opening: later,
        }
    }

    fn file_system(&self) -> Option<String> {
        self.target.file_system.as_ref().map(|file_system| file_system.kind.clone())
    }

    fn title(&self) -> String {
        let software = || software(self.target.server.as_ref()?).map(str::to_owned);
        match self.file_system().or_else(software).filter(|kind| !kind.is_empty()) {
            Some(kind) => format!("{} ({kind})", self.name),
            None => self.name.to_owned(),
        }
    }

    fn analysis(&self, verdict: Verdict) -> DirectoryAnalysis {
        let who = if self.target.is_server() { Silent::Server } else { Silent::Directory };
        let mut findings = check_findings(&self.summaries, (who, self.unanswered_ns), &verdict.sentence);
        let cut_short = self.target.failure.as_deref().filter(|_| !self.summaries.is_empty());
        findings.extend(cut_short.map(measured_in_part));
        findings.sort_by_key(|finding| finding.severity);
        DirectoryAnalysis {
            target: self.index,
            name: self.name.to_owned(),
            file_system: self.file_system(),
            server: self.target.server.clone(),
            unanswered_ns: self.unanswered_ns,
            summaries: self.summaries.clone(),
            partial_create: self.partial,
            verdict,
            findings,
        }
    }
}

/// First contacts or openings of a session that did not end, with the age of the longest.
fn hung_opening<'s>(own: &[&'s Summary]) -> Option<(&'s Summary, Nanoseconds)> {
    own.iter()
        .filter(|summary| matches!(summary.key.operation, Operation::Reach | Operation::OpenSession))
        .filter(|summary| summary.hung + summary.timeout > 0)
        .filter_map(|summary| Some((*summary, summary.durations.max.lower_bound()?)))
        .max_by_key(|(_, age)| *age)
}
