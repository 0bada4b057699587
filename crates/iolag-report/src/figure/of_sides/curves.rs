//! How long the attempts of single runs took: a thin line for each in the colour of its side, so that the spread between runs is seen.

use iolag_analysis::compare::ComparedTable;
use iolag_analysis::figure::RunFigures;

/// The distribution of a run in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct SideCurve {
    /// Which row of the comparison, by its place.
    pub row: usize,
    /// Which side.
    pub side: usize,
    /// Which run of the side.
    pub run: usize,
    /// Durations in ns, ascending, with the share of attempts that took at most so long.
    pub share: Vec<(f64, f64)>,
    /// From where on nothing is known of what did not end.
    pub open_from_ns: Option<f64>,
}

/// The curves of a run in the rows that it is in. Its figures are of
/// [`Apart::Nothing`](iolag_analysis::figure::Apart), of a bench those of the benchmark phase.
pub fn side_curves(
    _table: &ComparedTable,
    _side: usize,
    _run: usize,
    _figures: &RunFigures,
) -> Vec<SideCurve> {
    Vec::new()
}
