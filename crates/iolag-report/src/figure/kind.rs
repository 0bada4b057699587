//! Which figures there are: the one list, which the command line, its help and its errors follow.

use std::fmt;
use std::str::FromStr;

use super::error::FigureError;

/// Which figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FigureKind {
    /// Every attempt over time.
    TimeLine,
    /// The share of attempts that took at most so long.
    Ecdf,
    /// The same before and after the change that an event stands next to.
    BeforeAfter,
    /// Counts of durations on a logarithmic axis.
    Histogram,
    /// A box per operation and run, or per series.
    Box,
    /// A box per client.
    ClientBox,
    /// Durations over time as shares, or of the hours of each day.
    HeatMap,
    /// Operations per second over time.
    Rates,
    /// What each client got done.
    Fairness,
    /// Rates and durations against clients or objects.
    Sweep,
    /// Jobs per hour against copies.
    Jobs,
    /// Means of each day, up to a limit, a line for each configuration.
    MeanByDay,
    /// Medians of each day.
    MedianByDay,
    /// Shares of each day that passed the deadline.
    TimeoutsByDay,
    /// How any two series go together.
    Correlations,
    /// Other sides in percent of the first, with their intervals.
    Compare,
}

/// What a figure is drawn of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FigureSource {
    /// Stored runs.
    Runs,
    /// A history.
    History,
    /// Sides that are compared.
    Sides,
}

use FigureSource::{History, Runs, Sides};

/// Every kind in the order of the documentation, its name on the command line, and what it can be drawn of.
const LIST: [(FigureKind, &str, &[FigureSource]); 16] = [
    (FigureKind::TimeLine, "time-line", &[Runs, History]),
    (FigureKind::Ecdf, "ecdf", &[Runs, History]),
    (FigureKind::BeforeAfter, "before-after", &[History]),
    (FigureKind::Histogram, "histogram", &[Runs]),
    (FigureKind::Box, "box", &[Runs, History]),
    (FigureKind::ClientBox, "client-box", &[Runs]),
    (FigureKind::HeatMap, "heat-map", &[Runs, History]),
    (FigureKind::Rates, "rates", &[Runs]),
    (FigureKind::Fairness, "fairness", &[Runs]),
    (FigureKind::Sweep, "sweep", &[Runs]),
    (FigureKind::Jobs, "jobs", &[Runs]),
    (FigureKind::MeanByDay, "mean-by-day", &[History]),
    (FigureKind::MedianByDay, "median-by-day", &[History]),
    (FigureKind::TimeoutsByDay, "timeouts-by-day", &[History]),
    (FigureKind::Correlations, "correlations", &[History]),
    (FigureKind::Compare, "compare", &[Sides]),
];

impl FigureKind {
    /// The kinds that can be drawn of a source, in the order of the documentation.
    pub fn of(source: FigureSource) -> impl Iterator<Item = Self> {
        LIST.into_iter().filter(move |(_, _, sources)| sources.contains(&source)).map(|(kind, ..)| kind)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        LIST.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// Refuses a kind that a source does not have.
    ///
    /// # Errors
    /// One sentence that names those that it has.
    pub fn check(self, source: FigureSource) -> Result<(), FigureError> {
        if Self::of(source).any(|kind| kind == self) {
            return Ok(());
        }
        let known = names(Self::of(source).map(Self::name));
        Err(FigureError::KindOfOther { name: self.name(), of: source.to_string(), known })
    }

    /// Which kinds there are of what, for help.
    pub fn list_in_words() -> String {
        let of = |source| FigureKind::of(source).map(Self::name).collect::<Vec<_>>().join(", ");
        format!("Of runs: {}; of a history: {}; of sides: {}", of(Runs), of(History), of(Sides))
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
        let found = LIST.into_iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| kind);
        let known = || names(LIST.into_iter().map(|(_, known, _)| known));
        found.ok_or_else(|| FigureError::UnknownKind { name: name.to_owned(), known: known() })
    }
}

impl fmt::Display for FigureSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Runs => "runs",
            History => "a history",
            Sides => "sides",
        })
    }
}

/// As in `a, b or c`.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_name_that_means_it() {
        for (kind, name, sources) in LIST {
            assert_eq!((name.parse(), kind.name()), (Ok(kind), name));
            assert!(!sources.is_empty());
        }
    }

    #[test]
    fn a_kind_that_a_source_lacks_is_told_with_those_it_has() {
        assert_eq!(FigureKind::Ecdf.check(History), Ok(()));
        assert_eq!(
            FigureKind::Sweep.check(History).unwrap_err().to_string(),
            "there is no figure \"sweep\" of a history: choose time-line, ecdf, before-after, box, heat-map, mean-by-day, median-by-day, timeouts-by-day or correlations"
        );
        let refused = FigureKind::BeforeAfter.check(Runs).unwrap_err().to_string();
        assert!(
            refused.starts_with(
                "there is no figure \"before-after\" of runs: choose time-line, ecdf, histogram"
            ),
            "{refused}"
        );
        let unknown = "pie".parse::<FigureKind>().unwrap_err().to_string();
        assert!(
            unknown.contains("\"pie\" is no kind of figure: choose time-line")
                && unknown.ends_with(" or compare")
        );
    }
}
