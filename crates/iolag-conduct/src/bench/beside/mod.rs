//! Who measures beside the load of a bench: which clients there are, where they stand, and what is known of them before they begin.
//!
//! Each place has a measurer of its own, so that what hangs in one holds up nobody in another, and not the load.

pub(super) mod measurer;

use iolag_backend::{PlaceProof, Target};
use iolag_model::{
    BesideRecord, BystanderSpec, ClientId, ClientRecord, Role, RunId, RunRecord, RunSpec, Standpoint,
    TargetIndex, TargetRecord,
};

use crate::bench::Benched;
use crate::bench::beside::measurer::{Bystander, BystanderAssignment};
use crate::bench::measurer::BenchAssignment;
use crate::failure::Failure;
use crate::messages::DirectoryFacts;

/// Of those who ask everything everywhere, there are so many.
pub(super) const BYSTANDERS_MAX: u32 = 13;
/// The target of the load.
const LOADED: TargetIndex = TargetIndex(0);

/// Who measures beside the load of a run.
#[derive(Debug, Clone)]
pub(super) struct Beside {
    spec: BystanderSpec,
    standpoints: Vec<Standpoint>,
    control: Option<DirectoryFacts>,
    /// The number of its target, which follows those that are measured.
    control_target: TargetIndex,
    /// Clients of the load: theirs are the first numbers.
    load: u32,
}

impl Beside {
    /// Those that a run asks for; the control works in this directory, if there is one.
    pub(super) fn of(spec: &RunSpec, bench: &dyn Benched, control: Option<&DirectoryFacts>) -> Option<Self> {
        let bystander = spec.bystander.clone()?;
        let can_stand = |standpoint: &Standpoint| *standpoint != Standpoint::Control || control.is_some();
        let standpoints = bench.standpoints().iter().copied().filter(can_stand).collect();
        Some(Self {
            spec: bystander,
            standpoints,
            control: control.cloned(),
            control_target: TargetIndex(spec.targets.len() as u16),
            load: spec.load_clients(),
        })
    }

    /// All of them, by their places.
    pub(super) fn bystanders(&self) -> Vec<Bystander> {
        let in_place = |place: &Standpoint| {
            let place = *place;
            self.spec.asked_in(place).map(move |task| (place, task))
        };
        (self.load..)
            .zip(self.standpoints.iter().flat_map(in_place))
            .map(|(client, (standpoint, task))| Bystander { client, standpoint, task })
            .collect()
    }

    pub(super) fn clients(&self) -> impl Iterator<Item = ClientRecord> {
        let mut controls = 0..;
        self.bystanders().into_iter().map(move |Bystander { client, standpoint, .. }| {
            let (role, target, rank) = match standpoint {
                Standpoint::Control => {
                    (Role::Control, self.control_target, controls.next().unwrap_or_default())
                }
                _ => (Role::Bystander, LOADED, client),
            };
            ClientRecord { role, ..ClientRecord::new(ClientId(client), target, rank) }
        })
    }

    /// Their stages, beside those of the load that are measured, and what is to be known of them.
    pub(super) fn note_in(&self, record: &mut RunRecord) {
        record.beside = Some(BesideRecord::of(&record.stages, &self.standpoints));
        if self.control.is_none() {
            record.remarks.push(
                "Nothing was measured in this machine's memory for comparison: no tmpfs other than the target was found."
                    .to_owned(),
            );
        }
    }

    /// What those in each place have to do, beside a load that has to do this.
    pub(super) fn assignments(&self, record: &RunRecord, load: &BenchAssignment) -> Vec<BystanderAssignment> {
        let bystanders = self.bystanders();
        let in_place = |standpoint: &Standpoint| {
            let here = bystanders.iter().filter(|bystander| bystander.standpoint == *standpoint);
            BystanderAssignment {
                load: load.clone(),
                spec: self.spec.clone(),
                standpoint: *standpoint,
                bystanders: here.copied().collect(),
                all: bystanders.len() as u32,
                beside: record.beside.clone().unwrap_or_default(),
                control: self
                    .control_place(&record.id)
                    .filter(|_| *standpoint == Standpoint::Control)
                    .map(|(target, name)| (target.to_string(), name)),
                control_target: self.control_target.0,
            }
        };
        let all = self.standpoints.iter().map(in_place);
        all.filter(|assignment| !assignment.bystanders.is_empty()).collect()
    }

    /// The target of the control.
    pub(super) fn target(&self) -> Option<TargetRecord> {
        self.control.as_ref().map(|facts| TargetRecord {
            file_system: Some(facts.file_system.clone()),
            ..TargetRecord::new(facts.path.display().to_string(), "posix")
        })
    }

    /// Where the control works, and the name of its working place.
    pub(super) fn control_place(&self, run: &RunId) -> Option<(Target, String)> {
        self.control.as_ref().map(|facts| (facts.path.clone().into(), format!("iolag-control-{run}")))
    }
}

/// Bystanders work beside the load, in its working place.
pub(super) fn refuse_beside(spec: &RunSpec, target: &Target) -> Result<(), Failure> {
    let Some(bystander) = &spec.bystander else { return Ok(()) };
    iolag_workload::validate_bystander(bystander).map_err(|error| Failure::usage(error.to_string()))?;
    if target.semantics().place == PlaceProof::Process {
        return Err(Failure::usage(format!(
            "{target} is of one process only, and bystanders are processes of their own: name a directory, or leave out --bystander"
        )));
    }
    Ok(())
}
