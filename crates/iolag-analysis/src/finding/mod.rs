//! Findings of runs and of histories: what was found, with its values, how much it matters, and where and when it was. iolag-report makes words of it.

pub(crate) mod basis;
pub(crate) mod of_histories;
pub(crate) mod of_runs;
pub(crate) mod slow_level;
mod table;
pub(crate) mod words;

use std::fmt;

use iolag_model::{ErrorClass, Operation, SeriesKey, WallSpan, WallTime};
use serde::{Deserialize, Serialize};

/// Something that was judged from a run, or from a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding<F> {
    /// What was found, with its values.
    pub found: F,
    /// How much it matters.
    pub severity: Severity,
    /// Which series of a history it concerns; empty for a whole host or everything.
    pub series: Vec<SeriesKey>,
    /// When; absent for what concerns the whole time.
    pub span: Option<WallSpan>,
    /// In which stages of a run it was found, if in single ones.
    pub stages: Option<FoundInStages>,
    /// In which target it was found, or in which two, if a run has several that its stages do not tell apart.
    pub place: Option<String>,
    /// Other operations of which the same was found, less gravely.
    pub also: Vec<Operation>,
    /// What only failed because of this.
    pub led_to: Vec<FollowedFailure>,
    /// How bad it is among its like: the greater comes first.
    pub(crate) size: f64,
    /// What others may say of other series; absent if it is told alone.
    pub saying: Option<Saying>,
}

/// What may be found.
pub trait WasFound {
    /// What it may be about.
    type Kind: Copy + Ord;

    /// What it is about.
    fn kind(&self) -> Self::Kind;
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

/// The stages in which something was found, by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundInStages {
    /// The one in which it is worst: the values are of that one.
    pub worst: String,
    /// All of them, in their order.
    pub all: Vec<String>,
    /// How many of which they are: `250 of 300 iterations`.
    pub share: String,
}

/// Attempts that failed because others had failed or not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowedFailure {
    /// What was attempted.
    pub operation: Operation,
    /// How it failed.
    pub class: ErrorClass,
    /// How often.
    pub count: u64,
}

/// Of which series something is said that may be said of others as well, and the numbers in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Saying {
    /// The series.
    pub subjects: Vec<SeriesKey>,
    /// A number for each of them.
    pub amounts: Vec<f64>,
}

impl<F: WasFound> Finding<F> {
    pub(crate) const fn new(found: F, severity: Severity) -> Self {
        Self {
            found,
            severity,
            series: Vec::new(),
            span: None,
            stages: None,
            place: None,
            also: Vec::new(),
            led_to: Vec::new(),
            size: 0.0,
            saying: None,
        }
    }

    pub(crate) fn of<'a>(mut self, series: impl IntoIterator<Item = &'a SeriesKey>) -> Self {
        self.series.extend(series.into_iter().cloned());
        self
    }

    pub(crate) fn during(mut self, begin: WallTime, end: WallTime) -> Self {
        self.span = Some(WallSpan { begin, end });
        self
    }

    /// As bad as this among its like.
    pub(crate) fn sized(mut self, size: f64) -> Self {
        self.size = size;
        self
    }

    /// Others may say the same of other series than `key`, with other numbers.
    pub(crate) fn saying(self, key: &SeriesKey, amount: f64) -> Self {
        Self { saying: Some(Saying { subjects: vec![key.clone()], amounts: vec![amount] }), ..self }
    }

    /// What it is about.
    pub fn kind(&self) -> F::Kind {
        self.found.kind()
    }
}
