//! What is on record of a run before it starts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use iolag_keeper::{Residence, start_ticks};
use iolag_model::{
    Anchor, CampaignPlan, ClientRecord, PlaceMaker, PlaceToken, RunId, RunRecord, RunSpec, RunState,
    StageRecord, TargetRecord, Trust,
};

use crate::contact::scout::{self, Answer};
use crate::contact::start::{Found, Keeper};
use crate::failure::Failure;
use crate::storing::place::{self, STORE_DEADLINE, Spool};

/// Chooses where samples wait; says so if that is the measured file system itself.
pub fn choose_spool(found: &Found, measured: &[u64], trust: &mut Vec<Trust>) -> Option<PathBuf> {
    let device = found.store.device.clone().unwrap_or_default();
    match place::choose_spool(device, measured, &found.candidates) {
        Spool::InRun => None,
        Spool::Elsewhere(parent) => Some(parent),
        Spool::InRunThoughMeasured => {
            trust.push(Trust {
                doubt:
                    "samples are written to the file system that is being measured: there is no other place"
                        .into(),
                advice: "name a store on another file system with --store".into(),
            });
            None
        }
    }
}

/// A run's place in its campaign.
pub struct Membership {
    /// The campaign: the id of its first run.
    pub campaign: RunId,
    /// What was planned of it.
    pub plan: Option<CampaignPlan>,
    /// What tells the run from the others, by name.
    pub coordinates: BTreeMap<String, String>,
    /// Stretch of the campaign, from 1.
    pub block: u32,
    /// Which repetition, from 1.
    pub repetition: u32,
}

impl Membership {
    /// That of a run that belongs to no other.
    pub fn alone(id: &RunId) -> Self {
        Self { campaign: id.clone(), plan: None, coordinates: BTreeMap::new(), block: 1, repetition: 1 }
    }
}

/// What goes into a record at the start.
pub struct Beginning {
    /// The run.
    pub id: RunId,
    /// What it belongs to.
    pub membership: Membership,
    /// What the user attached.
    pub labels: Vec<(String, String)>,
    /// What is to be done.
    pub spec: RunSpec,
    /// The targets.
    pub targets: Vec<TargetRecord>,
    /// The clients.
    pub clients: Vec<ClientRecord>,
    /// The stages.
    pub stages: Vec<StageRecord>,
    /// Doubts that are known before.
    pub trust: Vec<Trust>,
}

/// The record of a run that is about to start.
pub fn record(keeper: &Keeper, found: &Found, beginning: Beginning) -> RunRecord {
    let mut trust = beginning.trust;
    if keeper.residence == Residence::File {
        trust.push(Trust {
            doubt: "iolag runs from its file, because no program can be started from memory here: the kernel allows none, or \
                    its size is over the limit of files (ulimit -f)"
                .into(),
            advice:
                "if the file system of the iolag binary hangs, iolag may hang with it: put it on a local disk"
                    .into(),
        });
    }
    RunRecord {
        campaign: beginning.membership.campaign,
        plan: beginning.membership.plan,
        coordinates: beginning.membership.coordinates,
        block: beginning.membership.block,
        repetition: beginning.membership.repetition,
        labels: beginning.labels.into_iter().collect::<BTreeMap<_, _>>(),
        command: keeper.command.clone(),
        environment: found.environment.clone(),
        before: found.before.clone(),
        anchors: vec![Anchor::take()],
        targets: beginning.targets,
        clients: beginning.clients,
        stages: beginning.stages,
        trust,
        rescue: found.rescue.clone(),
        ..RunRecord::new(beginning.id, beginning.spec, running_state())
    }
}

/// A name for a run that starts now, and that no other run of the store gets. A store that does not answer any more will
/// not keep the run either.
///
/// # Errors
/// If no child can be started.
pub fn new_run_id(found: &Found) -> Result<RunId, Failure> {
    let realtime_ns = Anchor::take().realtime_ns;
    let claimed = scout::ask("store", STORE_DEADLINE, || {
        let store = place::open(&found.root).ok()?;
        store.claim(place::run_ids(realtime_ns)).ok()
    })?;
    match claimed {
        Answer::Given(Some(id)) => Ok(id),
        _ => Ok(place::run_ids(realtime_ns).next().expect("there are names in any second")),
    }
}

/// Who makes the working places of this run.
///
/// # Errors
/// If the system has no random numbers.
pub fn maker(run: &RunId) -> Result<PlaceMaker, Failure> {
    let token = iolag_directory::random_number().map_err(Failure::bug)?;
    Ok(PlaceMaker { run: run.clone(), token: PlaceToken(token) })
}

/// The state of a run that this process is about to start.
pub fn running_state() -> RunState {
    let keeper_pid = std::process::id();
    RunState::Running { keeper_pid, keeper_start_ticks: start_ticks(keeper_pid).unwrap_or(0), spool: None }
}
