//! What can be found in a history: one table of what is found, and of which kind that is.
//!
//! What was found is numbers, moments and names. Words are made of it in iolag-report.

use super::history_kind::FindingKind;
use crate::history::findings::bad_times::{EpisodeFound, OutageFound, OutagesLeftOut};
use crate::history::findings::bad_together::{AssociationFound, BadTogetherFound, HostSlowFound};
use crate::history::findings::changes::LevelFound;
use crate::history::findings::correlations::{
    CorrelationFound, LagFound, NoCorrelationFound, SharedRhythmFound,
};
use crate::history::findings::drifts::{DriftFound, RecordTooShort};
use crate::history::findings::endings::{FailedFound, PastDeadlineFound};
use crate::history::findings::places_compared::SlowerPlaceFound;
use crate::history::findings::processor_time::WaitingFound;
use crate::history::findings::record::{ConfigurationFound, GapFound};
use crate::history::findings::single_series::{
    BelowResolutionFound, ModesFound, NameServiceFound, PeriodFound, TooFewFound,
};
use crate::history::findings::tails::SlowFound;

/// Makes the enum, its kinds, and `whatever_found!`, which does the same with whatever was found.
macro_rules! findings {
    ($dollar:tt $($variant:ident($held:ident): $kind:ident,)*) => {
        /// What was found in a history.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Found {
            $(#[doc = concat!("See [`", stringify!($held), "`].")] $variant($held),)*
        }

        impl Found {
            /// What it is about.
            pub const fn kind(&self) -> FindingKind {
                match self { $(Self::$variant(_) => FindingKind::$kind,)* }
            }
        }

        /// `whatever_found!(found, it => expression)`: the expression of what was found, whatever it is.
        #[macro_export]
        macro_rules! whatever_found {
            ($dollar found:expr, $dollar it:ident => $dollar told:expr) => {
                match $dollar found { $($crate::history::Found::$variant($dollar it) => $dollar told,)* }
            };
        }
    };
}

findings! { $
    Outage(OutageFound): Outage,
    OutagesLeftOut(OutagesLeftOut): Outage,
    Level(LevelFound): Change,
    Drift(DriftFound): Change,
    RecordTooShort(RecordTooShort): Change,
    Slow(SlowFound): Tail,
    PastDeadline(PastDeadlineFound): Tail,
    Failed(FailedFound): Failure,
    Episode(EpisodeFound): Episode,
    HostSlow(HostSlowFound): HostSlow,
    NameService(NameServiceFound): NameService,
    Waiting(WaitingFound): Waiting,
    Association(AssociationFound): Association,
    BadTogether(BadTogetherFound): BadTogether,
    Correlation(CorrelationFound): Correlation,
    Lag(LagFound): Lag,
    SharedRhythm(SharedRhythmFound): SharedRhythm,
    NoCorrelation(NoCorrelationFound): NoCorrelation,
    Period(PeriodFound): Periodicity,
    Modes(ModesFound): Modes,
    SlowerPlace(SlowerPlaceFound): Comparison,
    Configuration(ConfigurationFound): Configuration,
    Gap(GapFound): Gap,
    BelowResolution(BelowResolutionFound): Resolution,
    TooFew(TooFewFound): TooFew,
}
