//! What a spec must fulfil before a run starts. Each refusal is one sentence that says what to change.
//!
//! Limit: that "wear-out" needs a time limit is guarded by the type ([`iolag_model::TimeLimit`] holds both), so only the
//! command line can meet that mistake.

use iolag_model::{
    CheckSpec, MetadataSpec, Nanoseconds, Pattern, Phase, PingSpec, Think, WorkloadSpec, format_bytes,
};

use crate::stages::{metadata_objects_created, metadata_operations_per_client};

/// The longest object in bytes: every client holds one in memory.
pub const OBJECT_BYTES_MAX: u64 = 1 << 30;
/// The most datasets of one client.
pub const DATASETS_MAX: u32 = 1_000_000;
/// The most datasets of all clients.
pub const ALL_DATASETS_MAX: u64 = 10_000_000;
/// The most iterations: stages are numbered in 16 bits.
pub const ITERATIONS_MAX: u32 = 10_000;
/// The most clients: they are numbered in 24 bits.
pub const CLIENTS_MAX: u32 = (1 << 24) - 1;
/// The most operations of one client: attempts are numbered in 40 bits, and some are iolag's own.
pub const OPERATIONS_MAX: u64 = (1 << 40) - (1 << 20);
/// The most probes: those that are not sent have numbers of their own in the upper half of the operations'.
const PROBES_MAX: u64 = 1 << 38;
/// The shortest interval between probes.
const PING_EVERY_MIN: Nanoseconds = Nanoseconds::from_milliseconds(1);
/// The longest pause, as a multiple of the operation's time.
pub const THINK_FACTOR_MAX: f64 = 1e6;

/// Why [`OBJECT_BYTES_MAX`], and what to do.
const OBJECT_ADVICE: &str = "every client holds an object in memory, reduce --object-size";

/// Why a spec cannot be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// A count or size that must be at least 1 is 0.
    #[error("{name} is 0, it must be at least 1")]
    Zero {
        /// Which.
        name: &'static str,
    },
    /// A count or size over what is supported.
    #[error("{name} is {value}, at most {maximum} are supported: {advice}")]
    TooMany {
        /// Which.
        name: &'static str,
        /// What was given.
        value: u64,
        /// What is supported.
        maximum: u64,
        /// What to change.
        advice: &'static str,
    },
    /// A length over what is supported.
    #[error(
        "{name} in bytes is {bytes}, at most {bytes_max} are supported ({} and {}): {advice}",
        format_bytes(*.bytes),
        format_bytes(*.bytes_max)
    )]
    TooLong {
        /// Which.
        name: &'static str,
        /// What was given.
        bytes: u64,
        /// What is supported.
        bytes_max: u64,
        /// What to change.
        advice: &'static str,
    },
    /// The working set is smaller than what one iteration consumes.
    #[error(
        "{precreated} objects are precreated per dataset, but an iteration consumes {objects}: precreate at least {objects}, \
         or use at most {precreated} objects per iteration"
    )]
    FewerThanNeeded {
        /// P.
        precreated: u64,
        /// I.
        objects: u64,
    },
    /// Totals beyond 64 bits.
    #[error(
        "the run would write more bytes than 64 bits can count: choose fewer clients, datasets, objects or iterations, or \
         smaller objects"
    )]
    TooManyBytes,
    /// A pause that is no number of times.
    #[error(
        "the think time factor is {factor}, it must be a number from 0 to {THINK_FACTOR_MAX}: to pause for a fixed time, give \
         a duration"
    )]
    ThinkFactor {
        /// What was given.
        factor: f64,
    },
    /// A time limit where none makes sense.
    #[error(
        "pattern batch has no time limit: every object of a batch is done; leave the limit out, or choose pattern code"
    )]
    BatchTimeLimit,
    /// Nothing to do.
    #[error("no phase is selected: choose at least one of precreate, benchmark, cleanup")]
    NoPhase,
    /// A phase twice.
    #[error("phase {phase} is selected twice: name it once")]
    RepeatedPhase {
        /// Which.
        phase: Phase,
    },
    /// A phase that this pattern does not have.
    #[error("pattern {pattern} has no phase {phase}: choose of precreate, benchmark, cleanup")]
    ForeignPhase {
        /// Which phase.
        phase: Phase,
        /// Which pattern.
        pattern: Pattern,
    },
    /// The working set belongs to another number of clients.
    #[error("the working set was made by {found} clients, this run has {clients}: use --clients {found}")]
    OtherClients {
        /// Clients of the earlier run.
        found: usize,
        /// Clients of this run.
        clients: u32,
    },
    /// A position of the earlier run that cannot be.
    #[error(
        "the earlier run says that client {rank} is at object {position}, which cannot be: precreate again"
    )]
    Position {
        /// Which client.
        rank: u32,
        /// What was given.
        position: u64,
    },
    /// Precreation into a working set that is in use.
    #[error("a working set that is continued is not precreated: select only benchmark and cleanup")]
    PrecreateContinued,
    /// Probes that leave their directory no rest.
    #[error(
        "a probe every {every} is a load, not a look: choose an interval of at least {PING_EVERY_MIN}, or run iolag bench metadata"
    )]
    TooOften {
        /// The interval.
        every: Nanoseconds,
    },
    /// A stream shorter than its block.
    #[error(
        "the stream has {stream_bytes} bytes, its blocks {block_bytes}: choose blocks that fit into the stream"
    )]
    BlockLongerThanStream {
        /// Length of the stream.
        stream_bytes: u64,
        /// Length of a block.
        block_bytes: u64,
    },
}

/// Checks a workload before it runs.
///
/// # Errors
/// The first thing that is wrong, in the order of the fields.
pub fn validate(spec: &WorkloadSpec, clients: u32) -> Result<(), SpecError> {
    match spec {
        WorkloadSpec::Check(spec) => validate_check(spec, clients),
        WorkloadSpec::Metadata(spec) => validate_metadata(spec, clients),
        WorkloadSpec::Ping(spec) => validate_ping(spec),
    }
}

/// Checks a metadata workload before it runs.
///
/// # Errors
/// The first thing that is wrong.
pub fn validate_metadata(spec: &MetadataSpec, clients: u32) -> Result<(), SpecError> {
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
    not_longer("the object size", spec.object_bytes, OBJECT_BYTES_MAX, OBJECT_ADVICE)?;
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
        metadata_operations_per_client(spec),
        OPERATIONS_MAX,
        "reduce --datasets, --precreate, --objects or --iterations",
    )?;
    let bytes = metadata_objects_created(spec, clients).checked_mul(spec.object_bytes.max(1));
    if bytes.is_none_or(|bytes| bytes == u64::MAX) {
        return Err(SpecError::TooManyBytes);
    }
    validate_pace(spec)
}

/// Checks the spec of `iolag check` for `directories` directories.
///
/// # Errors
/// The first thing that is wrong.
pub fn validate_check(spec: &CheckSpec, directories: u32) -> Result<(), SpecError> {
    within("the number of directories", u64::from(directories), 1_000, "name fewer")?;
    within(
        "the budget in ns",
        spec.budget_ns.0,
        366 * 86_400 * 1_000_000_000,
        "give a --budget of at most 366d",
    )?;
    within("the number of listed files", u64::from(spec.listed_files), 100_000, "choose fewer")?;
    within("the number of created files", u64::from(spec.created_files), 100_000, "choose fewer")?;
    at_least_one("the stream size in bytes", spec.stream_bytes)?;
    at_least_one("the block size in bytes", spec.block_bytes)?;
    not_longer("the block size", spec.block_bytes, OBJECT_BYTES_MAX, "reduce --stream-size")?;
    not_longer("the stream size", spec.stream_bytes, 1 << 40, "reduce --stream-size")?;
    not_longer("the object size", spec.object_bytes, OBJECT_BYTES_MAX, OBJECT_ADVICE)?;
    if spec.block_bytes > spec.stream_bytes {
        let (stream_bytes, block_bytes) = (spec.stream_bytes, spec.block_bytes);
        return Err(SpecError::BlockLongerThanStream { stream_bytes, block_bytes });
    }
    Ok(())
}

/// Checks the spec of `iolag ping`.
///
/// # Errors
/// The first thing that is wrong.
pub fn validate_ping(spec: &PingSpec) -> Result<(), SpecError> {
    const YEAR_NS: u64 = 366 * 86_400 * 1_000_000_000;
    if spec.every_ns < PING_EVERY_MIN {
        return Err(SpecError::TooOften { every: spec.every_ns });
    }
    within("the interval in ns", spec.every_ns.0, YEAR_NS, "give a shorter --every")?;
    within("the number of probes", spec.count.unwrap_or(1), PROBES_MAX, "give a smaller --count")
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

fn within(name: &'static str, value: u64, maximum: u64, advice: &'static str) -> Result<(), SpecError> {
    at_least_one(name, value)?;
    if value > maximum {
        return Err(SpecError::TooMany { name, value, maximum, advice });
    }
    Ok(())
}

const fn at_least_one(name: &'static str, value: u64) -> Result<(), SpecError> {
    if value == 0 {
        return Err(SpecError::Zero { name });
    }
    Ok(())
}

const fn not_longer(
    name: &'static str,
    bytes: u64,
    bytes_max: u64,
    advice: &'static str,
) -> Result<(), SpecError> {
    if bytes > bytes_max {
        return Err(SpecError::TooLong { name, bytes, bytes_max, advice });
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
        return Err(SpecError::ThinkFactor { factor });
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
        }
    }

    fn refusal(change: impl FnOnce(&mut MetadataSpec)) -> String {
        let mut changed = spec();
        change(&mut changed);
        validate_metadata(&changed, 4).expect_err("the change makes it invalid").to_string()
    }

    #[test]
    fn the_ancestors_defaults_are_accepted_and_so_are_empty_objects() {
        assert_eq!(validate_metadata(&spec(), 4), Ok(()));
        assert_eq!(validate_metadata(&MetadataSpec { object_bytes: 0, ..spec() }, 4), Ok(()));
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
        assert!(validate_metadata(&spec(), 0).is_err());
    }

    #[test]
    fn totals_beyond_64_bits_are_refused() {
        let huge = MetadataSpec { datasets: 1, precreated_objects: 1 << 36, object_bytes: 1 << 30, ..spec() };
        assert_eq!(validate_metadata(&huge, 1000), Err(SpecError::TooManyBytes));
    }

    #[test]
    fn a_batch_needs_no_objects_per_iteration_in_reserve() {
        let batch = MetadataSpec { pattern: Pattern::Batch, precreated_objects: 10, ..spec() };
        assert_eq!(validate_metadata(&batch, 2), Ok(()));
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

    #[test]
    fn a_check_needs_blocks_that_fit_its_stream() {
        let check = CheckSpec {
            budget_ns: Nanoseconds::from_seconds(45),
            listed_files: 6,
            created_files: 500,
            stream_bytes: 1 << 20,
            block_bytes: 1 << 16,
            object_bytes: 3901,
            thresholds_ns: vec![],
            control: None,
        };
        assert_eq!(validate_check(&check, 3), Ok(()));
        let refused = validate_check(&CheckSpec { block_bytes: 2 << 20, ..check.clone() }, 3);
        assert!(matches!(refused, Err(SpecError::BlockLongerThanStream { .. })));
        assert!(validate_check(&CheckSpec { budget_ns: Nanoseconds(0), ..check }, 1).is_err());
    }
}
