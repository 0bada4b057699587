//! Metrics before they have a form: families of samples with labels, the same for text and protobuf.

use iolag_analysis::history::DurationTally;

/// What a family's numbers mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FamilyKind {
    /// A count that never falls.
    Counter,
    /// A number of the moment.
    Gauge,
    /// Counted durations.
    Histogram,
    /// Facts as labels; the number is 1.
    Info,
}

/// The samples of one name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Family<'a> {
    /// Without the suffixes `_total` and `_info`.
    pub name: &'static str,
    pub kind: FamilyKind,
    pub help: &'static str,
    pub samples: Vec<Sample<'a>>,
}

/// Names and values that tell one sample of a family from another.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Labels(pub Vec<(&'static str, String)>);

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample<'a> {
    pub labels: Labels,
    pub value: SampleValue<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SampleValue<'a> {
    Number(f64),
    Count(u64),
    Durations(Durations<'a>),
}

/// A histogram: coarse buckets as they are shown, and the tally for all the rest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Durations<'a> {
    /// Upper bound in ns, and how many are not above it.
    pub coarse: Vec<(u64, u64)>,
    pub tally: &'a DurationTally,
}

impl<'a> Family<'a> {
    pub const fn new(name: &'static str, kind: FamilyKind, help: &'static str) -> Self {
        Self { name, kind, help, samples: Vec::new() }
    }

    pub fn number(mut self, labels: &Labels, value: Option<f64>) -> Self {
        let value = value.map(SampleValue::Number);
        self.samples.extend(value.map(|value| Sample { labels: labels.clone(), value }));
        self
    }

    pub fn push(&mut self, labels: Labels, value: SampleValue<'a>) {
        self.samples.push(Sample { labels, value });
    }

    /// The unit that the name ends with.
    pub fn unit(&self) -> Option<&'static str> {
        self.name.ends_with("_seconds").then_some("seconds")
    }

    /// The name where there are no families, but samples.
    pub fn sample_name(&self) -> String {
        let suffix = match self.kind {
            FamilyKind::Counter => "_total",
            FamilyKind::Info => "_info",
            FamilyKind::Gauge | FamilyKind::Histogram => "",
        };
        format!("{}{suffix}", self.name)
    }
}

impl Labels {
    /// One label more. Control characters have no place in labels and become U+FFFD; line ends stay, the forms escape them.
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        let clean = |character: char| match character {
            '\n' => '\n',
            _ if character.is_control() => char::REPLACEMENT_CHARACTER,
            _ => character,
        };
        self.0.push((name, value.chars().map(clean).collect()));
        self
    }
}

/// Nanoseconds as seconds.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
