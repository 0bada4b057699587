//! `iolag bench metadata`: the workload of md-workbench, in one run or a campaign of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use iolag_conduct::{
    Answer, AtSignal, Beginning, CleanUp, Conducted, DirectoryFacts, ExitCode, Failure, Found, GroupPlan,
    Keeper, MetadataAssignment, Placed, Policy, RunPlan, STORE_DEADLINE, Schedule, absolute, ask,
    become_keeper, choose_spool, conduct, continuation, leave_current_directory, maker, makes_working_set,
    measure_metadata, new_run_id, record, removes_working_set, send_scouts,
};
use iolag_model::{
    ClientId, ClientRecord, MonotonicClock, Nanoseconds, OnHang, Phase, RunId, RunRecord, RunSpec,
    StageRecord, TargetIndex, TargetRecord, Trust, Verification, WorkloadSpec, counted, format_bytes,
    format_count,
};
use iolag_report::one_line;
use iolag_workload::{
    bytes_held, bytes_needed, objects_needed, operations_needed, stages, validate_positions,
};

use super::campaign::{self, Point};
use super::report::write_report_of;
use super::show;
use crate::args::{Common, Metadata, MetadataForm};
use crate::commands::check::device_number;
use crate::commands::store_of;
use crate::output;
use crate::progress::{Extent, Progress, Verbosity};

/// How long a run waits for a hung operation that it is to wait for.
const GIVE_UP_AFTER: Nanoseconds = Nanoseconds::from_seconds(3600);

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Metadata, common: &Common) -> Result<ExitCode, Failure> {
    let labels = super::labels(&options.run)?;
    let points = campaign::points(options)?;
    // The working directory's name is looked at before anything starts, so that a typing error costs nothing.
    for target in &options.targets {
        target.backend(&options.working_name, Arc::new(MonotonicClock)).map_err(Failure::usage)?;
    }
    let keeper = become_keeper(store_of(common))?;
    output::refuse_lost_document(common)?;
    output::refuse_lost_report(options.report.as_deref())?;
    let directories: Vec<Option<PathBuf>> =
        options.targets.iter().map(|target| target.directory().map(absolute)).collect();
    let named: Vec<PathBuf> = directories.iter().flatten().cloned().collect();
    leave_current_directory();
    let mut campaign: Option<RunId> = None;
    let mut worst = ExitCode::Fine;
    let mut done = Vec::new();
    for (number, point) in (0..).zip(&points) {
        let found = send_scouts(&keeper, &named, options.deadline)?;
        output::tell_notices(common, &found.notices);
        let runner = Runner { options, labels: &labels, common, keeper: &keeper, found: &found };
        let outcome = facts_of(&directories, point.target, &found)
            .and_then(|facts| runner.run(point, &mut campaign, facts))
            .and_then(|conducted| Ok((runner.report(point, &conducted, points.len(), number)?, conducted)));
        let left_out = points.len() - done.len() - 1;
        match outcome {
            Ok((code, conducted)) => {
                worst = worst.max(code);
                let is_incomplete = conducted.code == ExitCode::Incomplete;
                done.push((point.clone(), conducted));
                if is_incomplete && left_out > 0 {
                    output::notice(
                        common,
                        &format!("the campaign ends here: {} left out", further_runs(left_out)),
                    );
                    break;
                }
            }
            // What was measured before must not be lost with this.
            Err(failure) if !done.is_empty() => {
                output::notice(common, &format!("{}; {} left out", failure.sentence, further_runs(left_out)));
                worst = worst.max(failure.code);
                break;
            }
            Err(failure) => return Err(failure),
        }
    }
    let runs: Vec<_> = done.iter().map(|(point, conducted)| (point, conducted.stored.as_ref())).collect();
    let text = match options.format {
        MetadataForm::Text if points.len() > 1 => {
            campaign::text(&runs, &options.targets, show::Look::of_terminal(common))
        }
        // One document, also for several runs.
        MetadataForm::Json => String::from_utf8(campaign::json(&runs)?).map_err(Failure::bug)?,
        MetadataForm::Text | MetadataForm::MdWorkbench | MetadataForm::Csv => String::new(),
    };
    let delivered = output::deliver(common, &text, || campaign::json(&runs));
    if let Some(path) = &options.report {
        let runs: Vec<PathBuf> = done.iter().map(|(_, conducted)| conducted.run.clone()).collect();
        write_report_of(&runs, path, common)?;
    }
    delivered.map_or_else(|failure| Err(failure.at_least(worst)), |()| Ok(worst))
}

/// `1 further run is`, `2 further runs are`.
fn further_runs(count: usize) -> String {
    counted(count as u64, "further run is", "further runs are")
}

fn working_place(target: &Path, name: &str) -> String {
    format!("{}/{name}", target.display().to_string().trim_end_matches('/'))
}

/// What the scouts found about the directory of one target.
fn facts_of(
    directories: &[Option<PathBuf>],
    target: usize,
    found: &Found,
) -> Result<Option<DirectoryFacts>, Failure> {
    if directories[target].is_none() {
        return Ok(None);
    }
    let index = directories[..target].iter().flatten().count();
    match &found.directories[index] {
        Answer::Given(Ok(facts)) => Ok(Some(facts.clone())),
        Answer::Given(Err(sentence)) => Err(Failure::unusable(sentence)),
        Answer::None { age, .. } => {
            let name =
                directories[target].as_ref().map(|path| path.display().to_string()).unwrap_or_default();
            Err(Failure {
                code: ExitCode::Incomplete,
                sentence: format!("{name} does not answer: the first contact has been waiting for {age}"),
            })
        }
    }
}

struct Runner<'a> {
    options: &'a Metadata,
    labels: &'a [(String, String)],
    common: &'a Common,
    keeper: &'a Keeper,
    found: &'a Found,
}

impl Runner<'_> {
    fn run(
        &self,
        point: &Point,
        campaign: &mut Option<RunId>,
        facts: Option<DirectoryFacts>,
    ) -> Result<Conducted, Failure> {
        let options = self.options;
        let workload = WorkloadSpec::Metadata(point.spec.clone());
        if let Some(facts) = &facts {
            refuse_too_little_space(facts, &workload, point)?;
        }
        let positions = self.positions(point, facts.as_ref())?;
        let named = &options.targets[point.target];
        // Children stand in another directory.
        let target = facts.as_ref().map_or_else(|| named.clone(), |facts| named.with_directory(&facts.path));
        let shown = target.to_string();
        let spec = RunSpec {
            workload: workload.clone(),
            targets: vec![shown.clone()],
            clients: point.clients,
            deadline_ns: options.deadline,
            on_hang: options.on_hang,
            seed: options.run.seed,
            ring_bytes: campaign::buffer_bytes(options, point.clients),
        };
        let stages: Arc<[StageRecord]> = stages(&workload).into();
        let mut trust = doubts(point);
        let measured: Vec<u64> = facts.iter().filter_map(|facts| device_number(&facts.file_system)).collect();
        let spool_parent = choose_spool(self.found, &measured, &mut trust);
        let id = new_run_id(self.found)?;
        let campaign = campaign.get_or_insert_with(|| id.clone()).clone();
        self.announce(point, &shown, &id);
        let maker = maker(&id)?;
        let token = maker.token;
        let assignment = MetadataAssignment {
            target: target.clone(),
            place: Placed {
                target: 0,
                path: facts.as_ref().map_or_else(|| shown.clone(), |facts| facts.path.display().to_string()),
                name: options.working_name.clone(),
                identity: None,
                token: Some(maker.token),
                file_system: None,
            },
            maker,
            spec: spec.clone(),
            metadata: point.spec.clone(),
            stages: Arc::clone(&stages),
            positions,
        };
        // By the directory itself, whatever is wrapped around it: the manifest is for removing it.
        let planned_places = facts
            .iter()
            .map(|facts| (facts.path.display().to_string(), options.working_name.clone()))
            .collect();
        let beginning = Beginning {
            id,
            campaign,
            repetition: point.repetition,
            labels: self.labels.to_vec(),
            spec,
            targets: vec![TargetRecord {
                name: shown.clone(),
                backend: target.kind().into(),
                working_place: facts.as_ref().map(|facts| working_place(&facts.path, &options.working_name)),
                file_system: facts.map(|facts| facts.file_system),
                unanswered_ns: None,
                contact: None,
                failure: None,
            }],
            clients: (0..point.clients)
                .map(|rank| ClientRecord { client: ClientId(rank), target: TargetIndex(0), rank })
                .collect(),
            stages: stages.to_vec(),
            trust,
        };
        let removes = removes_working_set(&point.spec) && makes_working_set(&point.spec);
        let verbosity = if self.common.quiet { Verbosity::Quiet } else { Verbosity::Normal };
        let mut progress = Progress::new(extent(point), verbosity);
        conduct(
            RunPlan {
                record: record(self.keeper, self.found, beginning),
                root: self.found.root.clone(),
                spool_parent,
                thresholds: iolag_analysis::DEFAULT_THRESHOLDS.to_vec(),
                groups: vec![GroupPlan {
                    name: shown,
                    clients: (0..point.clients).collect(),
                    measure: Box::new(|exchange, outbox| measure_metadata(&assignment, exchange, outbox)),
                }],
                planned_places,
                token,
                clean_up: if removes { CleanUp::Everything } else { CleanUp::Nothing },
                policy: Policy {
                    deadline: options.deadline,
                    on_hang: options.on_hang,
                    give_up_after: give_up_after(options),
                    schedule: Schedule::Closed,
                    at_signal: AtSignal::Incomplete,
                },
                attendant: &mut progress,
            },
            &self.keeper.signals,
        )
    }

    /// The last run on the working directory.
    fn continuation(&self, facts: Option<&DirectoryFacts>) -> Result<Option<RunRecord>, Failure> {
        let Some(facts) = facts else { return Ok(None) };
        let place = working_place(&facts.path, &self.options.working_name);
        match ask("store", STORE_DEADLINE, || continuation(&self.found.root, &place))? {
            Answer::Given(record) => Ok(record),
            Answer::None { age, .. } => Err(Failure::unusable(format!(
                "the store {} has not answered for {age}",
                self.found.root.display()
            ))),
        }
    }

    /// Where the run that made the working set left its clients; `None` if this run makes its own.
    fn positions(&self, point: &Point, facts: Option<&DirectoryFacts>) -> Result<Option<Vec<u64>>, Failure> {
        if makes_working_set(&point.spec) {
            return Ok(None);
        }
        let place = format!("the working directory {} of this target", self.options.working_name);
        let Some(before) = &self.continuation(facts)? else {
            return Err(Failure::unusable(format!(
                "the store knows no run that left a working set in {place}; run the precreate phase first, with the same --store"
            )));
        };
        let WorkloadSpec::Metadata(made) = &before.spec.workload else {
            return Err(Failure::unusable(format!("run {} in {place} was no metadata run", before.id)));
        };
        let same = made.datasets == point.spec.datasets
            && made.precreated_objects == point.spec.precreated_objects
            && made.object_bytes == point.spec.object_bytes
            && made.offset == point.spec.offset
            && before.spec.clients == point.clients
            // Who has emptied which dataset depends on the pattern.
            && (made.pattern == point.spec.pattern || before.positions.iter().all(|position| *position == 0));
        if !same {
            return Err(Failure::usage(format!(
                "the working set was made by run {} with --clients {} --datasets {} --precreate {} --object-size {} --offset {} --pattern {}; give the same",
                before.id,
                before.spec.clients,
                made.datasets,
                made.precreated_objects,
                made.object_bytes,
                made.offset,
                made.pattern
            )));
        }
        let is_verifiable =
            made.verification == Verification::Content && before.spec.seed == self.options.run.seed;
        if point.spec.verification == Verification::Content && !is_verifiable {
            return Err(Failure::usage(format!(
                "run {} wrote the working set without --verify or with another --seed, so its content cannot be compared; leave out \
                 --verify, or precreate again with the same --verify and --seed {}",
                before.id, self.options.run.seed
            )));
        }
        if before.positions.is_empty() {
            return Err(Failure::unusable(format!(
                "run {} ended without saying how far its clients got; remove its working set with: iolag cleanup {}",
                before.id, before.id
            )));
        }
        validate_positions(&point.spec, point.clients, &before.positions).map_err(Failure::usage)?;
        Ok(Some(before.positions.clone()))
    }

    fn announce(&self, point: &Point, target: &str, id: &RunId) {
        let workload = WorkloadSpec::Metadata(point.spec.clone());
        output::notice(
            self.common,
            &format!(
                "measuring {} with {} client{}: {} objects of {} in all ({}), at most {} at one time, in the directory {}; run {id} in {}",
                one_line(target),
                point.clients,
                if point.clients == 1 { "" } else { "s" },
                format_count(objects_needed(&workload, point.clients)),
                format_bytes(point.spec.object_bytes),
                format_bytes(bytes_needed(&workload, point.clients)),
                format_bytes(bytes_held(&workload, point.clients)),
                self.options.working_name,
                self.found.root.display()
            ),
        );
    }

    /// Prints one run; `number` is its place among the `runs` of the campaign.
    fn report(
        &self,
        point: &Point,
        conducted: &Conducted,
        runs: usize,
        number: u16,
    ) -> Result<ExitCode, Failure> {
        let stored = &conducted.stored;
        if !conducted.unusable.is_empty() && stored.summaries.samples == 0 {
            let sentences: Vec<_> = conducted.unusable.iter().map(|(_, sentence)| sentence.clone()).collect();
            return Err(Failure::unusable(sentences.join("\niolag: ")));
        }
        let form = self.options.format;
        let mut code = conducted.code;
        // A document is printed at the end, as a whole.
        if output::prints_text(self.common) && form != MetadataForm::Json {
            let look = show::Look::of_terminal(self.common);
            let text = show::rendered(&stored.record, &stored.summaries, form, look)?;
            code = code.max(match form {
                MetadataForm::Text if runs > 1 => {
                    output::print(&format!("{}\n{text}\n", point.title(&self.options.targets)))
                }
                // One table, also for several runs: the names of its columns come once.
                MetadataForm::Csv if number > 0 => {
                    output::print(text.split_once('\n').map_or("", |(_, rows)| rows))
                }
                _ => output::print(&text),
            });
        }
        output::tell_outcome(self.common, conducted);
        Ok(code)
    }
}

fn give_up_after(options: &Metadata) -> Nanoseconds {
    match options.on_hang {
        OnHang::Wait => options.give_up_after.unwrap_or(GIVE_UP_AFTER),
        OnHang::Continue | OnHang::Stop => options.deadline,
    }
}

fn refuse_too_little_space(
    facts: &DirectoryFacts,
    workload: &WorkloadSpec,
    point: &Point,
) -> Result<(), Failure> {
    if !makes_working_set(&point.spec) {
        return Ok(());
    }
    let needed = bytes_held(workload, point.clients);
    if let Some(free) = facts.file_system.free_bytes
        && free < needed
    {
        return Err(Failure::unusable(format!(
            "cannot measure in {}: {} are free and the working set needs {}; free some space, or reduce --precreate, --datasets or --object-size",
            facts.path.display(),
            format_bytes(free),
            format_bytes(needed)
        )));
    }
    let objects = u64::from(point.clients) * u64::from(point.spec.datasets) * point.spec.precreated_objects;
    if let Some(free) = facts.file_system.free_inodes
        // File systems that make inodes as they go report none at all.
        && free > 0
        && free < objects
    {
        return Err(Failure::unusable(format!(
            "cannot measure in {}: {} inodes are free and the working set needs {}; reduce --precreate or --datasets",
            facts.path.display(),
            format_count(free),
            format_count(objects)
        )));
    }
    Ok(())
}

fn doubts(point: &Point) -> Vec<Trust> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let mut doubts = Vec::new();
    if point.clients > processors {
        doubts.push(Trust {
            doubt: format!("{} clients share {processors} processors: they wait for each other, not only for the storage", point.clients),
            advice: format!("compare with --clients {processors}; use more nodes for more clients"),
        });
    }
    doubts
}

fn extent(point: &Point) -> Extent {
    if point.spec.time_limit.is_some() {
        return Extent::Unknown;
    }
    let clients = u64::from(point.clients);
    let datasets = u64::from(point.spec.datasets);
    let per_object = operations_needed(&WorkloadSpec::Metadata(point.spec.clone())).len().min(8) as u64 / 2;
    let set = clients * datasets * point.spec.precreated_objects;
    let in_phase = |phase: Phase, samples: u64| if point.spec.phases.contains(&phase) { samples } else { 0 };
    let work = clients * datasets * point.spec.objects * u64::from(point.spec.iterations) * per_object.max(2);
    Extent::Samples(
        in_phase(Phase::Precreate, set) + in_phase(Phase::Benchmark, work) + in_phase(Phase::Cleanup, set),
    )
}
