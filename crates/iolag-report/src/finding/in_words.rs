//! A finding with its sentence, its advice and its evidence.

use std::borrow::Cow;

use iolag_analysis::{Finding, QuantileValue, Severity, WasFound, duration_in_words};
use iolag_model::{Nanoseconds, Operation, SeriesKey, WallSpan, format_bytes};
use serde::Serialize;

use crate::words::names::Names;

/// A finding as it is told, and as it stands in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FindingInWords<K> {
    /// What it is about.
    pub(crate) kind: K,
    /// How much it matters.
    pub(crate) severity: Severity,
    /// What was found, in plain words with numbers.
    pub(crate) sentence: String,
    /// What to do next.
    pub(crate) advice: String,
    /// The numbers that it rests on.
    pub(crate) evidence: Vec<Evidence>,
    /// In which stages it was found, if in several: the sentence has their number and names the worst.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) places: Vec<String>,
}

/// What the words of a finding need besides what was found.
pub(super) struct About<'a> {
    /// Which series it concerns; empty for a whole host, and of runs.
    pub(super) series: &'a [SeriesKey],
    /// When; absent for what concerns the whole time.
    pub(super) span: Option<WallSpan>,
    /// How series are called.
    pub(super) names: &'a Names,
}

impl About<'_> {
    /// As in `` `list` on /home ``, or several in a row.
    pub(super) fn list(&self) -> String {
        self.names.list(self.series)
    }
}

/// What has words.
pub(super) trait InWords {
    /// What was found, in plain words with numbers.
    fn sentence(&self, about: &About<'_>) -> String;

    /// What to do next.
    fn advice(&self) -> Cow<'static, str>;

    /// The numbers that it rests on, where they are not in the analysis beside it.
    fn evidence(&self) -> Vec<Evidence> {
        Vec::new()
    }
}

impl<K> FindingInWords<K> {
    /// The words of `found`, which is what was found of `finding`.
    pub(super) fn new<F: WasFound<Kind = K>>(
        finding: &Finding<F>,
        found: &dyn InWords,
        names: &Names,
    ) -> Self {
        let about = About { series: &finding.series, span: finding.span, names };
        Self {
            kind: finding.kind(),
            severity: finding.severity,
            sentence: found.sentence(&about),
            advice: found.advice().into_owned(),
            evidence: found.evidence(),
            places: Vec::new(),
        }
    }
}

/// A number that a finding rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Evidence {
    /// What it is, for example `median of ls -l`.
    name: String,
    /// Its value with unit.
    value: String,
    /// The same as a number, for programs; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<EvidenceAmount>,
}

/// A number of evidence with what it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EvidenceAmount {
    /// A duration, in ns.
    DurationNs(Nanoseconds),
    /// A duration of which this much is known, in ns.
    AtLeastNs(Nanoseconds),
    /// A share, 0 to 1.
    Share(f64),
    /// How many times as much.
    Factor(f64),
    /// A probability.
    Probability(f64),
    /// A load average.
    Load(f64),
    /// An amount of memory, in bytes.
    Bytes(u64),
}

impl Evidence {
    /// `value` is `amount` as people read it.
    pub(super) fn new(name: &str, value: String, amount: EvidenceAmount) -> Self {
        Self { name: name.to_owned(), value, amount: Some(amount) }
    }

    /// `what` is a duration.
    pub(super) fn duration(what: &str, duration: Nanoseconds) -> Self {
        Self::new(what, duration.to_string(), EvidenceAmount::DurationNs(duration))
    }

    /// `what` is an amount of memory.
    pub(super) fn memory(what: String, bytes: u64) -> Self {
        Self { name: what, value: format_bytes(bytes), amount: Some(EvidenceAmount::Bytes(bytes)) }
    }

    /// `what` of the durations of an operation is `value`.
    pub(super) fn of_operation(what: &str, (operation, value): (Operation, QuantileValue)) -> Self {
        let amount = match value {
            QuantileValue::Exactly(duration) => Some(EvidenceAmount::DurationNs(duration)),
            QuantileValue::AtLeast(duration) => Some(EvidenceAmount::AtLeastNs(duration)),
            QuantileValue::Below(_) | QuantileValue::TooFew { .. } | QuantileValue::FewStretches { .. } => {
                None
            }
        };
        Self { name: format!("{what} {operation}"), value: duration_in_words(value), amount }
    }
}
