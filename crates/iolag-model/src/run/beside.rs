//! Who measures beside the load of a bench, where, and when.
//!
//! A sample of theirs is in a stage of their own: one for each place where they stand, and each time of the load.

use serde::{Deserialize, Serialize};

use super::spec::names;
use crate::{MonotonicTime, Nanoseconds, Operation, StageIndex, StageRecord};

/// What bystanders of a bench do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BystanderSpec {
    /// What they ask, each in a client of its own.
    pub asked: Vec<BystanderTask>,
    /// How often each asks, a second.
    pub rate_per_second: f64,
    /// How long they measure before the load begins, and after it has ended.
    pub quiet_ns: Nanoseconds,
}

impl BystanderSpec {
    /// What is asked in a place: of somebody else's file nothing but its attributes.
    pub fn asked_in(&self, place: Standpoint) -> impl Iterator<Item = BystanderTask> {
        let is_asked = move |task: &BystanderTask| place != Standpoint::File || *task == BystanderTask::Stat;
        self.asked.iter().copied().filter(is_asked)
    }
}

/// What a bystander asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BystanderTask {
    /// The attributes of a file.
    Stat,
    /// The names in a directory, and the attributes of its files, as `ls -l` does.
    List,
    /// A small file: open, read, close.
    OpenRead,
    /// A new small file, which is removed again.
    Create,
}
names!(BystanderTask { Stat = "stat", List = "list", OpenRead = "open-read", Create = "create" });

impl BystanderTask {
    /// What is recorded of it.
    pub const fn operation(self) -> Operation {
        match self {
            Self::Stat => Operation::Stat,
            Self::List => Operation::ListWithAttributes,
            Self::OpenRead => Operation::Read,
            Self::Create => Operation::Create,
        }
    }
}

/// Where a bystander stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Standpoint {
    /// It asks for the file that the load's first client works on.
    File,
    /// It works in the directory of that client.
    Directory,
    /// It works in another directory of the same file system.
    Sibling,
    /// It works in this machine's memory: what is felt there is no fault of the storage.
    Control,
}
names!(Standpoint { File = "file", Directory = "directory", Sibling = "sibling", Control = "control" });

/// What time of the load it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadTime {
    /// Nothing is measured: the load makes what it needs, or goes from one stage to the next.
    Between,
    /// What it needs is made, and it has not begun.
    Before,
    /// It is in this stage.
    During(StageIndex),
    /// It has done everything but removing what it made.
    After,
    /// Nobody is to measure beside it any more.
    Over,
}

/// One stage of bystanders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BystanderStage {
    /// Its number; those of the load come first.
    pub stage: StageIndex,
    /// Where they stand.
    pub standpoint: Standpoint,
    /// What time of the load it is: before, during a stage, or after.
    pub time: LoadTime,
}

/// What is known of those who measure beside the load of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BesideRecord {
    /// Their stages.
    pub stages: Vec<BystanderStage>,
}

impl BesideRecord {
    /// Those of a load with these stages.
    pub fn of(load: &[StageRecord], standpoints: &[Standpoint]) -> Self {
        let first = load.iter().map(|stage| stage.stage.0 + 1).max().unwrap_or_default();
        let measured = load.iter().filter(|stage| !stage.phase.is_of_working_set());
        let during = measured.map(|stage| LoadTime::During(stage.stage));
        let times = std::iter::once(LoadTime::Before).chain(during).chain([LoadTime::After]);
        let places = times.flat_map(|time| standpoints.iter().map(move |standpoint| (time, *standpoint)));
        let stages = (first..)
            .zip(places)
            .map(|(stage, (time, standpoint))| BystanderStage { stage: StageIndex(stage), standpoint, time })
            .collect();
        Self { stages }
    }

    /// The stage of who stands there at this time of the load; none if nothing is measured then.
    pub fn stage(&self, standpoint: Standpoint, time: LoadTime) -> Option<StageIndex> {
        let is_it = |stage: &&BystanderStage| stage.standpoint == standpoint && stage.time == time;
        self.stages.iter().find(is_it).map(|stage| stage.stage)
    }
}

/// How far the load of a run is: its clients tell, and who measures beside it looks.
pub trait LoadCourse: Send + Sync {
    /// The load is between stages, or waits before or after all of them, from this moment on; told by each of its clients.
    fn tell(&self, time: LoadTime, now: MonotonicTime);

    /// A client of the load begins this stage.
    fn begin(&self, stage: StageIndex, now: MonotonicTime);

    /// It has ended its part of it; with the last the load is between stages.
    fn end(&self, now: MonotonicTime);

    /// What time it is.
    fn time(&self) -> LoadTime;

    /// What time it was at a moment that is not long past, if that is known.
    fn time_at(&self, moment: MonotonicTime) -> Option<LoadTime>;

    /// How many of those who measure beside it have not ended, and are waited for.
    fn beside(&self) -> usize;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;

    #[test]
    fn each_place_and_time_has_a_stage_after_those_of_the_load() {
        let load =
            [0, 1].map(|stage| StageRecord { stage: StageIndex(stage), phase: Phase::Write, iteration: 0 });
        let beside = BesideRecord::of(&load, &[Standpoint::Directory, Standpoint::Control]);
        assert_eq!(beside.stages.len(), 8);
        assert_eq!(beside.stage(Standpoint::Directory, LoadTime::Before), Some(StageIndex(2)));
        let during = LoadTime::During(StageIndex(1));
        assert_eq!(beside.stage(Standpoint::Control, during), Some(StageIndex(7)));
        assert_eq!(beside.stage(Standpoint::Control, LoadTime::After), Some(StageIndex(9)));
        assert_eq!(beside.stage(Standpoint::Control, LoadTime::Between), None);
        assert_eq!(beside.stage(Standpoint::File, LoadTime::After), None);
    }
}
