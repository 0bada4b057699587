//! What findings of runs are about.

use super::basis::Basis;
use serde::{Deserialize, Serialize};

/// What a finding of a run is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunFindingKind {
    /// A directory does not answer.
    NotAnswering,
    /// Not everything could be measured.
    MeasuredInPart,
    /// Attempts did not end.
    NotEnded,
    /// Attempts took longer than anybody is patient.
    Slow,
    /// The same of rows with few attempts.
    FewButLong,
    /// Attempts failed.
    Failed,
    /// Attempts are either fast or slow.
    TwoModes,
    /// Names of users and groups are looked up slowly.
    NamesLookedUp,
    /// Writing safely takes much longer than writing.
    DurableSlow,
    /// Closing a written file takes much longer than writing it.
    CloseSlow,
    /// Creating takes much longer than asking for attributes.
    CreateSlow,
    /// Removing takes much longer than creating.
    RemoveSlow,
    /// Somebody else removed objects, or the file system lost them.
    ObjectsGone,
    /// Another number of objects was created than deleted.
    WorkingSetChanged,
    /// Operations failed because earlier ones did not end.
    LeftOut,
    /// Clients were done at different times.
    Unequal,
    /// Iterations differ.
    RepetitionsDiffer,
    /// It got slower or faster while it was measured.
    Unsteady,
    /// The load reached the number of processors.
    ProcessorsBusy,
    /// Clients did not start together.
    LateStart,
    /// Stages were short.
    ShortStages,
    /// The run was stopped in a stage.
    CutOff,
    /// Clients waited for room in the recording rings.
    RingWaits,
    /// Probes went lost.
    ProbesLost,
    /// Probes were not sent.
    ProbesNotSent,
}

impl RunFindingKind {
    /// All kinds.
    pub const ALL: [Self; 25] = [
        Self::NotAnswering,
        Self::MeasuredInPart,
        Self::NotEnded,
        Self::Slow,
        Self::FewButLong,
        Self::Failed,
        Self::TwoModes,
        Self::NamesLookedUp,
        Self::DurableSlow,
        Self::CloseSlow,
        Self::CreateSlow,
        Self::RemoveSlow,
        Self::ObjectsGone,
        Self::WorkingSetChanged,
        Self::LeftOut,
        Self::Unequal,
        Self::RepetitionsDiffer,
        Self::Unsteady,
        Self::ProcessorsBusy,
        Self::LateStart,
        Self::ShortStages,
        Self::CutOff,
        Self::RingWaits,
        Self::ProbesLost,
        Self::ProbesNotSent,
    ];

    /// Whether it tells or concludes. What compares two medians of the run and tells both is observed.
    pub const fn basis(self) -> Basis {
        match self {
            Self::TwoModes | Self::NamesLookedUp | Self::RepetitionsDiffer | Self::Unsteady => {
                Basis::Inferred
            }
            Self::NotAnswering
            | Self::MeasuredInPart
            | Self::NotEnded
            | Self::Slow
            | Self::FewButLong
            | Self::Failed
            | Self::DurableSlow
            | Self::CloseSlow
            | Self::CreateSlow
            | Self::RemoveSlow
            | Self::ObjectsGone
            | Self::WorkingSetChanged
            | Self::LeftOut
            | Self::Unequal
            | Self::ProcessorsBusy
            | Self::LateStart
            | Self::ShortStages
            | Self::CutOff
            | Self::RingWaits
            | Self::ProbesLost
            | Self::ProbesNotSent => Basis::Observed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_listed_once_in_order() {
        assert!(RunFindingKind::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(RunFindingKind::ALL.last(), Some(&RunFindingKind::ProbesNotSent));
    }
}
