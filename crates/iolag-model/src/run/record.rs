//! run.json: what is known about a run besides its samples.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Anchor, BesideRecord, Calibration, CampaignPlan, ClientId, Environment, FileSystem, FormatVersion,
    GeneratorRecord, HostIndex, HostRecord, HostView, MemoryCourse, MemoryState, Nanoseconds, Operation,
    Phase, PlaceIdentity, PutBack, Role, RunId, RunSpec, ServerRecord, StageIndex, TargetIndex, TreeRecord,
};

/// run.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Format of this directory.
    pub format: FormatVersion,
    /// The run's name.
    pub id: RunId,
    /// Runs that belong together carry the same campaign: the id of its first run.
    pub campaign: RunId,
    /// What was planned of it. Since 1.1; of benches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<CampaignPlan>,
    /// What tells the run from the others of its campaign, by name: its target, its clients, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coordinates: BTreeMap<String, String>,
    /// In which stretch of the campaign, from 1: each has every coordinate once, so that what drifts hits all alike.
    #[serde(default = "first")]
    pub block: u32,
    /// Which repetition within the campaign, from 1.
    pub repetition: u32,
    /// What the user attached.
    pub labels: BTreeMap<String, String>,
    /// The command as typed, secrets removed.
    pub command: Vec<String>,
    /// What was to be done.
    pub spec: RunSpec,
    /// Where things stand.
    pub state: RunState,
    /// The machine.
    pub environment: Environment,
    /// Load and memory before.
    pub before: MemoryState,
    /// Load and memory after; absent if the run did not get there.
    pub after: Option<MemoryState>,
    /// Clocks at start, every 60 s and at the end.
    pub anchors: Vec<Anchor>,
    /// What measuring costs here.
    pub calibration: Calibration,
    /// The hosts besides this one, by number from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_hosts: Vec<HostRecord>,
    /// The targets, in the order of the spec.
    pub targets: Vec<TargetRecord>,
    /// The clients: which target each works on.
    pub clients: Vec<ClientRecord>,
    /// The stages that samples point into.
    pub stages: Vec<StageRecord>,
    /// Who measures beside the load, if somebody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesideRecord>,
    /// What the tags of samples stand for; 0 is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<TagRecord>,
    /// The Parquet files with samples, relative to the run directory.
    pub parts: Vec<PartRecord>,
    /// Whether it is the generator: what it had to contend with. Since 1.1; of runs that took a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<GeneratorRecord>,
    /// What of the first host's memory the page cache, dirty and write-back had, second by second. Since 1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryCourse>,
    /// What was found in a tree, and made of it; of runs on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeRecord>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
    /// How the numbers came about, as sentences: for example which compiler was used.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// How far each client got, for a later phase on the same working set: objects consumed per dataset.
    pub positions: Vec<u64>,
    /// Where the run was rescued to, if its store did not take it: in the rescued run itself, and in what the store has of
    /// it. Since 1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescue: Option<Rescue>,
    /// What became of the command after it, if its side has one; absent as long as nobody knows, and for ever if iolag was killed before that.
    /// Since 1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_back: Option<PutBack>,
}

impl RunRecord {
    /// What a target is called beside the others of this run: a server without its settings, unless only these tell it from another.
    pub fn shown_name(&self, target: TargetIndex) -> &str {
        let Some(own) = self.targets.get(usize::from(target.0)) else { return "" };
        let short = own.without_settings();
        let are_alike = self.targets.iter().filter(|other| other.without_settings() == short).count() > 1;
        if are_alike { &own.name } else { short }
    }

    /// The coordinate of a run that says where it copies to, of a campaign that copies between its targets.
    pub const COPY_TO: &str = "copy-to";

    /// The coordinate of a run that says whether connections were kept, of a campaign that has both.
    pub const SESSION: &str = "session";

    /// Of a run by itself that is to do this, and of which nothing more is known.
    pub fn new(id: RunId, spec: RunSpec, state: RunState) -> Self {
        Self {
            format: spec.workload.run_format(),
            campaign: id.clone(),
            id,
            plan: None,
            coordinates: BTreeMap::new(),
            block: 1,
            repetition: 1,
            labels: BTreeMap::new(),
            command: Vec::new(),
            spec,
            state,
            environment: Environment::default(),
            before: MemoryState::default(),
            after: None,
            anchors: Vec::new(),
            calibration: Calibration::default(),
            further_hosts: Vec::new(),
            targets: Vec::new(),
            clients: Vec::new(),
            stages: Vec::new(),
            beside: None,
            tags: Vec::new(),
            parts: Vec::new(),
            generator: None,
            memory: None,
            tree: None,
            trust: Vec::new(),
            remarks: Vec::new(),
            positions: Vec::new(),
            rescue: None,
            put_back: None,
        }
    }

    /// What is known of a host; a number that no host has means the first.
    pub fn host(&self, index: HostIndex) -> HostView<'_> {
        match self.further_host(index) {
            Some(host) => HostView { environment: &host.environment, anchors: &host.anchors },
            None => HostView { environment: &self.environment, anchors: &self.anchors },
        }
    }

    /// How many stages samples may be in, those of bystanders included.
    pub fn stage_count(&self) -> u32 {
        let beside = self.beside.iter().flat_map(|beside| &beside.stages).map(|stage| stage.stage);
        let all = self.stages.iter().map(|stage| stage.stage).chain(beside);
        all.map(|stage| u32::from(stage.0) + 1).max().unwrap_or_default()
    }

    /// The target that nobody asked for, with which the others are compared: of a check, or of bystanders.
    pub fn control(&self) -> Option<TargetIndex> {
        let is_measured = |target: TargetIndex| usize::from(target.0) < self.spec.targets.len();
        let of_bystanders = || {
            let mut controls = self.clients.iter().filter(|client| client.role == Role::Control);
            controls.find_map(|client| Some(client.target).filter(|target| !is_measured(*target)))
        };
        self.spec.workload.control().or_else(of_bystanders)
    }

    /// Where it copies to, if that tells it from others of its campaign.
    pub fn copy_to(&self) -> Option<&str> {
        self.coordinates.get(Self::COPY_TO).map(String::as_str)
    }

    /// What people know by where it was made: its side, else its target.
    pub fn place(&self) -> Option<&str> {
        let named = ["side", "target"].into_iter().find_map(|name| self.coordinates.get(name));
        named.or_else(|| Some(&self.targets.first()?.name)).map(String::as_str)
    }

    /// As [`RunSpec::place_of`], of what the load asks in this stage.
    pub fn place_of(&self, stage: StageIndex, operation: Operation) -> Option<String> {
        let stage = self.stages.iter().find(|record| record.stage == stage)?;
        self.spec.place_of(stage.phase, operation)
    }

    /// The targets that were asked for.
    pub fn measured_targets(&self) -> &[TargetRecord] {
        &self.targets[..self.targets.len().min(self.spec.targets.len())]
    }

    /// A host other than the first.
    pub fn further_host(&self, index: HostIndex) -> Option<&HostRecord> {
        self.further_hosts.get(usize::from(index.0).checked_sub(1)?)
    }
}

const fn first() -> u32 {
    1
}

/// The rescue of a run that its store refused or did not answer for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rescue {
    /// The store that the run belongs to: without symbolic links if it could be opened, else as it was named.
    pub store: String,
    /// Which directory that store's `runs` is, if it could be opened.
    pub identity: Option<PlaceIdentity>,
    /// The place of rescue: the root of another store.
    pub place: String,
    /// What the store did, as a sentence.
    pub cause: String,
    /// Samples that only the store can have: it stopped answering after it had taken them, or they were lost on the way here.
    pub only_in_store: u64,
    /// Process id of the keeper that rescued the run.
    pub keeper_pid: u32,
    /// Start time of that process, as in [`RunState::Running`].
    pub keeper_start_ticks: u64,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum RunState {
    /// It is running, or its keeper ended without closing it: the next command recovers it.
    Running {
        /// Process id of the keeper.
        keeper_pid: u32,
        /// Start time of that process in clock ticks since boot (field 22 of /proc/PID/stat).
        keeper_start_ticks: u64,
        /// Where the spool is, if not in the run directory.
        spool: Option<String>,
    },
    /// Everything was done.
    Complete,
    /// It ended early; what was measured is here.
    Incomplete {
        /// Why, as a sentence fragment.
        reason: String,
    },
    /// Its keeper ended without closing it, and its samples were recovered afterwards.
    Recovered {
        /// What is missing, as a sentence fragment.
        reason: String,
    },
}

impl RunState {
    /// Adds a reason why the run is not complete.
    pub fn add_reason(&mut self, more: String) {
        match self {
            Self::Incomplete { reason } | Self::Recovered { reason } => {
                reason.push_str("; ");
                reason.push_str(&more);
            }
            Self::Running { .. } | Self::Complete => *self = Self::Incomplete { reason: more },
        }
    }
}

/// One target of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// As the user named it, secrets removed.
    pub name: String,
    /// Kind of backend: posix, memory, delayed, faulty.
    pub backend: String,
    /// The working directory, prefix or table that iolag made in it.
    pub working_place: Option<String>,
    /// The file system, for directories.
    pub file_system: Option<FileSystem>,
    /// The server, for targets that are one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRecord>,
    /// For a target that did not answer: how long it was waited for.
    pub unanswered_ns: Option<Nanoseconds>,
    /// How far the first contact and setting up had come; for targets of which that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactRecord>,
    /// Why it could not be measured, or not to the end: what was tried, on what, what the system answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl TargetRecord {
    /// Whether it is a server, also if nobody answered there.
    pub fn is_server(&self) -> bool {
        self.server.is_some() || (self.backend != "posix" && self.name.contains("://"))
    }

    /// The name of a server without what stands after its `#`.
    fn without_settings(&self) -> &str {
        let settings = self
            .name
            .find("://")
            .filter(|_| self.is_server())
            .and_then(|place| self.name[place..].find('#').map(|after| place + after));
        settings.map_or(&self.name, |place| &self.name[..place])
    }

    /// Of a target of which nothing more is known.
    pub fn new(name: impl Into<String>, backend: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            backend: backend.into(),
            working_place: None,
            file_system: None,
            server: None,
            unanswered_ns: None,
            contact: None,
            failure: None,
        }
    }
}

/// How far the first contact with a target and setting it up had come: who is slow is not dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactRecord {
    /// Requests that had come back, at least.
    pub answered: u64,
    /// Requests that are needed before anything is measured, about.
    pub needed: u64,
    /// From the first request to the end of the contact, or of the run.
    pub waited_ns: Nanoseconds,
    /// What ended it, or what came after it.
    #[serde(default, skip_serializing_if = "ContactEnd::is_own")]
    pub end: ContactEnd,
}

/// What ended a first contact and setting up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContactEnd {
    /// Itself, or that its time was over.
    #[default]
    Own,
    /// The user, who wanted the run to end.
    Interrupted,
}

impl ContactEnd {
    fn is_own(&self) -> bool {
        *self == Self::Own
    }
}

/// One client of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRecord {
    /// Its number.
    pub client: ClientId,
    /// Where it works.
    pub target: TargetIndex,
    /// Its rank among the clients of that target.
    pub rank: u32,
    /// What it is there for.
    #[serde(default, skip_serializing_if = "Role::is_load")]
    pub role: Role,
    /// On which host it works.
    #[serde(default, skip_serializing_if = "HostIndex::is_first")]
    pub host: HostIndex,
}

impl ClientRecord {
    /// A client of the load, on the first host.
    pub const fn new(client: ClientId, target: TargetIndex, rank: u32) -> Self {
        Self { client, target, rank, role: Role::Load, host: HostIndex(0) }
    }
}

/// One stage of a run: samples point here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Its number.
    pub stage: StageIndex,
    /// What it did.
    pub phase: Phase,
    /// Which iteration of that phase, from 0.
    pub iteration: u32,
}

/// What a tag of samples stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagRecord {
    /// The number in samples.
    pub tag: u16,
    /// What kind of thing it is.
    pub kind: TagKind,
    /// What it is called, secrets removed.
    pub name: String,
    /// Which target of the run it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetIndex>,
}

/// What a tag tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TagKind {
    /// The server that answered.
    Server,
    /// The other target of an operation on two.
    SecondTarget,
    /// The kind of path that was taken: a cache, a replica.
    PathKind,
    /// What only a later iolag knows.
    #[serde(other)]
    Unknown,
}

/// A Parquet file of samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRecord {
    /// File name, relative to the run directory.
    pub file: String,
    /// Rows.
    pub samples: u64,
    /// CRC-32 of the file's footer, which in turn holds one of every column of every row group; absent if unknown.
    #[serde(default)]
    pub footer_crc32: Option<u32>,
    /// Whose clock its samples have.
    #[serde(default, skip_serializing_if = "HostIndex::is_first")]
    pub host: HostIndex,
}

/// The tool's criticism of its own measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// What is doubtful.
    pub doubt: String,
    /// What to do next.
    pub advice: String,
}
