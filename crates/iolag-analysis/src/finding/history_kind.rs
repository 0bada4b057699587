//! What findings of histories are about.

use serde::{Deserialize, Serialize};

use super::basis::Basis;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A mount did not answer, or was not there.
    Outage,
    /// A level changed.
    Change,
    /// Some attempts took very long or did not end.
    Tail,
    /// Attempts failed.
    Failure,
    /// A bad time.
    Episode,
    /// The host was slow, or was not.
    HostSlow,
    /// Names of users and groups are looked up slowly.
    NameService,
    /// Where the time of a task goes: to the processor or to waiting.
    Waiting,
    /// Bad times come with events of a kind.
    Association,
    /// Two places were bad at the same time.
    BadTogether,
    /// Two series go together.
    Correlation,
    /// One series follows another.
    Lag,
    /// Two series both follow the time of day.
    SharedRhythm,
    /// No two series go together.
    NoCorrelation,
    /// A series swings with a period.
    Periodicity,
    /// A series has separated modes.
    Modes,
    /// Two places differ.
    Comparison,
    /// The configuration changed.
    Configuration,
    /// Nobody watched.
    Gap,
    /// The clock could not tell.
    Resolution,
    /// There is too little to tell.
    TooFew,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [Self; 21] = [
        Self::Outage,
        Self::Change,
        Self::Tail,
        Self::Failure,
        Self::Episode,
        Self::HostSlow,
        Self::NameService,
        Self::Waiting,
        Self::Association,
        Self::BadTogether,
        Self::Correlation,
        Self::Lag,
        Self::SharedRhythm,
        Self::NoCorrelation,
        Self::Periodicity,
        Self::Modes,
        Self::Comparison,
        Self::Configuration,
        Self::Gap,
        Self::Resolution,
        Self::TooFew,
    ];

    /// Whether it tells or concludes.
    pub const fn basis(self) -> Basis {
        match self {
            Self::Change
            | Self::HostSlow
            | Self::NameService
            | Self::Association
            | Self::BadTogether
            | Self::Correlation
            | Self::Lag
            | Self::NoCorrelation
            | Self::Periodicity
            | Self::Modes
            | Self::Comparison => Basis::Inferred,
            Self::Outage
            | Self::SharedRhythm
            | Self::Tail
            | Self::Failure
            | Self::Episode
            | Self::Waiting
            | Self::Configuration
            | Self::Gap
            | Self::Resolution
            | Self::TooFew => Basis::Observed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_listed_once_in_order() {
        assert!(FindingKind::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(FindingKind::ALL.last(), Some(&FindingKind::TooFew));
    }
}
