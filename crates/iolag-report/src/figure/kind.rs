//! Which figures there are.

use std::fmt;
use std::str::FromStr;

use super::error::FigureError;

/// Which picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FigureKind {
    /// Every attempt over time.
    TimeLine,
    /// The share of attempts that took at most so long.
    Ecdf,
    /// Counts of durations on a logarithmic axis.
    Histogram,
    /// A box per operation and run.
    Box,
    /// A box per client.
    ClientBox,
    /// Durations over time as shares.
    HeatMap,
    /// Operations per second over time.
    Rates,
    /// What each client got done.
    Fairness,
    /// Rates and durations against clients or objects.
    Sweep,
}

impl FigureKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::TimeLine,
        Self::Ecdf,
        Self::Histogram,
        Self::Box,
        Self::ClientBox,
        Self::HeatMap,
        Self::Rates,
        Self::Fairness,
        Self::Sweep,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TimeLine => "time-line",
            Self::Ecdf => "ecdf",
            Self::Histogram => "histogram",
            Self::Box => "box",
            Self::ClientBox => "client-box",
            Self::HeatMap => "heat-map",
            Self::Rates => "rates",
            Self::Fairness => "fairness",
            Self::Sweep => "sweep",
        }
    }
}

impl fmt::Display for FigureKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for FigureKind {
    type Err = FigureError;

    fn from_str(name: &str) -> Result<Self, FigureError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| FigureError::UnknownKind { name: name.to_owned() })
    }
}
