//! Samples as columns: how the store hands many of them to the analysis, without either knowing the other.

/// A batch of samples, one slice per column, all of the same length or empty if the column was not asked for.
///
/// Types are those of the Parquet files: signed, because every reader in the field understands them.
#[derive(Debug, Clone, Copy, Default)]
pub struct SampleColumns<'a> {
    /// Attempt ids.
    pub attempt: &'a [i64],
    /// Client numbers.
    pub client: &'a [i32],
    /// Target numbers.
    pub target: &'a [i32],
    /// Stage numbers.
    pub stage: &'a [i32],
    /// Numbers of [`crate::Operation`].
    pub operation_code: &'a [i32],
    /// Numbers of [`crate::Outcome`].
    pub outcome_code: &'a [i32],
    /// [`crate::FailureCode`]s.
    pub failure_code: &'a [i32],
    /// Intended starts in ns of the monotonic clock.
    pub intended_ns: &'a [i64],
    /// Starts in ns of the monotonic clock.
    pub start_ns: &'a [i64],
    /// Durations in ns.
    pub duration_ns: &'a [i64],
    /// Bytes moved.
    pub bytes: &'a [i64],
    /// Tags: run.json has their names ([`crate::TagRecord`]).
    pub tag: &'a [i32],
}

/// Which columns to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a field of SampleColumns")]
pub enum Column {
    Attempt,
    Client,
    Target,
    Stage,
    OperationCode,
    OutcomeCode,
    FailureCode,
    IntendedNs,
    StartNs,
    DurationNs,
    Bytes,
    Tag,
}

impl Column {
    /// Every column of [`SampleColumns`].
    pub const ALL: &'static [Self] = &[
        Self::Attempt,
        Self::Client,
        Self::Target,
        Self::Stage,
        Self::OperationCode,
        Self::OutcomeCode,
        Self::FailureCode,
        Self::IntendedNs,
        Self::StartNs,
        Self::DurationNs,
        Self::Bytes,
        Self::Tag,
    ];

    /// The column's name in Parquet files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Attempt => "attempt",
            Self::Client => "client",
            Self::Target => "target",
            Self::Stage => "stage",
            Self::OperationCode => "operation_code",
            Self::OutcomeCode => "outcome_code",
            Self::FailureCode => "failure_code",
            Self::IntendedNs => "intended_ns",
            Self::StartNs => "start_ns",
            Self::DurationNs => "duration_ns",
            Self::Bytes => "bytes",
            Self::Tag => "tag",
        }
    }
}
