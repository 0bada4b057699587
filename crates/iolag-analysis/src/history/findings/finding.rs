//! A finding of a history, and what it says that others may say of other series.

use crate::finding::history_kind::FindingKind;
use crate::finding::words::{factor_in_words, share_in_words};
use iolag_model::{SeriesKey, WallSpan, WallTime};
use serde::{Deserialize, Serialize};

use crate::finding::{EvidenceAmount, Finding, Severity};

/// Something that was judged from a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryFinding {
    /// Kind, severity, sentence, advice and evidence.
    #[serde(flatten)]
    pub finding: Finding<FindingKind>,
    /// Which series it concerns; empty for a whole host or everything.
    pub series: Vec<SeriesKey>,
    /// When; absent for what concerns the whole time.
    pub span: Option<WallSpan>,
    /// Among findings of one kind and severity, the greater comes first.
    #[serde(skip)]
    pub size: f64,
    /// What it says that others may say of other series.
    #[serde(skip)]
    pub(crate) saying: Option<Saying>,
}

impl HistoryFinding {
    pub(crate) fn new(
        kind: FindingKind,
        severity: Severity,
        sentence: String,
        advice: impl Into<String>,
    ) -> Self {
        let finding = Finding::new(kind, severity, sentence, advice);
        Self { finding, series: Vec::new(), span: None, size: 0.0, saying: None }
    }

    pub(crate) fn of<'a>(mut self, series: impl IntoIterator<Item = &'a SeriesKey>) -> Self {
        self.series.extend(series.into_iter().cloned());
        self
    }

    pub(crate) fn during(mut self, begin: WallTime, end: WallTime) -> Self {
        self.span = Some(WallSpan { begin, end });
        self
    }

    pub(crate) fn sized(mut self, size: f64) -> Self {
        self.size = size;
        self
    }

    pub(crate) fn saying(mut self, saying: Option<Saying>) -> Self {
        self.saying = saying;
        self
    }

    pub(crate) fn with(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
        amount: EvidenceAmount,
    ) -> Self {
        self.finding = self.finding.with(name, value, amount);
        self
    }
}

/// What a finding says that can be said of several series at once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Saying {
    /// Equal for findings that say the same. `{series}`, `{range}`, `{since}` and `{span}` stand for what differs; without a full stop.
    pub pattern: String,
    /// Of which series it is said.
    pub subjects: Vec<SeriesKey>,
    /// The numbers in it, one for each subject; empty if there is none.
    pub amounts: Vec<f64>,
    /// What the numbers are.
    pub unit: SayingUnit,
    /// What is told of the greatest, as in `` `list`: the longest 63 s ``.
    pub detail: String,
}

/// What the numbers of a saying are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SayingUnit {
    /// How many times.
    Factor,
    /// A part of the whole.
    Share,
    /// How much is left of what was: the less, the more it is.
    Rest,
}

impl Saying {
    pub(crate) fn greatest(&self) -> f64 {
        let size = |amount: &f64| if self.unit == SayingUnit::Rest { -amount } else { *amount };
        self.amounts.iter().map(size).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl SayingUnit {
    pub(crate) fn in_words(self, amount: f64) -> String {
        match self {
            Self::Factor => factor_in_words(amount),
            Self::Share | Self::Rest => share_in_words(amount),
        }
    }
}

/// What a finding about `key` says together with those of other series.
pub(crate) fn saying(
    key: &SeriesKey,
    pattern: String,
    amount: f64,
    unit: SayingUnit,
    detail: String,
) -> Saying {
    Saying { pattern, subjects: vec![key.clone()], amounts: vec![amount], unit, detail }
}
