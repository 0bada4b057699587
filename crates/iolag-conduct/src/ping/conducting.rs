//! Conducting a ping: who goes to the directory first is waited for, and the probes follow.

use iolag_backend::Target;
use iolag_keeper::{Child, start_ticks};
use iolag_model::{
    ClientId, ClientRecord, Clock, MonotonicClock, MonotonicTime, Nanoseconds, OnError, OnHang, PingProbe,
    RunSpec, TargetIndex, TargetRecord, WorkloadSpec, one_line,
};
use iolag_workload::{PingSchedule, TaskSpec, find_compiler, workload};
use serde::{Deserialize, Serialize};

use crate::contact::greeting::{ServerFacts, greet_here};
use crate::contact::scout::{Answer, Contact, Steps, ask, contact_all_patiently, look_at, unanswered};
use crate::contact::start::{Found, Keeper, send_scouts};
use crate::failure::Failure;
use crate::messages::DirectoryFacts;
use crate::ping::flight::PingFlight;
use crate::ping::measurer::{self, PingAssignment};
use crate::ping::plan::PlannedPing;
use crate::run::beginning::{Beginning, Membership, choose_spool, maker, new_run_id, record};
use crate::run::cleaning::CleanUp;
use crate::run::conduct::{Conducted, GroupPlan, RunPlan, conduct};
use crate::run::interruption::Interruption;
use crate::run::policy::{AtSignal, Policy, Schedule};
use crate::run::telling::Attendant;

/// Shared memory: four samples a probe, and who reads the lines may be slow.
const RING_BYTES: u64 = 8 << 20;
/// How long the first contact is waited for before it is said that there is no answer; it is waited for all the same. The store and
/// what else is looked at before has as long.
const FIRST_CONTACT: Nanoseconds = Nanoseconds::from_seconds(5);
/// How long who went there first is given to end.
const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(300);
/// A task that passes its deadline is ended by its measurer: only one that cannot be ended hangs.
const ENDING: Nanoseconds = Nanoseconds::from_seconds(2);

/// Who is told what a ping does, besides its probes.
pub trait PingAttendant {
    /// Who is told of the probes.
    type Probes: Attendant;

    /// What is good to know.
    fn notice(&mut self, sentence: &str);

    /// What the user has to know.
    fn complain(&mut self, sentence: &str);

    /// The target was looked at, as far as it answers: the probes begin, with this schedule.
    ///
    /// # Errors
    /// If they cannot be told.
    fn begin(&mut self, schedule: PingSchedule, flight: PingFlight) -> Result<Self::Probes, Failure>;
}

/// Conducts a ping. What its probes were told to comes back with the run.
///
/// # Errors
/// If the target cannot be measured.
pub fn conduct_ping<P: PingAttendant>(
    plan: &PlannedPing,
    keeper: &Keeper,
    attendant: &mut P,
) -> Result<(Conducted, P::Probes), Failure> {
    refuse_without_compiler(plan.task.as_ref())?;
    let found = send_scouts(keeper, &[], FIRST_CONTACT)?;
    found.notices.iter().for_each(|sentence| attendant.notice(sentence));
    let (target, record, scout) = first_contact(plan, attendant)?;
    let name = record.name.clone();
    let measured = measure(plan, keeper, &found, (target, record), scout.as_ref(), attendant);
    let left = scout.and_then(|(mut scout, _)| scout.end(GRACE).is_none().then(|| scout.id()));
    if let Some(process) = left {
        attendant.complain(&format!(
            "process {process}, which asked {name} first, waits in the kernel and cannot be ended; it goes when the file system answers"
        ));
    }
    measured
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

/// What was found at the first contact.
#[derive(Serialize, Deserialize)]
enum Reached {
    Directory(Box<DirectoryFacts>),
    Server(Box<ServerFacts>),
}

fn reach(target: &Target, steps: &mut Steps<'_>) -> Result<Reached, String> {
    match (target.directory(), target.is_server()) {
        (Some(directory), _) => look_at(directory, steps).map(Box::new).map(Reached::Directory),
        (None, true) => {
            let facts = greet_here(target)?.ok_or("it does not say what it is")?;
            Ok(Reached::Server(Box::new(facts)))
        }
        (None, false) => Err(format!("{target} is neither a directory nor a server")),
    }
}

/// The target as far as it is known, and who went there and has not come back: it is waited for, and nobody else goes there.
type FirstContact = (Target, TargetRecord, Option<(Child, MonotonicTime)>);

fn first_contact(plan: &PlannedPing, attendant: &mut impl PingAttendant) -> Result<FirstContact, Failure> {
    let limit = plan.deadline.min(FIRST_CONTACT);
    let targets = [&plan.target];
    let mut answers =
        contact_all_patiently("scout", &targets, limit.into(), |target, steps| reach(target, steps))?;
    match answers.pop() {
        Some(Contact::Given(Ok(Reached::Directory(facts)))) => {
            let target = Target::from(facts.path);
            let record = TargetRecord { file_system: Some(facts.file_system), ..record_of(&target) };
            Ok((target, record, None))
        }
        Some(Contact::Given(Ok(Reached::Server(facts)))) => {
            facts.doubt.iter().for_each(|trust| attendant.notice(&trust.doubt));
            let target = facts.settled(&plan.target);
            let record = TargetRecord { server: Some(facts.record), ..record_of(&target) };
            Ok((target, record, None))
        }
        Some(Contact::Given(Err(sentence))) => Err(Failure::unusable(sentence)),
        Some(Contact::Silent { start, child, .. }) => {
            let age = MonotonicClock.now().since(start);
            let name = one_line(&plan.target.to_string());
            attendant.notice(&format!("{name} has not answered for {age}; it is waited for"));
            Ok((plan.target.clone(), unanswered(&plan.target, age), Some((child, start))))
        }
        None => Err(Failure::bug("nobody was sent to the target")),
    }
}

fn record_of(target: &Target) -> TargetRecord {
    TargetRecord::new(target.to_string(), target.kind())
}

fn measure<P: PingAttendant>(
    plan: &PlannedPing,
    keeper: &Keeper,
    found: &Found,
    (target, record_of_target): (Target, TargetRecord),
    scout: Option<&(Child, MonotonicTime)>,
    attendant: &mut P,
) -> Result<(Conducted, P::Probes), Failure> {
    let name = record_of_target.name.clone();
    let spec = RunSpec {
        workload: WorkloadSpec::Ping(plan.spec.clone()),
        targets: vec![name.clone()],
        clients: 1,
        deadline_ns: plan.deadline,
        deadlines: Vec::new(),
        on_hang: OnHang::Wait,
        on_error: OnError::Continue,
        seed: plan.seed,
        ring_bytes: RING_BYTES,
        caches: iolag_model::CacheState::Asis,
        drop_command: None,
        bystander: None,
    };
    let mut trust = Vec::new();
    let measured: Vec<u64> =
        record_of_target.file_system.iter().filter_map(|system| system.device_number()).collect();
    let spool_parent = choose_spool(found, &measured, &mut trust);
    let id = new_run_id(found)?;
    let maker = maker(&id)?;
    let token = maker.token;
    let working_name = format!("iolag-ping-{id}");
    let beginning = Beginning {
        membership: Membership::alone(&id),
        id,
        labels: plan.labels.clone(),
        spec: spec.clone(),
        targets: vec![record_of_target],
        clients: vec![ClientRecord::new(ClientId(0), TargetIndex(0), 0)],
        stages: workload(&spec.workload).stages(),
        trust,
    };
    let flight = PingFlight::new()?;
    if let Some((scout, since)) = scout {
        flight.executes(scout.id());
        flight.contacts(*since);
    }
    let assignment = PingAssignment {
        target: target.clone(),
        working_name: working_name.clone(),
        maker,
        spec,
        ping: plan.spec.clone(),
        task: plan.task.clone(),
        contact: scout.map(|(_, since)| *since),
        flight: flight.clone(),
        ahead: scout.and_then(|(scout, _)| Some((scout.id(), start_ticks(scout.id())?))),
    };
    let mut probes = attendant.begin(measurer::schedule(&plan.spec, plan.deadline), flight)?;
    let run = RunPlan {
        record: record(keeper, found, beginning),
        root: found.root.clone(),
        spool_parent,
        groups: vec![GroupPlan {
            name,
            clients: vec![0],
            measure: Box::new(|exchange, outbox| measurer::measure(&assignment, exchange, outbox)),
        }],
        planned_places: match plan.spec.probe {
            PingProbe::Object => Vec::new(),
            PingProbe::Operations { .. } | PingProbe::Task { .. } => vec![(target, working_name)],
        },
        token,
        clean_up: CleanUp::UnlessHung,
        policy: policy(plan),
        attendant: &mut probes,
    };
    let conducted = conduct(run, &mut Interruption::new(&keeper.signals))?;
    Ok((conducted, probes))
}

fn policy(plan: &PlannedPing) -> Policy {
    Policy {
        deadline: match plan.task {
            None => plan.deadline,
            Some(_) => Nanoseconds(plan.deadline.0.saturating_add(ENDING.0)),
        },
        on_hang: OnHang::Wait,
        give_up_after: Nanoseconds(u64::MAX),
        schedule: Schedule::Open,
        at_signal: match plan.spec.count {
            None => AtSignal::Over,
            Some(_) => AtSignal::Incomplete,
        },
    }
}
