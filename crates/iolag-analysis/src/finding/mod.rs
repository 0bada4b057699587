//! Findings of runs and of histories: what was found, in a sentence with numbers, and what to do next.

pub(crate) mod basis;
pub(crate) mod found;
pub(crate) mod history_kind;
pub(crate) mod run_kind;
pub(crate) mod words;

use std::fmt;

use iolag_model::{Nanoseconds, Operation};
use serde::{Deserialize, Serialize};

use crate::statistics::quantile::censored::QuantileValue;
use run_kind::RunFindingKind;
use words::duration_in_words;

/// Something that was judged from summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is about.
    pub kind: RunFindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in plain words with numbers.
    pub sentence: String,
    /// What to do next.
    pub advice: String,
    /// The numbers that it rests on.
    pub evidence: Vec<Evidence>,
    /// In which stages it was found, if in several: the sentence has their number and names the worst.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// The operations whose durations it rests on. It is in no file.
    #[serde(skip)]
    pub(crate) durations_of: Vec<Operation>,
    /// How bad it is among its like, in millionths; 0 if that is not known. It is in no file.
    #[serde(skip)]
    pub(crate) weight: u64,
}

/// How much a finding matters; the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// People cannot work, or the numbers cannot be used.
    Serious,
    /// People notice, or the numbers need care.
    Warning,
    /// Good to know.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Serious => "serious",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// A number that a finding rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What it is, for example `median of ls -l`.
    pub name: String,
    /// Its value with unit.
    pub value: String,
    /// The same as a number, for programs; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<EvidenceAmount>,
}

/// A number of evidence with what it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceAmount {
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
}

impl Evidence {
    /// `value` is `amount` as people read it.
    pub fn new(name: impl Into<String>, value: impl Into<String>, amount: impl Into<EvidenceAmount>) -> Self {
        Self { name: name.into(), value: value.into(), amount: Some(amount.into()) }
    }
}

impl From<Nanoseconds> for EvidenceAmount {
    fn from(duration: Nanoseconds) -> Self {
        Self::DurationNs(duration)
    }
}

impl EvidenceAmount {
    const fn of(value: QuantileValue) -> Option<Self> {
        match value {
            QuantileValue::Exactly(duration) => Some(Self::DurationNs(duration)),
            QuantileValue::AtLeast(duration) => Some(Self::AtLeastNs(duration)),
            QuantileValue::Below(_) | QuantileValue::TooFew { .. } | QuantileValue::FewStretches { .. } => {
                None
            }
        }
    }
}

impl Finding {
    pub(crate) fn new(
        kind: RunFindingKind,
        severity: Severity,
        sentence: String,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            severity,
            sentence,
            advice: advice.into(),
            evidence: Vec::new(),
            places: Vec::new(),
            durations_of: Vec::new(),
            weight: 0,
        }
    }

    /// As bad as this among its like.
    pub(crate) fn weighing(self, weight: f64) -> Self {
        Self { weight: (weight * 1e6) as u64, ..self }
    }

    /// `value` is `amount` as people read it.
    pub(crate) fn with(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
        amount: impl Into<EvidenceAmount>,
    ) -> Self {
        self.evidence.push(Evidence::new(name, value, amount));
        self
    }

    /// `what` of the durations of an operation is `value`.
    pub(crate) fn with_duration(mut self, what: &str, operation: Operation, value: QuantileValue) -> Self {
        self.durations_of.push(operation);
        self.evidence.push(Evidence {
            name: format!("{what} {operation}"),
            value: duration_in_words(value),
            amount: EvidenceAmount::of(value),
        });
        self
    }
}
