//! Sides: what is compared with what.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use iolag_model::{Order, RunId};

use crate::run::beside::felt::FeltOfRun;
use crate::run::standing::Standing;
use crate::run::surroundings::caches::CachesTime;
use crate::run::surroundings::processor_time::ProcessorShare;
use crate::run::values::{Cell, Profile, RunAmount, RunQuantity};
use crate::statistics::runs::table::CampaignEnding;

/// What the user named: one run or many.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// As it was named: `label:client=nfs`, `/scratch`, `nightly`.
    pub name: String,
    /// Its runs; what it has of targets other than its own is left away already.
    pub units: Vec<Unit>,
    /// The coordinates and labels by which this side was chosen, so that they are no difference of rows: `client`, `target`.
    pub chosen_by: BTreeSet<String>,
}

/// A run, or of a watch a day: one value for each cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// The id of the run, or the day.
    pub name: String,
    /// A run, or a day.
    pub kind: UnitKind,
    /// What was measured: `metadata`, `check`. Different ones are not compared.
    pub workload: String,
    /// By what such runs are compared, unless the user says otherwise.
    pub usual: RunQuantity,
    /// Where in a campaign it was, if in one of which the plan is known.
    pub block: Option<UnitBlock>,
    /// When it began and ended, in ns since 1970.
    pub span_ns: [i64; 2],
    /// What tells it from the others of its campaign.
    pub coordinates: BTreeMap<String, String>,
    /// What the user attached.
    pub labels: BTreeMap<String, String>,
    /// What is known of how it came about.
    pub facts: BTreeMap<Fact, String>,
    /// What is known of each of its targets, by name.
    pub places: BTreeMap<String, BTreeMap<Fact, String>>,
    /// How much was in the page cache before.
    pub page_cache_bytes: Option<u64>,
    /// How long caches took that were dropped or filled; absent where nobody did so.
    pub caches: Option<CachesTime>,
    /// What was felt beside its load, if somebody measured.
    pub felt: Vec<FeltOfRun>,
    /// The smallest step of its clock, in ns.
    pub clock_step_ns: f64,
    /// By how much the logarithm of a quantile may be off besides: [`RunValues::step`](crate::RunValues).
    pub quantile_step: f64,
    /// How it ended.
    pub standing: Standing,
    /// What it says; nothing if its standing makes it no unit.
    pub values: Vec<UnitValue>,
}

/// What counts once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnitKind {
    /// A run.
    Run,
    /// A day of a watch.
    Day,
    /// The runs of one day that a history remembers.
    DayOfRuns,
}

impl UnitKind {
    /// What all units of sides are; runs, where not all are the same.
    pub(super) fn of(sides: &[Side]) -> Self {
        let mut kinds = sides.iter().flat_map(|side| &side.units).map(|unit| unit.kind);
        let first = kinds.next().unwrap_or(Self::Run);
        if kinds.all(|kind| kind == first) { first } else { Self::Run }
    }

    /// What one of them is called, and several.
    pub const fn names(self) -> [&'static str; 2] {
        match self {
            Self::Run => ["run", "runs"],
            Self::Day => ["day", "days"],
            Self::DayOfRuns => ["day of runs", "days of runs"],
        }
    }
}

/// Where in its campaign a run was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitBlock {
    /// The campaign.
    pub campaign: RunId,
    /// In which order its runs were conducted.
    pub order: Order,
    /// What ended it.
    pub ending: CampaignEnding,
    /// In which block.
    pub block: u32,
}

/// What a unit says of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitValue {
    /// The cell.
    pub cell: Cell,
    /// The task of a watch, with its part; absent of runs, whose operations have names.
    pub task: Option<String>,
    /// On which target, as the user named it.
    pub target: String,
    /// Attempts that it rests on; 0 where nobody knows.
    pub attempts: u64,
    /// The quantities that were asked for.
    pub amounts: Vec<(RunQuantity, RunAmount)>,
    /// The numbers that are put beside those of the same elsewhere; nothing of what is no run.
    pub profile: Profile,
    /// What the processors did meanwhile; absent where nobody knows.
    pub processors: Option<ProcessorShare>,
}

/// What is known of how a run came about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// The host it ran on.
    Host,
    /// Its kernel.
    Kernel,
    /// How many processors it might use.
    Processors,
    /// Its memory.
    Memory,
    /// The version of iolag.
    Version,
    /// The kind of file system of its target.
    FileSystem,
    /// What is mounted there: a device, a server's export.
    Source,
    /// The number of its device.
    Device,
    /// How that is mounted.
    MountOptions,
    /// How many names of which kind are in its tree: of `iolag bench tree`.
    Tree,
    /// How many bytes its files have.
    TreeBytes,
    /// The checksum of their paths and content.
    TreeChecksum,
    /// How much was in the page cache before.
    CacheState,
    /// Whether its copies moved anything, or are clones.
    Copies,
    /// What a plan executed before and after runs of its side.
    Commands,
    /// An option of its spec, by name: `objects`, `precreate`.
    Option(String),
}

impl Fact {
    /// Whether it says which tree was read.
    pub const fn is_of_tree(&self) -> bool {
        matches!(self, Self::Tree | Self::TreeBytes | Self::TreeChecksum)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Host => "host",
            Self::Kernel => "kernel",
            Self::Processors => "processors",
            Self::Memory => "memory",
            Self::Version => "version of iolag",
            Self::FileSystem => "file system",
            Self::Source => "mount source",
            Self::Device => "device",
            Self::MountOptions => "mount options",
            Self::Tree => "tree",
            Self::TreeBytes => "bytes of the tree",
            Self::TreeChecksum => "checksum of the tree",
            Self::CacheState => "cache state",
            Self::Copies => "copies",
            Self::Commands => "commands",
            Self::Option(name) => name,
        })
    }
}

/// What is compared in a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowKey {
    /// What was measured: `stream`, `tree`.
    pub workload: String,
    /// The cell.
    pub cell: Cell,
    /// The task of a watch, with its part; absent of runs.
    pub task: Option<String>,
    /// The coordinates of the units that tell rows apart, and their target where one run has several.
    pub coordinates: BTreeMap<String, String>,
    /// The labels that tell rows apart: like is compared with like.
    pub labels: BTreeMap<String, String>,
}

impl RowKey {
    /// What is measured: the task of a watch, the operation of runs.
    pub fn measured(&self) -> &str {
        self.task.as_deref().unwrap_or_else(|| self.cell.operation.name())
    }
}

/// The labels that differ because the sides do: each side that has runs has one value, and not all have the same.
pub fn defining_labels(sides: &[Side]) -> BTreeSet<String> {
    let sides: Vec<&Side> = sides.iter().filter(|side| !side.units.is_empty()).collect();
    let units = sides.iter().flat_map(|side| &side.units);
    let names: BTreeSet<String> = units.flat_map(|unit| unit.labels.keys().cloned()).collect();
    let values = |side: &Side, name: &str| -> BTreeSet<Option<String>> {
        side.units.iter().map(|unit| unit.labels.get(name).cloned()).collect()
    };
    let defines = |name: &String| {
        let values: Vec<_> = sides.iter().map(|side| values(side, name)).collect();
        values.iter().all(|own| own.len() == 1) && values.iter().any(|own| *own != values[0])
    };
    names.into_iter().filter(defines).collect()
}
