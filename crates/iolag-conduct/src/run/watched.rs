//! What the keeper's watch over a run found out.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{
    Anchor, Calibration, ClientRecord, GeneratorRecord, MemoryCourse, Nanoseconds, RunRecord, Sample,
    TargetIndex, Trust,
};

use crate::messages::{MeasurerEnd, SetUpOutcome};
use crate::placed::Placed;

/// Everything that a watch found out.
#[derive(Debug, Default)]
pub struct Watched {
    /// Why the run is not complete, as sentence fragments.
    pub reasons: Vec<String>,
    /// Targets that cannot be measured, with one sentence each.
    pub unusable: Vec<(u16, String)>,
    /// What measurers remarked.
    pub remarks: Vec<String>,
    /// Targets whose measurer stood still and was ended, with one sentence each: that says nothing of them.
    pub halted: BTreeMap<u16, String>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
    /// Clocks, read together every minute.
    pub anchors: Vec<Anchor>,
    /// What stood in the way of the generator.
    pub generator: Option<GeneratorRecord>,
    /// What memory was taken by.
    pub memory: Option<MemoryCourse>,
    /// What measuring costs.
    pub calibration: Option<Calibration>,
    /// What measurers said at their end, in their order.
    pub ends: Vec<Option<MeasurerEnd>>,
    /// Working places that were made.
    pub places: Vec<Placed>,
    /// Working places that may have been made: who did so has not said more.
    pub placing: Vec<Placed>,
    /// Targets whose working place is no longer there: who made it has removed it.
    pub removed: BTreeSet<u16>,
    /// Targets in which making the working place hangs: nobody else is sent there.
    pub hung: BTreeSet<u16>,
    /// How long setting up took, and what became of it, by target.
    pub set_up: BTreeMap<u16, (Nanoseconds, SetUpOutcome)>,
    /// Processes that could not be ended, in a sentence each.
    pub abandoned: Vec<String>,
    /// Attempts of the load that were hung when the run ended.
    pub still_hung: u64,
    /// Clients of the load that hung and were not waited for any more.
    pub left_behind: BTreeSet<u32>,
    /// Where clients hung last that work in two targets, by the name of one or both.
    pub hung_in: BTreeMap<u32, String>,
    /// Bystanders and controls that hung and were not waited for: what they were to measure was measured.
    pub left_beside: BTreeSet<u32>,
    /// Attempts that passed their deadline, those that ended after all among them.
    pub past_deadline: u64,
}

impl Watched {
    /// Targets that were not measured to the end, with one sentence each.
    pub fn unmeasured(&self) -> impl Iterator<Item = (u16, &String)> {
        let unusable = self.unusable.iter().map(|(target, sentence)| (*target, sentence));
        unusable.chain(self.halted.iter().map(|(target, sentence)| (*target, sentence)))
    }

    /// Counts a hang, and notes in which target it is if the client works in two.
    pub fn note_hang(&mut self, client: u32, sample: &Sample, record: &RunRecord) {
        self.past_deadline += 1;
        let place = record.place_of(sample.stage, sample.operation());
        self.hung_in.extend(place.map(|place| (client, place)));
    }

    /// Why clients were not waited for any more: a sentence fragment for each place.
    pub fn places_left_behind(&self, record: &RunRecord) -> Vec<String> {
        let of_place = |index: u16| {
            let is_here = |client: &&ClientRecord| client.target.0 == index && client.role.is_load();
            let all = record.clients.iter().filter(is_here).count();
            let name = record.shown_name(TargetIndex(index));
            let mut left: BTreeMap<&str, usize> = BTreeMap::new();
            for client in record.clients.iter().filter(is_here).map(|client| client.client.0) {
                if self.left_behind.contains(&client) {
                    *left.entry(self.hung_in.get(&client).map_or(name, String::as_str)).or_default() += 1;
                }
            }
            let late = match record.spec.deadlines.as_slice() {
                [] => format!("for longer than the deadline of {}", record.spec.deadline_ns),
                _ => "for longer than the deadline".to_owned(),
            };
            let told = left.into_iter().map(move |(name, left)| match all {
                1 => format!("{name} did not answer {late} and was left behind"),
                _ => format!("{name} did not answer {left} of {all} clients {late}: they were left behind"),
            });
            told.collect::<Vec<_>>()
        };
        (0..record.targets.len() as u16).flat_map(of_place).collect()
    }

    /// Working places that may have to be removed.
    pub fn all_places(&self) -> impl Iterator<Item = &Placed> {
        self.places.iter().chain(&self.placing).filter(|place| !self.removed.contains(&place.target))
    }
}
