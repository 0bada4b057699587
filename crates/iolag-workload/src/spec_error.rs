//! Why a spec is refused. Each refusal is one sentence that says what to change.
//!
//! Limit: that "wear-out" needs a time limit is guarded by the type ([`iolag_model::TimeLimit`] holds both), so only the
//! command line can meet that mistake.

use iolag_model::{BystanderTask, Nanoseconds, Pattern, Phase, StreamIo, format_bytes};

/// The longest object in bytes: every client holds one in memory.
pub(crate) const OBJECT_BYTES_MAX: u64 = 1 << 30;

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
        "the think time factor is {factor}, it must be a number from 0 to {factor_max}: to pause for a fixed time, give \
         a duration"
    )]
    ThinkFactor {
        /// What was given.
        factor: f64,
        /// What is supported.
        factor_max: f64,
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
    /// A stream of nothing.
    #[error(
        "no phase is selected: choose at least one of write, read, rewrite, random-read, random-write, copy"
    )]
    NoStreamPhase,
    /// A phase that streams do not have.
    #[error("a stream has no phase {phase}: choose of write, read, rewrite, random-read, random-write, copy")]
    NoPhaseOfStreams {
        /// Which.
        phase: Phase,
    },
    /// Several blocks in flight where each is waited for.
    #[error(
        "engine sync has one block in flight and cannot have {depth}: choose --engine io_uring, or --depth 1"
    )]
    DepthOfSync {
        /// How many.
        depth: u32,
    },
    /// Somebody is to copy, and nothing is to be copied.
    #[error("nothing is to be copied: add copy to --phases, or leave out --copy-with")]
    NothingToCopy,
    /// Copies by a queue of the kernel's.
    #[error("copies are made by one system call after the other, not by io_uring: choose --engine sync")]
    CopyByQueue,
    /// A program opens files as it wants.
    #[error("cp opens files by itself, without --io {io}: choose --io buffered, or --copy-with loop")]
    ProgramOpens {
        /// How files were to be opened.
        io: StreamIo,
    },
    /// Direct I/O of parts of sectors.
    #[error("--io direct moves whole sectors, and {option} {bytes} is no multiple of 512 bytes")]
    NoWholeSectors {
        /// The option.
        option: &'static str,
        /// What was given.
        bytes: u64,
    },
    /// A tree with which nothing is done.
    #[error("no phase is selected: choose at least one of stat, sum, combined")]
    NoTreePhase,
    /// A phase that trees do not have.
    #[error("a tree has no phase {phase}: choose of stat, sum, combined")]
    NoPhaseOfTrees {
        /// Which.
        phase: Phase,
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
        "a probe every {every} is a load, not a look: choose an interval of at least {every_min}, or run iolag bench metadata"
    )]
    TooOften {
        /// The interval.
        every: Nanoseconds,
        /// The shortest that is supported.
        every_min: Nanoseconds,
    },
    /// Bystanders that ask nothing.
    #[error("bystanders ask nothing: choose at least one of stat, list, open-read, create")]
    NoBystanderTask,
    /// Bystanders that ask the same twice.
    #[error("bystanders are to ask {task} twice: name it once")]
    BystanderTaskTwice {
        /// What.
        task: BystanderTask,
    },
    /// Bystanders that are a load, or ask never.
    #[error(
        "bystanders cannot ask {rate} times a second: choose a rate above 0 and at most {most}, as in 10/s"
    )]
    BystanderRate {
        /// What was given.
        rate: f64,
        /// What is supported.
        most: f64,
    },
    /// Too long a wait.
    #[error("bystanders cannot measure {quiet} before and after the load: choose at most {most}")]
    BystanderQuiet {
        /// What was given.
        quiet: Nanoseconds,
        /// What is supported.
        most: Nanoseconds,
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

pub(crate) fn within(
    name: &'static str,
    value: u64,
    maximum: u64,
    advice: &'static str,
) -> Result<(), SpecError> {
    at_least_one(name, value)?;
    if value > maximum {
        return Err(SpecError::TooMany { name, value, maximum, advice });
    }
    Ok(())
}

pub(crate) const fn at_least_one(name: &'static str, value: u64) -> Result<(), SpecError> {
    if value == 0 {
        return Err(SpecError::Zero { name });
    }
    Ok(())
}

pub(crate) const fn not_longer(
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

/// An object has at most [`OBJECT_BYTES_MAX`] bytes.
pub(crate) const fn object_not_longer(bytes: u64) -> Result<(), SpecError> {
    not_longer(
        "the object size",
        bytes,
        OBJECT_BYTES_MAX,
        "every client holds an object in memory, reduce --object-size",
    )
}
