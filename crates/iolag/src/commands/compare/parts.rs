//! The sides of one campaign.

use std::path::Path;

use iolag_backend::redact;
use iolag_conduct::{Failure, absolute};
use iolag_model::{CampaignPlan, RunId, RunRecord, TargetRecord, one_line};

use crate::commands::runs::selection::FoundRun;

/// What tells the runs of a campaign apart that are compared with each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A side of a plan, by its name.
    Side(String),
    /// The target of a bench.
    Place(String),
    /// One of the targets of a single run: of a check.
    Target(String),
    /// How a bench of one server came to its answers: by connections that were kept, or by fresh ones.
    Session(String),
}

/// The coordinates that are sides of a plan and targets of a bench.
const SIDE: &str = "side";
const TARGET: &str = "target";

impl Part {
    /// What people know it by.
    pub fn name(&self) -> &str {
        match self {
            Self::Side(name) | Self::Place(name) | Self::Target(name) | Self::Session(name) => name,
        }
    }

    /// The coordinate that it is a value of, if it is none of a place.
    pub const fn coordinate(&self) -> Option<&'static str> {
        match self {
            Self::Session(_) => Some(RunRecord::SESSION),
            Self::Side(_) | Self::Place(_) | Self::Target(_) => None,
        }
    }

    /// The same in a sentence: it is out of run.json.
    pub fn shown(&self) -> String {
        let name = one_line(&redact(self.name()));
        self.coordinate().map_or(name.clone(), |coordinate| format!("{coordinate} {name}"))
    }

    /// Whether `typed` means it: the directory of a bench may be relative.
    fn is_called(&self, typed: &str) -> bool {
        self.name() == typed || self.shown() == typed || Path::new(self.name()) == absolute(Path::new(typed))
    }

    /// Whether its runs measured in what `typed` names: the path without symbolic links of what was named with them.
    fn measured_in(&self, typed: &str, runs: &[FoundRun]) -> bool {
        let path = absolute(Path::new(typed));
        let own = runs.iter().filter(|run| self.has(&run.record));
        own.flat_map(|run| &run.record.targets)
            .any(|target| target.name == typed || Path::new(&target.name) == path)
    }

    /// Whether a run has something of it.
    pub fn has(&self, record: &RunRecord) -> bool {
        match self {
            Self::Side(name) => record.coordinates.get(SIDE) == Some(name),
            Self::Place(name) => record.coordinates.get(TARGET) == Some(name),
            Self::Session(name) => record.coordinates.get(RunRecord::SESSION) == Some(name),
            Self::Target(name) => record.targets.iter().any(|target| target.name == *name),
        }
    }
}

/// The sides of a campaign, else its targets, else the kinds of connections to its only one, in the order in which they were named, also
/// those that have no run.
pub fn parts_of(runs: &[FoundRun]) -> Vec<Part> {
    let plan = runs.iter().find_map(|run| run.record.plan.as_ref());
    match plan.and_then(CampaignPlan::compared_sessions) {
        Some(sessions) => sessions.iter().cloned().map(Part::Session).collect(),
        None => places_of(runs),
    }
}

fn places_of(runs: &[FoundRun]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for record in runs.iter().map(|run| &run.record) {
        let side = record.coordinates.get(SIDE).cloned().map(Part::Side);
        let place = record.coordinates.get(TARGET).cloned().map(Part::Place);
        let own = match side.or(place) {
            Some(part) => vec![part],
            None => loaded(record).map(|target| Part::Target(target.name.clone())).collect(),
        };
        parts.extend(own.into_iter().filter(|part| !parts.contains(part)).collect::<Vec<_>>());
    }
    let planned = runs.iter().find_map(|run| run.record.plan.as_ref()).map(|plan| plan.sides.as_slice());
    let of_plan: fn(String) -> Part = match parts.first() {
        Some(Part::Side(_)) => Part::Side,
        Some(Part::Place(_)) => Part::Place,
        _ => Part::Target,
    };
    let is_known = |name: &&String| parts.iter().any(|part| part.name() == **name);
    let missing: Vec<Part> =
        planned.unwrap_or_default().iter().filter(|name| !is_known(name)).cloned().map(of_plan).collect();
    parts.extend(missing);
    // Runs are conducted in another order than sides are named in.
    let place = |part: &Part| planned.unwrap_or_default().iter().position(|name| name == part.name());
    parts.sort_by_key(|part| place(part).unwrap_or(usize::MAX));
    parts
}

/// The part of a campaign that is called so, also by the path without symbolic links of what it was named with.
///
/// # Errors
/// If there is none: what to choose from.
pub fn part_called(typed: &str, campaign: &RunId, runs: &[FoundRun]) -> Result<Part, Failure> {
    let parts = parts_of(runs);
    let by_name = parts.iter().find(|known| known.is_called(typed));
    let resolved = || parts.iter().find(|known| known.measured_in(typed, runs));
    by_name.or_else(resolved).cloned().ok_or_else(|| {
        let known: Vec<String> = parts.iter().map(Part::shown).collect();
        Failure::unusable(format!(
            "campaign {campaign} has no target or side {}: choose from {}",
            one_line(&redact(typed)),
            known.join(", ")
        ))
    })
}

/// The targets of a run, but those that only controls work on: the machine's own memory in a check.
fn loaded(record: &RunRecord) -> impl Iterator<Item = &TargetRecord> {
    let is_loaded = |target: usize| {
        let mut own =
            record.clients.iter().filter(|client| usize::from(client.target.0) == target).peekable();
        own.peek().is_none() || own.any(|client| client.role.is_load())
    };
    record.targets.iter().enumerate().filter(move |(index, _)| is_loaded(*index)).map(|(_, target)| target)
}
