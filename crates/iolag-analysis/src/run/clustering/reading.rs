//! One attempt of a second reading.

use iolag_model::{FailureCode, Nanoseconds, Outcome, SampleColumns};

/// One attempt that has a duration.
pub(crate) struct Reading {
    /// Absent where starts are not known: the order of arrival.
    pub(crate) start_ns: Option<i64>,
    /// As recorded.
    pub(crate) duration: Nanoseconds,
    /// What had not ended is longer than anything.
    pub(crate) has_ended: bool,
}

impl Reading {
    pub(crate) fn of(columns: &SampleColumns<'_>, row: usize) -> Option<Self> {
        let code = u8::try_from(columns.outcome_code[row]).ok()?;
        let outcome = Outcome::try_from(code).ok()?;
        if matches!(outcome, Outcome::Error | Outcome::Retried) {
            return None;
        }
        let failure = FailureCode(columns.failure_code.get(row).copied().unwrap_or_default() as u16);
        if outcome.is_censored() && !outcome.is_lower_bound(failure) {
            return None;
        }
        Some(Self {
            start_ns: columns.start_ns.get(row).copied(),
            duration: Nanoseconds(columns.duration_ns[row].max(0) as u64),
            has_ended: !outcome.is_censored(),
        })
    }
}
