//! What findings of histories are about.

use serde::{Deserialize, Serialize};

use super::basis::Basis;

macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident: $basis:ident,)*) => {
        /// What a finding is about: what stops people from working first, what concerns the measurement last.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum FindingKind {
            $($(#[$about])* $kind,)*
        }

        impl FindingKind {
            /// All kinds, in their order.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Whether it tells or concludes.
            pub const fn basis(self) -> Basis {
                match self { $(Self::$kind => Basis::$basis,)* }
            }
        }
    };
}

kinds! {
    /// A mount did not answer, or was not there.
    Outage: Observed,
    /// A level changed.
    Change: Inferred,
    /// Some attempts took very long or did not end.
    Tail: Observed,
    /// Attempts failed.
    Failure: Observed,
    /// A bad time.
    Episode: Observed,
    /// The host was slow, or was not.
    HostSlow: Inferred,
    /// Names of users and groups are looked up slowly.
    NameService: Inferred,
    /// Where the time of a task goes: to the processor or to waiting.
    Waiting: Observed,
    /// Bad times come with events of a kind.
    Association: Inferred,
    /// Two places were bad at the same time.
    BadTogether: Inferred,
    /// Two series go together.
    Correlation: Inferred,
    /// One series follows another.
    Lag: Inferred,
    /// Two series both follow the time of day.
    SharedRhythm: Observed,
    /// No two series go together.
    NoCorrelation: Inferred,
    /// A series swings with a period.
    Periodicity: Inferred,
    /// A series has separated modes.
    Modes: Inferred,
    /// Two places differ.
    Comparison: Inferred,
    /// The configuration changed.
    Configuration: Observed,
    /// Nobody watched.
    Gap: Observed,
    /// The clock could not tell.
    Resolution: Observed,
    /// There is too little to tell.
    TooFew: Observed,
}
