//! What the spec of a metadata workload must fulfil before it runs, and the positions that it goes on from.

use iolag_model::{MetadataSpec, Pattern, Phase, Think};

use super::stages::{objects_created, operations_per_client};
use crate::spec_error::{SpecError, object_not_longer, within};

/// The most datasets of one client.
const DATASETS_MAX: u32 = 1_000_000;
/// The most datasets of all clients.
const ALL_DATASETS_MAX: u64 = 10_000_000;
/// The most iterations: stages are numbered in 16 bits.
const ITERATIONS_MAX: u32 = 10_000;
/// The most clients: they are numbered in 24 bits.
const CLIENTS_MAX: u32 = (1 << 24) - 1;
/// The most operations of one client: attempts are numbered in 40 bits, and some are iolag's own.
const OPERATIONS_MAX: u64 = (1 << 40) - (1 << 20);
/// The longest pause, as a multiple of the operation's time.
const THINK_FACTOR_MAX: f64 = 1e6;

/// Checks a metadata workload before it runs.
///
/// # Errors
/// The first thing that is wrong, in the order of the fields.
pub(super) fn validate(spec: &MetadataSpec, clients: u32) -> Result<(), SpecError> {
    within("the number of clients", u64::from(clients), u64::from(CLIENTS_MAX), "reduce --clients")?;
    let datasets = u64::from(spec.datasets);
    within("the number of datasets per client", datasets, u64::from(DATASETS_MAX), "reduce --datasets")?;
    within(
        "the number of datasets of all clients",
        datasets * u64::from(clients),
        ALL_DATASETS_MAX,
        "reduce --clients or --datasets",
    )?;
    within(
        "the number of precreated objects",
        spec.precreated_objects,
        OPERATIONS_MAX,
        "reduce --precreate",
    )?;
    within("the number of objects per iteration", spec.objects, OPERATIONS_MAX, "reduce --objects")?;
    let iterations = u64::from(spec.iterations);
    within("the number of iterations", iterations, u64::from(ITERATIONS_MAX), "reduce --iterations")?;
    object_not_longer(spec.object_bytes)?;
    validate_phases(spec)?;
    let runs_benchmark = spec.pattern != Pattern::Batch && spec.phases.contains(&Phase::Benchmark);
    if runs_benchmark && spec.precreated_objects < spec.objects {
        return Err(SpecError::FewerThanNeeded {
            precreated: spec.precreated_objects,
            objects: spec.objects,
        });
    }
    within(
        "the number of operations per client",
        operations_per_client(spec),
        OPERATIONS_MAX,
        "reduce --datasets, --precreate, --objects or --iterations",
    )?;
    let bytes = objects_created(spec, clients).checked_mul(spec.object_bytes.max(1));
    if bytes.is_none_or(|bytes| bytes == u64::MAX) {
        return Err(SpecError::TooManyBytes);
    }
    validate_pace(spec)
}

/// Checks that the positions of an earlier run fit this one.
///
/// # Errors
/// If they are of another number of clients, cannot be, or a working set would be precreated over.
pub fn validate_positions(spec: &MetadataSpec, clients: u32, positions: &[u64]) -> Result<(), SpecError> {
    if positions.len() != clients as usize {
        return Err(SpecError::OtherClients { found: positions.len(), clients });
    }
    if let Some((rank, position)) = (0..).zip(positions).find(|(_, position)| **position > OPERATIONS_MAX) {
        return Err(SpecError::Position { rank, position: *position });
    }
    let is_continued = positions.iter().any(|position| *position > 0);
    if is_continued && spec.phases.contains(&Phase::Precreate) {
        return Err(SpecError::PrecreateContinued);
    }
    Ok(())
}

fn validate_phases(spec: &MetadataSpec) -> Result<(), SpecError> {
    if spec.phases.is_empty() {
        return Err(SpecError::NoPhase);
    }
    for (index, phase) in spec.phases.iter().enumerate() {
        if spec.phases[..index].contains(phase) {
            return Err(SpecError::RepeatedPhase { phase: *phase });
        }
        if !matches!(phase, Phase::Precreate | Phase::Benchmark | Phase::Cleanup) {
            return Err(SpecError::ForeignPhase { phase: *phase, pattern: spec.pattern });
        }
    }
    Ok(())
}

fn validate_pace(spec: &MetadataSpec) -> Result<(), SpecError> {
    if let Think::Factor(factor) = spec.think
        && !(0.0..=THINK_FACTOR_MAX).contains(&factor)
    {
        return Err(SpecError::ThinkFactor { factor, factor_max: THINK_FACTOR_MAX });
    }
    match spec.time_limit {
        Some(limit) if limit.after_ns.0 == 0 => Err(SpecError::Zero { name: "the time limit" }),
        Some(_) if spec.pattern == Pattern::Batch => Err(SpecError::BatchTimeLimit),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{Access, Durability, Granularity, Nanoseconds, TimeLimit, Verification, WearOut};

    fn spec() -> MetadataSpec {
        MetadataSpec {
            pattern: Pattern::Code,
            granularity: Granularity::Operations,
            phases: vec![Phase::Precreate, Phase::Benchmark, Phase::Cleanup],
            datasets: 10,
            precreated_objects: 3000,
            objects: 1000,
            iterations: 3,
            object_bytes: 3901,
            offset: 1,
            think: Think::None,
            access: Access::Replace,
            time_limit: None,
            durability: Durability::Default,
            verification: Verification::Length,
            dataset_kind: iolag_model::Datasets::Made,
            connections: iolag_model::Connections::Reused,
        }
    }

    fn refusal(change: impl FnOnce(&mut MetadataSpec)) -> String {
        let mut changed = spec();
        change(&mut changed);
        validate(&changed, 4).expect_err("the change makes it invalid").to_string()
    }

    #[test]
    fn the_ancestors_defaults_are_accepted_and_so_are_empty_objects() {
        assert_eq!(validate(&spec(), 4), Ok(()));
        assert_eq!(validate(&MetadataSpec { object_bytes: 0, ..spec() }, 4), Ok(()));
    }

    #[test]
    fn every_refusal_says_what_to_change() {
        assert_eq!(
            refusal(|spec| spec.precreated_objects = 100),
            "100 objects are precreated per dataset, but an iteration consumes 1000: precreate at least 1000, or use at most \
             100 objects per iteration"
        );
        assert_eq!(
            refusal(|spec| spec.datasets = 0),
            "the number of datasets per client is 0, it must be at least 1"
        );
        assert!(refusal(|spec| spec.datasets = u32::MAX).contains("at most 1000000 are supported"));
        assert!(refusal(|spec| spec.iterations = u32::MAX).contains("number of iterations"));
        assert_eq!(
            refusal(|spec| spec.object_bytes = 5 << 40),
            "the object size in bytes is 5497558138880, at most 1073741824 are supported (5.00 TiB and 1.00 GiB): every client \
             holds an object in memory, reduce --object-size"
        );
        assert!(refusal(|spec| spec.iterations = u32::MAX).ends_with("are supported: reduce --iterations"));
        assert!(refusal(|spec| spec.precreated_objects = 1 << 39).contains("operations per client"));
        assert!(refusal(|spec| spec.think = Think::Factor(f64::NAN)).contains("think time factor is NaN"));
        assert!(refusal(|spec| spec.think = Think::Factor(-1.0)).contains("-1"));
        assert!(refusal(|spec| spec.phases.clear()).contains("no phase"));
        assert!(refusal(|spec| spec.phases.push(Phase::Cleanup)).contains("twice"));
        assert!(refusal(|spec| spec.phases.push(Phase::Check)).contains("has no phase check"));
        let limit = |after_ns| Some(TimeLimit { after_ns: Nanoseconds(after_ns), wear_out: WearOut::Stop });
        assert!(refusal(|spec| spec.time_limit = limit(0)).contains("time limit is 0"));
        assert!(
            refusal(|spec| (spec.time_limit, spec.pattern) = (limit(1), Pattern::Batch)).contains("batch")
        );
        assert!(validate(&spec(), 0).is_err());
    }

    #[test]
    fn totals_beyond_64_bits_are_refused() {
        let huge = MetadataSpec { datasets: 1, precreated_objects: 1 << 36, object_bytes: 1 << 30, ..spec() };
        assert_eq!(validate(&huge, 1000), Err(SpecError::TooManyBytes));
    }

    #[test]
    fn a_batch_needs_no_objects_per_iteration_in_reserve() {
        let batch = MetadataSpec { pattern: Pattern::Batch, precreated_objects: 10, ..spec() };
        assert_eq!(validate(&batch, 2), Ok(()));
    }

    #[test]
    fn positions_of_other_runs_are_refused() {
        let continued = MetadataSpec { phases: vec![Phase::Benchmark, Phase::Cleanup], ..spec() };
        assert_eq!(validate_positions(&continued, 2, &[5, 9]), Ok(()));
        assert_eq!(
            validate_positions(&continued, 3, &[5, 9]),
            Err(SpecError::OtherClients { found: 2, clients: 3 })
        );
        assert_eq!(
            validate_positions(&continued, 2, &[0, u64::MAX]),
            Err(SpecError::Position { rank: 1, position: u64::MAX })
        );
        assert_eq!(validate_positions(&spec(), 2, &[5, 9]), Err(SpecError::PrecreateContinued));
        assert_eq!(validate_positions(&spec(), 2, &[0, 0]), Ok(()));
    }
}
