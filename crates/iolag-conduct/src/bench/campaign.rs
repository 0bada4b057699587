//! Runs that belong together, and the order in which they are conducted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use iolag_backend::Target;
use iolag_model::{CampaignPlan, RunId, RunRecord, RunSpec, Trust, one_line};
use iolag_trace::Repetition;

use crate::bench::differing::{differences, foreign_place, options};
use crate::bench::options::{BenchOptions, Crew};
use crate::bench::order::{Place, arranged};
use crate::bench::payload::finding::PayloadCommand;
use crate::bench::sides::Side;
use crate::failure::Failure;

/// What is measured in every block of a campaign, decided as far as it can be before its target was looked at.
#[derive(Debug, Clone)]
pub struct Point {
    /// What is to be done; its target as it was named.
    pub spec: RunSpec,
    /// Where, the directory absolute.
    pub side: Side,
    /// Where copies are made, if not where the files are.
    pub copy_to: Option<Target>,
    /// What tells it from the others of its campaign, by name.
    pub coordinates: BTreeMap<String, String>,
    /// What its clients are.
    pub crew: Crew,
    /// In what it is not what was asked for.
    pub doubt: Option<Trust>,
    /// What a replay asks.
    pub repetition: Option<Arc<Repetition>>,
    /// What each copy runs once it is set up.
    pub payload: Option<PayloadCommand>,
}

impl Point {
    /// What people know that by where copies are made, if that tells it from the others of its campaign.
    pub fn copied_to_side(&self) -> Option<&str> {
        self.coordinates.get(RunRecord::COPY_TO).map(String::as_str)
    }

    /// The same with copies in the directory of this side, which may be its own.
    pub(super) fn copied_to(&self, to: Option<&Side>) -> Self {
        let mut point = self.clone();
        if let Some(to) = to {
            point.coordinates.insert(RunRecord::COPY_TO.to_owned(), to.coordinate());
            point.copy_to = Some(to.target.clone()).filter(|target| *target != self.side.target);
            point.spec.targets.extend(point.copy_to.iter().map(Target::to_string));
        }
        point
    }
}

/// A run that is to measure a point.
#[derive(Debug, Clone)]
pub struct PlannedRun {
    /// What it measures.
    pub point: Point,
    /// Which point of its campaign that is, from 0: tables have them in this order, in whichever they are conducted.
    pub number: usize,
    /// Stretch of the campaign, from 1: each has every coordinate once.
    pub block: u32,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// The runs that earlier commands made of it, oldest first: where there is one it is not conducted again.
    pub done: Vec<RunRecord>,
}

impl PlannedRun {
    fn is_at(&self, record: &RunRecord) -> bool {
        let is_workload = self.point.spec.workload.name() == record.spec.workload.name();
        is_workload && self.point.coordinates == record.coordinates && self.repetition == record.repetition
    }
}

/// Runs in the order in which they are conducted.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// What all of them share.
    pub options: BenchOptions,
    /// The runs.
    pub runs: Vec<PlannedRun>,
    /// Its id, if it goes on where an earlier command ended; else that of its first run.
    pub id: Option<RunId>,
}

impl Campaign {
    /// Plans a run of each point in each block, in the order that is asked for.
    pub(super) fn of(options: BenchOptions, points: &[Point]) -> Self {
        let places = arranged(points.len(), options.repeat.blocks() as u32, options.order, options.seed);
        let run = |place: Place| PlannedRun {
            point: points[place.point].clone(),
            number: place.point,
            block: place.block,
            repetition: place.block,
            done: Vec::new(),
        };
        Self { runs: places.into_iter().map(run).collect(), options, id: None }
    }

    /// Several workloads as one campaign with these options, each point of all in each block.
    pub fn together(options: BenchOptions, campaigns: &[Self]) -> Self {
        let points = |campaign: &Self| {
            let mut first: Vec<&PlannedRun> = campaign.runs.iter().filter(|run| run.block == 1).collect();
            first.sort_by_key(|run| run.number);
            first.into_iter().map(|run| run.point.clone()).collect::<Vec<_>>()
        };
        Self::of(options, &campaigns.iter().flat_map(points).collect::<Vec<_>>())
    }

    /// What a run of this point has on record of it.
    pub(super) fn plan(&self, point: &Point) -> CampaignPlan {
        CampaignPlan { side: point.side.record(), ..self.plan_of_all() }
    }

    /// The kinds of connections that it compares, to its only target; none where it compares sides.
    pub(super) fn compared_sessions(&self) -> Vec<String> {
        self.plan_of_all().compared_sessions().map_or_else(Vec::new, <[String]>::to_vec)
    }

    fn plan_of_all(&self) -> CampaignPlan {
        let BenchOptions { order, name, repeat, .. } = &self.options;
        CampaignPlan {
            order: *order,
            stopping: repeat.stopping(),
            name: name.clone(),
            sides: self.sides(),
            coordinates: self.coordinates(),
            side: None,
        }
    }

    /// What is compared, in the order in which it was named; nothing if there is one side only.
    fn sides(&self) -> Vec<String> {
        let first = self.runs.iter().filter(|run| run.block == 1);
        let mut points: Vec<(usize, &Side)> = first.map(|run| (run.number, &run.point.side)).collect();
        points.sort_by_key(|(number, _)| *number);
        let mut sides: Vec<String> = Vec::new();
        for coordinate in points.into_iter().map(|(_, side)| side.coordinate()) {
            if !sides.contains(&coordinate) {
                sides.push(coordinate);
            }
        }
        if sides.len() > 1 { sides } else { Vec::new() }
    }

    /// What is measured of each side.
    fn coordinates(&self) -> BTreeMap<String, Vec<String>> {
        let mut first: Vec<&PlannedRun> = self.runs.iter().filter(|run| run.block == 1).collect();
        first.sort_by_key(|run| run.number);
        let mut coordinates: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let all = first.iter().flat_map(|run| &run.point.coordinates);
        for (name, value) in all.filter(|(name, _)| !["target", "side"].contains(&name.as_str())) {
            let values = coordinates.entry(name.clone()).or_default();
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        coordinates
    }

    /// What a run of this point has attached.
    pub(super) fn labels(&self, point: &Point) -> BTreeMap<String, String> {
        self.options.labels.iter().chain(&point.side.labels).cloned().collect()
    }

    /// What is measured in each block.
    pub(super) fn points(&self) -> usize {
        self.runs.iter().map(|run| run.number + 1).max().unwrap_or(0)
    }

    /// Goes on with a campaign of which the store has these runs, in any order; those of other campaigns do not count. What
    /// is among the `units` of comparisons is no gap, also if it hung: who made that again would draw hangs until there is none.
    ///
    /// # Errors
    /// If there is no such campaign, or it has a run that this one would not have, or made otherwise: what the user has to say
    /// instead.
    pub fn resume(
        &mut self,
        id: &RunId,
        records: &[RunRecord],
        units: &BTreeSet<RunId>,
    ) -> Result<(), Failure> {
        let mut own: Vec<&RunRecord> = records.iter().filter(|record| record.campaign == *id).collect();
        own.sort_by_key(|record| &record.id);
        for record in &own {
            self.refuse_other(id, record)?;
        }
        for run in &mut self.runs {
            let of_run = own.iter().filter(|record| run.is_at(record) && units.contains(&record.id));
            run.done = of_run.map(|record| (*record).clone()).collect();
        }
        self.id = Some(id.clone());
        Ok(())
    }

    /// The runs that are to be conducted, with their numbers.
    pub fn left(&self) -> impl Iterator<Item = (usize, &PlannedRun)> {
        self.runs.iter().enumerate().filter(|(_, run)| run.done.is_empty())
    }

    /// A run of the same campaign does the same: tables put them side by side.
    fn refuse_other(&self, id: &RunId, record: &RunRecord) -> Result<(), Failure> {
        if record.coordinates.is_empty() {
            return Err(Failure::usage(format!(
                "run {} is no part of a bench that can be gone on with: it is a check or a ping, or an earlier iolag made it",
                record.id
            )));
        }
        let other = |how: &str, which: &str| {
            let which = if which.is_empty() { String::new() } else { format!(": {which}") };
            Err(Failure::usage(format!(
                "run {} of campaign {id} {how}{which}; give the options that it was made with",
                record.id
            )))
        };
        let Some(planned) = self.runs.iter().find(|run| run.is_at(record)) else {
            let planned: Vec<_> =
                self.runs.iter().map(|run| (&run.point.coordinates, run.repetition)).collect();
            return other("would not be made by these options", &foreign_place(record, &planned));
        };
        self.refuse_other_sides(id, record)?;
        // The target is the same by its coordinate; the buffer changes no number.
        let same = RunSpec {
            targets: planned.point.spec.targets.clone(),
            ring_bytes: planned.point.spec.ring_bytes,
            ..record.spec.clone()
        };
        // Also what is told apart by labels stands in rows of its own.
        let (labels, plan) = (self.labels(&planned.point), self.plan(&planned.point));
        if same == planned.point.spec && record.labels == labels && record.plan.as_ref() == Some(&plan) {
            return Ok(());
        }
        let was = options(&same, &record.labels, record.plan.as_ref());
        let is = options(&planned.point.spec, &labels, Some(&plan));
        other("was made with other options", &differences(&was, &is))
    }

    /// All runs of a side that comes later would be made after those of the others: no run of it has its turn in the blocks that there are.
    fn refuse_other_sides(&self, id: &RunId, record: &RunRecord) -> Result<(), Failure> {
        let (before, now) = (record.plan.as_ref().map(|plan| &plan.sides), self.sides());
        match before {
            Some(before) if *before != now => {
                let shown = |sides: &[String]| match sides {
                    [] => "one side".to_owned(),
                    several => one_line(&several.join(", ")),
                };
                let is_added = now.iter().any(|side| !before.contains(side));
                let advice = if is_added {
                    ": what is added would have no turn in the blocks that are done; make a campaign of its own"
                } else {
                    "; give the targets or sides that it was made with, in the same order"
                };
                Err(Failure::usage(format!(
                    "campaign {id} is of {}, and not of {}{advice}",
                    shown(before),
                    shown(&now)
                )))
            }
            _ => Ok(()),
        }
    }
}
