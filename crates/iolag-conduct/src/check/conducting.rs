//! Conducting a check: first contact with all directories and servers, then one client in each that answers.

use std::path::PathBuf;

use iolag_backend::Target;
use iolag_model::{
    CheckSpec, ClientId, ClientRecord, Clock, MonotonicClock, MonotonicTime, Nanoseconds, OnError, OnHang,
    Role, RunRecord, RunSpec, TargetIndex, TargetRecord, WorkloadSpec,
};
use iolag_workload::{CheckTurns, Workload, workload};

use crate::check::measurer::{self, CheckAssignment, CheckedTarget};
use crate::check::plan::{Naming, PlannedCheck};
use crate::check::scouted::{
    Chosen, Scouted, answering, nothing_to_measure, record_of_directory, target_of, target_record, targets,
};
use crate::contact::memory_place::{memory_place, memory_places};
use crate::contact::scout::Patience;
use crate::contact::start::{Found, Keeper, send_scouts_everywhere};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::messages::DirectoryFacts;
use crate::run::beginning::{Beginning, Membership, choose_spool, maker, new_run_id, record};
use crate::run::cleaning::CleanUp;
use crate::run::conduct::{Conducted, GroupPlan, RunPlan, conduct};
use crate::run::interruption::Interruption;
use crate::run::policy::Policy;
use crate::run::telling::Attendant;

/// Shared memory per client: a check takes a few thousand samples a second at most.
const RING_BYTES: u64 = 4 << 20;

/// A check that has ended.
pub struct Checked {
    /// The run.
    pub conducted: Conducted,
    targets: Vec<Scouted>,
}

impl Checked {
    /// How the command is to end; `unmeasured` says whether a target has no numbers at all.
    pub fn code(&self, unmeasured: bool) -> ExitCode {
        let silent = unmeasured || self.targets.iter().any(Scouted::is_silent);
        let is_unusable = |(index, (target, scouted)): &(u16, (&TargetRecord, &Scouted))| {
            target.failure.is_some() && !scouted.is_silent() && !self.conducted.halted.contains(index)
        };
        let records = &self.conducted.stored.record.targets;
        let unusable = (0..).zip(records.iter().zip(&self.targets)).filter(is_unusable).count();
        match unusable {
            0 if silent => ExitCode::Incomplete,
            0 => self.conducted.code,
            unusable if unusable == self.targets.len() => ExitCode::Unusable,
            _ => ExitCode::Incomplete,
        }
    }
}

/// Conducts a check; everything is to be over at `end`.
///
/// # Errors
/// If nothing can be measured.
pub fn conduct_check(
    plan: &PlannedCheck,
    end: MonotonicTime,
    keeper: &Keeper,
    attendant: &mut dyn Attendant,
) -> Result<Checked, Failure> {
    // Whoever does not answer may have half of the time; the other half is for those who do.
    let patience = Patience { deadline: plan.deadline, in_all: Nanoseconds(plan.spec.budget_ns.0 / 2) };
    let memory = memory_places();
    let directories: Vec<PathBuf> =
        plan.targets.iter().filter_map(Target::directory).map(PathBuf::from).collect();
    let servers: Vec<Target> = plan.targets.iter().filter(|target| target.is_server()).cloned().collect();
    let asked = [directories.as_slice(), &memory].concat();
    let mut found = send_scouts_everywhere(keeper, (&asked, &servers), patience)?;
    let memory = found.directories.split_off(directories.len());
    found.notices.iter().for_each(|sentence| attendant.say(sentence));
    let left = end.since(MonotonicClock.now());
    let by_default = plan.naming == Naming::Default;
    let Chosen { targets, left_out } = targets(&plan.spec, &plan.targets, by_default, &found, left)?;
    if answering(&targets).next().is_none() {
        return Err(nothing_to_measure(&targets, &left_out));
    }
    let file_systems = answering(&targets).filter_map(|(_, known)| known.file_system());
    let devices: Vec<&str> = file_systems.map(|file_system| file_system.device.as_str()).collect();
    let control = memory_place(&memory, plan.spec.bytes_held(1), &devices);
    let mut check = plan.spec.clone();
    check.control = control.map(|_| TargetIndex(targets.len() as u16));
    let settled = Settled { plan, check, targets: &targets, control, left_out, end };
    let conducted = settled.conduct(keeper, &found, attendant)?;
    Ok(Checked { conducted, targets })
}

/// A check of which it is known where it measures.
struct Settled<'a> {
    plan: &'a PlannedCheck,
    check: CheckSpec,
    targets: &'a [Scouted],
    control: Option<&'a DirectoryFacts>,
    left_out: Vec<String>,
    /// When everything is to be over.
    end: MonotonicTime,
}

impl Settled<'_> {
    fn conduct(
        &self,
        keeper: &Keeper,
        found: &Found,
        attendant: &mut dyn Attendant,
    ) -> Result<Conducted, Failure> {
        let clients = self.clients();
        let spec = self.spec(clients.len());
        let (record, spool_parent) = self.record(keeper, found, &spec, &clients)?;
        let working_name = format!("iolag-check-{}", record.id);
        let maker = maker(&record.id)?;
        let token = maker.token;
        let now = MonotonicClock.now();
        let measured = clients.len() - usize::from(self.control.is_some());
        let turns = CheckTurns::of_all(now, self.end.since(now), measured as u32);
        let assignment = CheckAssignment {
            targets: self.checked_targets(&clients, &turns),
            working_name: working_name.clone(),
            maker,
            spec,
            check: self.check.clone(),
            end: self.end,
        };
        let place = |(_, target): &(u16, Target)| (target.clone(), working_name.clone());
        let groups = self.groups(assignment, &record);
        let plan = RunPlan {
            policy: Policy::of(&record.spec),
            record,
            root: found.root.clone(),
            spool_parent,
            groups,
            planned_places: clients.iter().map(place).collect(),
            token,
            clean_up: CleanUp::Everything,
            attendant,
        };
        conduct(plan, &mut Interruption::new(&keeper.signals))
    }

    /// Where a client works: those who answer, and the control at the end.
    fn clients(&self) -> Vec<(u16, Target)> {
        let control = self.control.map(|facts| (self.targets.len() as u16, facts.path.clone().into()));
        answering(self.targets).map(|(target, known)| (target, known.target())).chain(control).collect()
    }

    /// One client per target; the control's is the last.
    fn checked_targets(&self, clients: &[(u16, Target)], turns: &[CheckTurns]) -> Vec<CheckedTarget> {
        let checked =
            |((client, (number, target)), turns): ((u32, &(u16, Target)), &CheckTurns)| CheckedTarget {
                number: *number,
                client,
                target: target.clone(),
                turns: *turns,
                role: self.role(*number),
            };
        (0..).zip(clients).zip(turns).map(checked).collect()
    }

    fn role(&self, target: u16) -> Role {
        if self.check.control == Some(TargetIndex(target)) { Role::Control } else { Role::Load }
    }

    fn spec(&self, clients: usize) -> RunSpec {
        RunSpec {
            workload: WorkloadSpec::Check(self.check.clone()),
            targets: self.targets.iter().map(|target| target_of(target).to_string()).collect(),
            clients: 1,
            deadline_ns: self.plan.deadline,
            deadlines: Vec::new(),
            on_hang: OnHang::Continue,
            on_error: OnError::Continue,
            seed: self.plan.seed,
            ring_bytes: RING_BYTES * clients as u64,
            caches: iolag_model::CacheState::Asis,
            drop_command: None,
            bystander: None,
        }
    }

    /// The record, and where samples wait.
    fn record(
        &self,
        keeper: &Keeper,
        found: &Found,
        spec: &RunSpec,
        clients: &[(u16, Target)],
    ) -> Result<(RunRecord, Option<PathBuf>), Failure> {
        let mut trust = Vec::new();
        let file_systems = || answering(self.targets).filter_map(|(_, known)| known.file_system());
        let measured: Vec<u64> =
            file_systems().filter_map(|file_system| file_system.device_number()).collect();
        let spool_parent = choose_spool(found, &measured, &mut trust);
        trust.extend(answering(self.targets).filter_map(|(_, known)| known.doubt()));
        let id = new_run_id(found)?;
        let client = |(client, (target, _)): (u32, &(u16, Target))| ClientRecord {
            role: self.role(*target),
            ..ClientRecord::new(ClientId(client), TargetIndex(*target), 0)
        };
        let beginning = Beginning {
            membership: Membership::alone(&id),
            id,
            labels: self.plan.labels.clone(),
            spec: spec.clone(),
            targets: self
                .targets
                .iter()
                .map(target_record)
                .chain(self.control.map(record_of_directory))
                .collect(),
            clients: (0..).zip(clients).map(client).collect(),
            stages: workload(&spec.workload).stages(),
            trust,
        };
        let mut record = record(keeper, found, beginning);
        record.remarks.extend(self.left_out.iter().cloned());
        if self.control.is_none() && file_systems().all(|file_system| file_system.kind != "tmpfs") {
            record
                .remarks
                .push("Nothing was compared with this machine's memory: no tmpfs was found.".to_owned());
        }
        Ok((record, spool_parent))
    }

    /// One measurer per mounted file system, and per server.
    fn groups<'a>(&self, assignment: CheckAssignment, record: &RunRecord) -> Vec<GroupPlan<'a>> {
        let mounts = answering(self.targets)
            .map(|(_, known)| known.file_system())
            .chain(self.control.map(|facts| Some(&facts.file_system)))
            .map(|file_system| file_system.map_or("", |file_system| file_system.device.as_str()));
        let mut grouped: Vec<(&str, Vec<CheckedTarget>)> = Vec::new();
        for (target, mount) in assignment.targets.iter().zip(mounts) {
            match grouped.iter_mut().find(|(known, _)| *known == mount && !mount.is_empty()) {
                Some((_, targets)) => targets.push(target.clone()),
                None => grouped.push((mount, vec![target.clone()])),
            }
        }
        grouped
            .into_iter()
            .map(|(_, targets)| group(CheckAssignment { targets, ..assignment.clone() }, record))
            .collect()
    }
}

fn group<'a>(assignment: CheckAssignment, record: &RunRecord) -> GroupPlan<'a> {
    let name = |checked: &CheckedTarget| record.shown_name(TargetIndex(checked.number));
    let names: Vec<_> = assignment.targets.iter().map(name).collect();
    GroupPlan {
        name: names.join(", "),
        clients: assignment.targets.iter().map(|checked| checked.client).collect(),
        measure: Box::new(move |exchange, outbox| measurer::measure(&assignment, exchange, outbox)),
    }
}
