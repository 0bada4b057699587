//! What the agenda deals in: the subjects of a plan, their slots, on what each is outstanding, and how it is provided for.

use iolag_model::{MonotonicTime, Nanoseconds, SeriesKind};
use iolag_workload::{TaskOutput, TaskSpec};
use serde::{Deserialize, Serialize};

use crate::agenda::probe_state::Deadlines;
use crate::{AtDeadline, WatchPlan};

/// Between the signals to a covariate that is past its deadline.
const COVARIATE_GRACE: Nanoseconds = Nanoseconds::from_seconds(1);

/// What a slot is for, by position in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A task of a target.
    Task {
        /// Which target.
        target: usize,
        /// Which of its tasks.
        task: usize,
    },
    /// A covariate.
    Covariate(usize),
}

/// On what at most one probe is outstanding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MountKey {
    /// A mounted file system, by the kernel's device number.
    Device(String),
    /// A target of which the mount is not known, by its name.
    Target(String),
    /// A covariate, by its name: it has no mount.
    Covariate(String),
    /// A mount point where nothing is mounted, by its path. No probe is outstanding there; outages are.
    MountPoint(String),
}

/// A place for one probe in one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// What is to be executed.
    pub subject: Subject,
    /// In which round.
    pub round: u64,
    /// When that round was to begin.
    pub intended: MonotonicTime,
}

/// What the agenda knows of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provision {
    /// The subject.
    pub subject: Subject,
    /// Its deadlines.
    pub deadlines: Deadlines,
    /// Whether too many hung probes hold it back.
    pub restraint: Restraint,
}

/// Whether too many hung probes hold a subject back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restraint {
    /// They do.
    HeldBack,
    /// They do not: it stays in the host's memory.
    Free,
}

/// Every subject of a plan, with its deadlines.
pub(crate) fn provisions(plan: &WatchPlan) -> Vec<Provision> {
    let tasks = plan.targets.iter().enumerate().flat_map(|(target, planned)| {
        let restraint =
            if planned.kind == SeriesKind::Control { Restraint::Free } else { Restraint::HeldBack };
        planned.tasks.iter().enumerate().map(move |(task, planned)| Provision {
            subject: Subject::Task { target, task },
            deadlines: Deadlines {
                soft: planned.soft_deadline,
                hard: planned.deadline,
                at_deadline: planned.at_deadline,
            },
            restraint,
        })
    });
    let covariates = plan.covariates.iter().enumerate().map(|(index, planned)| Provision {
        subject: Subject::Covariate(index),
        deadlines: Deadlines {
            soft: planned.deadline,
            hard: planned.deadline,
            at_deadline: AtDeadline::End { grace: COVARIATE_GRACE },
        },
        restraint: Restraint::HeldBack,
    });
    tasks.chain(covariates).collect()
}

/// What a covariate executes.
pub(crate) fn covariate_spec(command: &[String]) -> TaskSpec {
    TaskSpec::Command { command: command.to_vec(), output: TaskOutput::Number }
}
