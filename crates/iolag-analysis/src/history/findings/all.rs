//! What a history means: what was found, with its numbers.
//!
//! Findings are ordered by severity, then by kind (what stops people from working first, what concerns the measurement last), then by
//! size.

use super::bad_times::findings_of_bad_times;
use super::bad_together::findings_of_bad_times_together;
use super::changes::findings_of_changes;
use super::correlations::findings_of_correlations;
use super::host_attributes::host_attribute;
use super::places_compared::comparison;
use super::processor_time::findings_of_processor_time;
use super::record::findings_of_record;
use super::single_series::findings_of_series;
use crate::finding::of_histories::HistoryFinding;
use crate::history::analysis::HistoryAnalysis;

/// All findings, most important first.
pub(crate) fn findings_of(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let mut findings = findings_of_bad_times(analysis);
    findings.extend(findings_of_changes(analysis));
    findings.extend(findings_of_record(analysis));
    findings.extend(findings_of_series(analysis));
    findings.extend(findings_of_processor_time(analysis));
    findings.extend(findings_of_correlations(analysis));
    findings.extend(findings_of_bad_times_together(analysis));
    findings.extend(analysis.comparisons.iter().filter_map(comparison));
    findings.extend(analysis.host_rankings.iter().filter_map(host_attribute));
    findings.sort_by(|one, other| {
        let place = |one: &HistoryFinding| (one.severity, one.kind());
        place(one).cmp(&place(other)).then(other.size.total_cmp(&one.size))
    });
    findings
}
