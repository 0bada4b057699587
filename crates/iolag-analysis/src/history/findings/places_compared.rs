//! Findings about the same task in two places.

use crate::finding::Severity;
use crate::finding::of_histories::{HistoryFinding, HistoryFound, SlowerPlaceFound};
use crate::history::analysis::SeriesComparison;
use crate::history::comparison::{ComparisonVerdict, ShiftEstimate};

/// Two places are hardly ever equal: only what is felt is told.
const RATIO_LEAST: f64 = 1.2;

pub(crate) fn comparison(compared: &SeriesComparison) -> Option<HistoryFinding> {
    let slower_second = match compared.comparison.verdict {
        ComparisonVerdict::Slower => true,
        ComparisonVerdict::Faster => false,
        _ => return None,
    };
    let (slow, fast) =
        if slower_second { (&compared.second, &compared.first) } else { (&compared.first, &compared.second) };
    let shift = compared.comparison.shift?;
    let (ratio, is_bound) = match shift.estimate {
        ShiftEstimate::Exactly(ratio) => (ratio, false),
        ShiftEstimate::AtLeast(ratio) | ShiftEstimate::AtMost(ratio) => (ratio, true),
        ShiftEstimate::Unknown => return None,
    };
    let ratio = if slower_second { ratio } else { 1.0 / ratio };
    if ratio.is_nan() || ratio < RATIO_LEAST {
        return None;
    }
    let found = HistoryFound::SlowerPlace(SlowerPlaceFound { ratio, is_bound });
    let finding = HistoryFinding::new(found, Severity::Note).of([slow, fast]).sized(ratio);
    Some(if is_bound { finding } else { finding.saying(slow, ratio) })
}
