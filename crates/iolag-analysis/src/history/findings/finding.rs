//! A finding of a history, and of what it may be told together with others.

use iolag_model::{SeriesKey, WallSpan, WallTime};

use crate::finding::Severity;
use crate::finding::found::Found;
use crate::finding::history_kind::FindingKind;

/// Something that was judged from a history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryFinding {
    /// What was found.
    pub found: Found,
    /// How much it matters.
    pub severity: Severity,
    /// Which series it concerns; empty for a whole host or everything.
    pub series: Vec<SeriesKey>,
    /// When; absent for what concerns the whole time.
    pub span: Option<WallSpan>,
    /// Among findings of one kind and severity, the greater comes first.
    pub(crate) size: f64,
    /// What others may say of other series; absent if it is told alone.
    pub saying: Option<Saying>,
}

/// Of which series something is said that may be said of others as well, and the numbers in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Saying {
    /// The series.
    pub subjects: Vec<SeriesKey>,
    /// A number for each of them.
    pub amounts: Vec<f64>,
}

impl HistoryFinding {
    pub(crate) const fn new(found: Found, severity: Severity) -> Self {
        Self { found, severity, series: Vec::new(), span: None, size: 0.0, saying: None }
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

    /// Others may say the same of other series than `key`, with other numbers.
    pub(crate) fn saying(self, key: &SeriesKey, amount: f64) -> Self {
        Self { saying: Some(Saying { subjects: vec![key.clone()], amounts: vec![amount] }), ..self }
    }

    /// What it is about.
    pub const fn kind(&self) -> FindingKind {
        self.found.kind()
    }
}
