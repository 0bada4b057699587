//! `iolag ping`: one line per probe, live, and a summary at the end; a run like any other.

mod attending;
mod following;
mod json_lines;
mod telling;

use std::path::{Path, PathBuf};

use iolag_analysis::{PingAnalysis, analyse_ping};
use iolag_conduct::{
    Answer, AtSignal, Beginning, CleanUp, Conducted, Contact, ExitCode, Failure, Found, GroupPlan, Keeper,
    PingAssignment, PingFlight, Policy, RunPlan, Schedule, absolute, ask, become_keeper, choose_spool,
    conduct, contact_all_patiently, leave_current_directory, look_at, maker, measure_ping, new_run_id,
    ping_schedule, record, send_scouts, unanswered,
};
use iolag_keeper::{Child, Signals, start_ticks};
use iolag_model::{
    ClientId, ClientRecord, Clock, MonotonicClock, MonotonicTime, Nanoseconds, OnHang, PingProbe, PingSpec,
    RunId, RunSpec, RunState, TargetIndex, TargetRecord, WorkloadSpec, format_bytes,
};
use iolag_report::{one_line, ping_text};
use iolag_workload::{TaskSpec, find_compiler, stages, validate};

use self::attending::{Attending, Outputs};
use self::json_lines::{JsonLines, Line, Written};
use super::check::device_number;
use super::pictures;
use super::watch::terminal::Lines;
use crate::args::{Common, Ping};
use crate::commands::store_of;
use crate::output;

/// Shared memory: four samples a probe, and who reads the lines may be slow.
const RING_BYTES: u64 = 8 << 20;
/// Bytes of the file that is read, and of the one that is created: those of a small file, as in a check.
const OBJECT_BYTES: u64 = 3901;
/// How long the first contact is waited for before it is said that there is no answer; it is waited for all the same. The store and
/// what else is looked at before has as long.
const FIRST_CONTACT: Nanoseconds = Nanoseconds::from_seconds(5);
/// How long who went there first is given to end.
const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(300);
/// A task that passes its deadline is ended by its measurer: only one that cannot be ended hangs.
const ENDING: Nanoseconds = Nanoseconds::from_seconds(2);

/// Runs the command.
///
/// # Errors
/// If the directory cannot be measured.
pub fn run(options: &Ping, common: &Common) -> Result<ExitCode, Failure> {
    let labels = super::labels(&options.run)?;
    let task = task(options)?;
    let ping = PingSpec {
        probe: match &options.task {
            Some(name) => PingProbe::Task { name: name.clone() },
            None => PingProbe::Operations { object_bytes: OBJECT_BYTES },
        },
        every_ns: options.every,
        count: options.count,
    };
    let workload = WorkloadSpec::Ping(ping.clone());
    validate(&workload, 1).map_err(Failure::usage)?;
    match &options.plot {
        Some(Some(figure)) => drop(pictures::form_of(figure)?),
        Some(None) if !output::prints_text(common) => {
            return Err(Failure::usage(
                "--json - and --plot would both write to standard output: name a file for one of them, as in --plot=probes.svg",
            ));
        }
        _ => {}
    }
    let directory = absolute(&options.directory);
    let keeper = become_keeper(store_of(common))?;
    output::refuse_lost_document(common)?;
    leave_current_directory();
    refuse_without_compiler(task.as_ref())?;
    let found = send_scouts(&keeper, &[], FIRST_CONTACT)?;
    output::tell_notices(common, &found.notices);
    let (target, scout) = first_contact(options, &directory, common)?;
    let pinging = Pinging { options, common, keeper: &keeper, found: &found, target, ping, task };
    let outputs = Outputs {
        text: output::prints_text(common).then(|| Lines::to(std::io::stdout())),
        json: match common.json.as_deref() {
            None => None,
            Some(path) if output::is_standard_output(path) => Some(JsonLines::to_standard_output()?),
            Some(path) => Some(JsonLines::to_file(path)?),
        },
    };
    let measured = pinging.measure(labels, workload, outputs, scout.as_ref());
    let left = scout.and_then(|(mut scout, _)| scout.end(GRACE).is_none().then(|| scout.id()));
    if let Some(process) = left {
        output::complain(&format!(
            "process {process}, which asked {} first, waits in the kernel and cannot be ended; it goes when the file system answers",
            pinging.target.name
        ));
    }
    let (conducted, json) = measured?;
    pinging.report(&conducted, json)
}

fn task(options: &Ping) -> Result<Option<TaskSpec>, Failure> {
    let Some(name) = &options.task else { return Ok(None) };
    let shell = std::env::var_os("SHELL").map_or_else(|| "/bin/sh".into(), PathBuf::from);
    match TaskSpec::from_name(name) {
        Some(spec) => Ok(Some(spec.with_shell(&shell))),
        None => Err(Failure::usage(format!(
            "there is no task {name:?}: expected one of {}; without --task single operations are timed",
            TaskSpec::builtin_names().join(", ")
        ))),
    }
}

/// Looking for a compiler goes through PATH, which may be on anything.
fn refuse_without_compiler(task: Option<&TaskSpec>) -> Result<(), Failure> {
    if task != Some(&TaskSpec::Compile) {
        return Ok(());
    }
    let environment: Vec<_> = std::env::vars_os().collect();
    match ask("scout", FIRST_CONTACT, || find_compiler(&environment).is_some())? {
        Answer::Given(true) => Ok(()),
        Answer::Given(false) => Err(Failure::usage(
            "there is no compiler for --task compile (looked for cc, gcc, clang, gfortran, ifx, nvfortran and ftn in /usr/bin, \
             /usr/local/bin, /bin and PATH): install one, or choose another task",
        )),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "looking for a compiler in PATH has not been answered for {age}: take what hangs out of PATH, or choose another task"
        ))),
    }
}

/// The directory as far as it is known, and who went there and has not come back: it is waited for, and nobody else goes there.
fn first_contact(
    options: &Ping,
    directory: &Path,
    common: &Common,
) -> Result<(TargetRecord, Option<(Child, MonotonicTime)>), Failure> {
    let limit = options.deadline.min(FIRST_CONTACT);
    let mut answers = contact_all_patiently("scout", &[directory], limit.into(), |directory, steps| {
        look_at(directory, steps)
    })?;
    match answers.pop() {
        Some(Contact::Given(Ok(facts))) => Ok((
            TargetRecord {
                name: facts.path.display().to_string(),
                backend: "posix".into(),
                working_place: None,
                file_system: Some(facts.file_system),
                unanswered_ns: None,
                contact: None,
                failure: None,
            },
            None,
        )),
        Some(Contact::Given(Err(sentence))) => Err(Failure::unusable(sentence)),
        Some(Contact::Silent { start, child, .. }) => {
            let name = directory.display().to_string();
            let age = MonotonicClock.now().since(start);
            output::notice(
                common,
                &format!("{} has not answered for {age}; it is waited for", one_line(&name)),
            );
            Ok((unanswered(&directory.to_owned().into(), age), Some((child, start))))
        }
        None => Err(Failure::bug("nobody was sent to the directory")),
    }
}

/// Everything that is decided before the first probe.
struct Pinging<'a> {
    options: &'a Ping,
    common: &'a Common,
    keeper: &'a Keeper,
    found: &'a Found,
    target: TargetRecord,
    ping: PingSpec,
    task: Option<TaskSpec>,
}

impl Pinging<'_> {
    fn measure(
        &self,
        labels: Vec<(String, String)>,
        workload: WorkloadSpec,
        outputs: Outputs,
        scout: Option<&(Child, MonotonicTime)>,
    ) -> Result<(Conducted, Option<JsonLines>), Failure> {
        let options = self.options;
        let spec = RunSpec {
            workload: workload.clone(),
            targets: vec![self.target.name.clone()],
            clients: 1,
            deadline_ns: options.deadline,
            on_hang: OnHang::Wait,
            seed: options.run.seed,
            ring_bytes: RING_BYTES,
        };
        let mut trust = Vec::new();
        let measured: Vec<u64> = self.target.file_system.iter().filter_map(device_number).collect();
        let spool_parent = choose_spool(self.found, &measured, &mut trust);
        let id = new_run_id(self.found)?;
        let maker = maker(&id)?;
        let token = maker.token;
        let working_name = format!("iolag-ping-{id}");
        self.announce(&id, &working_name);
        let beginning = Beginning {
            campaign: id.clone(),
            id,
            repetition: 1,
            labels,
            spec: spec.clone(),
            targets: vec![self.target.clone()],
            clients: vec![ClientRecord { client: ClientId(0), target: TargetIndex(0), rank: 0 }],
            stages: stages(&workload),
            trust,
        };
        let flight = PingFlight::new()?;
        if let Some((scout, since)) = scout {
            flight.executes(scout.id());
            flight.contacts(*since);
        }
        let assignment = PingAssignment {
            path: self.target.name.clone(),
            working_name: working_name.clone(),
            maker,
            spec,
            ping: self.ping.clone(),
            task: self.task.clone(),
            contact: scout.map(|(_, since)| *since),
            flight: flight.clone(),
            ahead: scout.and_then(|(scout, _)| Some((scout.id(), start_ticks(scout.id())?))),
        };
        let schedule = ping_schedule(&self.ping, options.deadline);
        let stops = Signals::block_stop()?;
        let mut attending = Attending::new(schedule, flight, stops, outputs);
        let plan = RunPlan {
            record: record(self.keeper, self.found, beginning),
            root: self.found.root.clone(),
            spool_parent,
            thresholds: iolag_analysis::DEFAULT_THRESHOLDS.to_vec(),
            groups: vec![GroupPlan {
                name: self.target.name.clone(),
                clients: vec![0],
                measure: Box::new(|exchange, outbox| measure_ping(&assignment, exchange, outbox)),
            }],
            planned_places: vec![(self.target.name.clone(), working_name)],
            token,
            clean_up: CleanUp::UnlessHung,
            policy: self.policy(),
            attendant: &mut attending,
        };
        let conducted = conduct(plan, &self.keeper.signals)?;
        Ok((conducted, attending.into_json()))
    }

    fn policy(&self) -> Policy {
        let deadline = self.options.deadline;
        Policy {
            deadline: match self.task {
                None => deadline,
                Some(_) => Nanoseconds(deadline.0.saturating_add(ENDING.0)),
            },
            on_hang: OnHang::Wait,
            give_up_after: Nanoseconds(u64::MAX),
            schedule: Schedule::Open,
            at_signal: match self.options.count {
                None => AtSignal::Over,
                Some(_) => AtSignal::Incomplete,
            },
        }
    }

    fn announce(&self, id: &RunId, working_name: &str) {
        let (every, deadline) = (self.ping.every_ns, self.options.deadline);
        let what = match &self.task {
            None => format!(
                "stat of a file, open and read of it, create of another, {} each; no program is started",
                format_bytes(OBJECT_BYTES)
            ),
            Some(task) => {
                format!("{}, in a process of its own; starting that is part of the total", task.describe())
            }
        };
        output::notice(
            self.common,
            &format!(
                "a probe of {} every {every}, lost after {deadline}: {what}; in the directory {working_name}, which is removed again",
                one_line(&self.target.name)
            ),
        );
        output::notice(self.common, &format!("the run is kept as {id} in {}", self.found.root.display()));
    }

    fn report(&self, conducted: &Conducted, json: Option<JsonLines>) -> Result<ExitCode, Failure> {
        let stored = &conducted.stored;
        let analysis = analyse_ping(&stored.record, &stored.summaries);
        if analysis.probes.due == 0 && !conducted.unusable.is_empty() {
            let sentences: Vec<_> = conducted.unusable.iter().map(|(_, sentence)| sentence.clone()).collect();
            return Err(Failure::unusable(sentences.join("\niolag: ")));
        }
        let mut code = self.code(conducted, &analysis);
        if output::prints_text(self.common) {
            let colour = output::colour(self.common, |name| std::env::var_os(name));
            let text = ping_text(&analysis, output::width(), colour);
            code = code.max(output::print(&format!("\n{text}")));
        }
        if let (RunState::Incomplete { reason }, true) = (&stored.record.state, conducted.unusable.is_empty())
        {
            output::complain(&format!("the run is incomplete: {reason}"));
        }
        output::tell_outcome(self.common, conducted);
        if let Some(json) = json {
            self.finish_json(json, conducted, &analysis).map_err(|failure| failure.at_least(code))?;
        }
        if let Some(plot) = &self.options.plot {
            pictures::plot_of(&conducted.run, plot.as_deref(), self.common)?;
        }
        Ok(code)
    }

    fn finish_json(
        &self,
        mut json: JsonLines,
        conducted: &Conducted,
        analysis: &PingAnalysis,
    ) -> Result<(), Failure> {
        let record = &conducted.stored.record;
        json.line(&Line::Summary {
            run: &record.id,
            target: &analysis.target,
            state: &record.state,
            probes: analysis.probes,
            lost: analysis.probes.lost(),
            summaries: &analysis.summaries,
        });
        match json.finish(|| self.keeper.signals.next().is_some()) {
            Written::All => Ok(()),
            Written::Not(sentence) => Err(Failure::unusable(sentence)),
        }
    }

    /// Whether all that was wanted was measured comes before what was found.
    fn code(&self, conducted: &Conducted, analysis: &PingAnalysis) -> ExitCode {
        let probes = analysis.probes;
        let is_whole = match self.options.count {
            Some(count) => probes.due.saturating_sub(probes.interrupted) >= count,
            None => true,
        };
        let was_told = conducted.code != ExitCode::Fine;
        let leaves_something = conducted.ends.iter().flatten().any(|end| !end.leftovers.is_empty());
        let is_told = leaves_something || conducted.halted_writer.is_some();
        match (&conducted.stored.record.state, probes.lost()) {
            _ if !conducted.unusable.is_empty() => ExitCode::Unusable,
            _ if !is_whole && (was_told || probes.due < self.options.count.unwrap_or(0)) => {
                ExitCode::Incomplete
            }
            (_, 1..) => ExitCode::Found,
            (RunState::Complete, 0) if !is_told => ExitCode::Fine,
            _ => ExitCode::Incomplete,
        }
    }
}
