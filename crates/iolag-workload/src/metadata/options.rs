//! What may be chosen about a metadata workload, with its defaults: the one place of them, for the command line and for plans.

use std::collections::BTreeMap;

use iolag_model::{
    Access, Connections, Datasets, Durability, Granularity, MetadataSpec, Nanoseconds, Pattern, Phase,
    RunRecord, Think, TimeLimit, Verification, WearOut, WorkloadSpec,
};

use super::sharing::recommended_offset;
use crate::Workload;

/// What is chosen; several numbers of precreated objects make a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataOptions {
    /// In which order objects are accessed.
    pub pattern: Pattern,
    /// What a sample is.
    pub granularity: Granularity,
    /// Which phases run, in any order.
    pub phases: Vec<Phase>,
    /// D: datasets per client.
    pub datasets: u64,
    /// P: objects precreated per dataset.
    pub precreated_objects: Vec<u64>,
    /// I: objects per dataset and iteration.
    pub objects: u64,
    /// R: iterations of the benchmark phase.
    pub iterations: u64,
    /// S: bytes of an object.
    pub object_bytes: u64,
    /// O: distance to the client whose objects are read; else what the number of clients recommends.
    pub offset: Option<u64>,
    /// Pause after every operation.
    pub think: Think,
    /// Whether objects are replaced.
    pub access: Access,
    /// When an iteration ends before all objects are done.
    pub time_limit: Option<Nanoseconds>,
    /// What clients do at the time limit.
    pub wear_out: WearOut,
    /// Whether created objects are made durable inside the timing.
    pub durability: Durability,
    /// Whether the content that was read is compared.
    pub verification: Verification,
    /// Whether connections to servers are kept; both are compared.
    pub connections: Vec<Connections>,
}

/// What tells a workload of a sweep from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataVariant {
    /// P: objects precreated per dataset.
    pub precreated_objects: u64,
    /// Whether connections are kept.
    pub connections: Connections,
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self {
            pattern: Pattern::Code,
            granularity: Granularity::Operations,
            phases: vec![Phase::Precreate, Phase::Benchmark, Phase::Cleanup],
            datasets: 10,
            precreated_objects: vec![3000],
            objects: 1000,
            iterations: 3,
            object_bytes: 3901,
            offset: None,
            think: Think::None,
            access: Access::Replace,
            time_limit: None,
            wear_out: WearOut::Stop,
            durability: Durability::Default,
            verification: Verification::Length,
            connections: vec![Connections::Reused],
        }
    }
}

impl MetadataOptions {
    /// Refuses options that contradict each other, whatever the number of clients.
    ///
    /// # Errors
    /// A sentence that says what to change.
    pub fn refuse_contradictions(&self) -> Result<(), String> {
        if self.access == Access::ReadOnly && self.pattern == Pattern::Batch {
            return Err(
                "pattern batch creates and removes what it reads: leave out --read-only, or choose --pattern code"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Whether each run makes and removes a working set of its own, so that several can follow each other.
    pub fn is_self_contained(&self) -> bool {
        self.phases.len() >= 3
    }

    /// The workloads of the sweep, in its order, and what tells each from the others, by name.
    pub fn variants(&self) -> Vec<(BTreeMap<String, String>, MetadataVariant)> {
        let named = |(precreated_objects, connections): (u64, Connections)| {
            let mut names = BTreeMap::from([("objects".to_owned(), precreated_objects.to_string())]);
            if self.connections != [Connections::Reused] {
                names.insert(RunRecord::SESSION.to_owned(), connections.to_string());
            }
            (names, MetadataVariant { precreated_objects, connections })
        };
        let kinds = |objects: &u64| {
            let objects = *objects;
            self.connections.iter().map(move |connections| (objects, *connections))
        };
        self.precreated_objects.iter().flat_map(kinds).map(named).collect()
    }

    /// The workload of a variant for a number of clients.
    ///
    /// # Errors
    /// If it cannot be, as a sentence that says what to change.
    pub fn workload(&self, variant: MetadataVariant, clients: u32) -> Result<WorkloadSpec, String> {
        let precreated_objects = variant.precreated_objects;
        let is_swept = self.precreated_objects.len() > 1;
        let mut phases = self.phases.clone();
        phases.sort_unstable();
        phases.dedup();
        let spec = MetadataSpec {
            pattern: self.pattern,
            granularity: self.granularity,
            phases,
            datasets: small("--datasets", self.datasets)?,
            precreated_objects,
            // In a sweep over sizes, an iteration consumes no more than the smallest working set has.
            objects: if is_swept { self.objects.min(precreated_objects) } else { self.objects },
            iterations: small("--iterations", self.iterations)?,
            object_bytes: self.object_bytes,
            offset: match self.offset {
                Some(offset) => small("--offset", offset)?,
                None => recommended_offset(clients, clients),
            },
            think: self.think,
            access: self.access,
            time_limit: self.time_limit.map(|after_ns| TimeLimit { after_ns, wear_out: self.wear_out }),
            durability: self.durability,
            verification: self.verification,
            dataset_kind: Datasets::Made,
            connections: variant.connections,
        };
        spec.validate(clients).map_err(|error| error.to_string())?;
        Ok(WorkloadSpec::Metadata(spec))
    }
}

fn small(name: &str, value: u64) -> Result<u32, String> {
    u32::try_from(value).map_err(|_| format!("{name} {value} is too large: at most {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(options: &MetadataOptions, clients: u32) -> Vec<MetadataSpec> {
        let workload = |variant| options.workload(variant, clients).unwrap().metadata().cloned();
        options.variants().into_iter().map(|(_, variant)| workload(variant).unwrap()).collect()
    }

    #[test]
    fn in_a_sweep_no_iteration_consumes_more_than_its_working_set_has() {
        let options = MetadataOptions { precreated_objects: vec![50, 5000], ..MetadataOptions::default() };
        let sizes: Vec<_> =
            metadata(&options, 4).iter().map(|spec| (spec.precreated_objects, spec.objects)).collect();
        assert_eq!(sizes, [(50, 50), (5000, 1000)]);
        let alone = MetadataOptions { precreated_objects: vec![50], ..MetadataOptions::default() };
        let refusal = alone.workload(alone.variants()[0].1, 4).unwrap_err();
        assert!(refusal.contains("precreate at least 1000"), "{refusal}");
    }

    #[test]
    fn what_is_done_with_connections_is_a_coordinate_where_it_is_asked_for() {
        let both = vec![Connections::Reused, Connections::Fresh];
        let options = MetadataOptions { connections: both, ..MetadataOptions::default() };
        let sessions: Vec<_> =
            options.variants().into_iter().map(|(names, _)| names["session"].clone()).collect();
        assert_eq!(sessions, ["reuse", "fresh"]);
        let kept: Vec<_> = metadata(&options, 1).iter().map(|spec| spec.connections).collect();
        assert_eq!(kept, [Connections::Reused, Connections::Fresh]);
        assert!(!MetadataOptions::default().variants()[0].0.contains_key("session"));
    }

    #[test]
    fn phases_are_a_set_and_numbers_are_bounded() {
        let twice = MetadataOptions {
            phases: vec![Phase::Cleanup, Phase::Precreate, Phase::Cleanup],
            ..MetadataOptions::default()
        };
        assert_eq!(metadata(&twice, 1)[0].phases, [Phase::Precreate, Phase::Cleanup]);
        let many = MetadataOptions { iterations: 1 << 40, ..MetadataOptions::default() };
        let refusal = many.workload(many.variants()[0].1, 1).unwrap_err();
        assert_eq!(refusal, "--iterations 1099511627776 is too large: at most 4294967295");
    }
}
