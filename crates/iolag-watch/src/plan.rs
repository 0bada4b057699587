//! What is to be watched, complete: every default has been decided by whoever made the plan.

use std::path::{Path, PathBuf};

use iolag_model::{Nanoseconds, SeriesKind};
use iolag_workload::{ServerPlace, TaskSpec};
use serde::{Deserialize, Serialize};

/// A plan for watching.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchPlan {
    /// Host name, as it is remembered.
    pub host: String,
    /// From the begin of one round to the begin of the next.
    pub period: Nanoseconds,
    /// Each round begins at a random moment within this length after its place in the grid, so that it does not run in step with
    /// what else happens every quarter of an hour.
    pub jitter: Nanoseconds,
    /// What is watched. Probes of targets on one mounted file system never overlap.
    pub targets: Vec<WatchTarget>,
    /// What is asked once a round.
    pub covariates: Vec<PlannedCovariate>,
    /// What the user adds to the configuration of every target.
    pub facts: Vec<PlannedFact>,
    /// By which targets and names of probes tell this watch from others: the path of its runtime directory, or where that usually is, so
    /// that it stays the same wherever in memory it was found.
    pub runtime_directory: PathBuf,
    /// With so many orphans new probes of other mounts are held back too. At least 1; less counts as that.
    pub orphans_max: u32,
}

/// A directory or a server to watch.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchTarget {
    /// Where it is.
    pub location: Location,
    /// Its name in the history, secrets removed.
    pub name: String,
    /// Whether it is a user's target or the control on the host's memory.
    pub kind: SeriesKind,
    /// Whether it may lie on whatever is there.
    pub mounted: Mounted,
    /// What is executed there, in random order in each round.
    pub tasks: Vec<PlannedTask>,
}

/// Where a target is.
#[derive(Debug, Clone, PartialEq)]
pub enum Location {
    /// A directory, as an absolute path.
    Directory(PathBuf),
    /// A server: it lies on no mount, and its tasks go there by themselves.
    Server(Box<ServerPlace>),
}

impl Location {
    /// The directory, if it is one.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::Directory(path) => Some(path),
            Self::Server(_) => None,
        }
    }
}

/// What a target has to lie on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mounted {
    /// Where it was seen mounted, something has to be mounted: nothing is written to the directory beneath.
    Required,
    /// Anything.
    Any,
}

/// A task with its deadlines.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTask {
    /// The name in the history.
    pub name: String,
    /// What is executed.
    pub spec: TaskSpec,
    /// When evidence is gathered and other mounts go on.
    pub soft_deadline: Nanoseconds,
    /// When it is ended.
    pub deadline: Nanoseconds,
    /// What happens at the deadline.
    pub at_deadline: AtDeadline,
}

/// What happens to a probe at its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AtDeadline {
    /// SIGTERM, after `grace` SIGKILL; what is still there is an orphan.
    End {
        /// Time between the two signals, and from the second one until it counts as an orphan.
        grace: Nanoseconds,
    },
    /// Nothing: how long it truly takes is what is asked. It blocks its mount until it ends.
    Wait,
}

/// A command that prints a number.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCovariate {
    /// The name in the history.
    pub name: String,
    /// Unit of the number, for people; may be empty.
    pub unit: String,
    /// Program (an absolute path) and arguments.
    pub command: Vec<String>,
    /// When it is ended.
    pub deadline: Nanoseconds,
}

/// What the user knows of this host, and iolag does not: a fact of every configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFact {
    /// The name in the history.
    pub name: String,
    /// Where it comes from.
    pub source: FactSource,
}

/// Where a fact comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactSource {
    /// The file of the watch says it.
    Text(String),
    /// The first line of this file, an absolute path.
    File(PathBuf),
    /// The first line that this prints: program (an absolute path) and arguments.
    Command(Vec<String>),
}
