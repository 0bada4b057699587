//! Findings about what bad times have in common: places that were bad together, events that come with them, the host's share.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use iolag_model::{SeriesKey, SeriesKind};

use crate::finding::Severity;
use crate::finding::of_histories::{
    AssociationFound, BadTogetherFound, HistoryFinding, HistoryFound, HostSlowFound,
};
use crate::history::analysis::HistoryAnalysis;
use crate::history::episodes::bad_overlap::BadOverlap;
use crate::history::series::summary::SeriesSummary;
use crate::statistics::multiple_testing::SIGNIFICANCE;
use crate::statistics::rhythm::profile::{DAY_SECONDS, DAYS_LEAST};

/// Places that are told one by one.
const TOLD_MOST: usize = 6;

pub(crate) fn findings_of_bad_times_together(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let mut findings = bad_together(analysis);
    findings.extend(associations(analysis));
    findings.extend(host_slow(analysis));
    findings
}

fn bad_together(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let hosts: BTreeSet<&str> =
        analysis.bad_overlaps.iter().flat_map(|one| [one.first.host.as_str(), &one.second.host]).collect();
    let mut told: Vec<&BadOverlap> =
        analysis.bad_overlaps.iter().filter(|one| one.p_adjusted <= SIGNIFICANCE).collect();
    told.sort_by_key(|one| Reverse(one.both_ns));
    let finding = |one: &&BadOverlap| {
        let found = HistoryFound::BadTogether(BadTogetherFound {
            overlap: (*one).clone(),
            has_several_hosts: hosts.len() > 1,
            is_record_short: is_record_short(analysis),
        });
        HistoryFinding::new(found, Severity::Warning).sized(one.both_ns.as_seconds())
    };
    told.iter().take(TOLD_MOST).map(finding).collect()
}

/// Whether there are too few days to know the hours of the day.
fn is_record_short(analysis: &HistoryAnalysis) -> bool {
    let covered = analysis.begin.zip(analysis.end).map(|(begin, end)| end.since(begin).as_seconds());
    covered.is_none_or(|covered| covered < DAYS_LEAST * DAY_SECONDS)
}

fn associations(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let told =
        analysis.associations.iter().filter(|one| one.p_adjusted <= SIGNIFICANCE && one.events_near > 0);
    told.map(|one| {
        let found = HistoryFound::Association(AssociationFound {
            association: one.clone(),
            is_record_short: is_record_short(analysis),
        });
        HistoryFinding::new(found, Severity::Warning).sized(one.rate.unwrap_or(f64::INFINITY))
    })
    .collect()
}

/// Bad times that the control on the host's memory shares are the host's, not the storage's.
fn host_slow(analysis: &HistoryAnalysis) -> Option<HistoryFinding> {
    let controls: Vec<&SeriesSummary> = analysis
        .series
        .iter()
        .map(|one| &one.summary)
        .filter(|summary| summary.series.kind == SeriesKind::Control)
        .collect();
    let is_control = |key: &SeriesKey| controls.iter().any(|control| control.series.key == *key);
    let of_storage: Vec<_> = analysis
        .episodes
        .iter()
        .filter(|episode| {
            let was_measured = |control: &&SeriesSummary| {
                control.series.key.host == episode.host
                    && control.first <= Some(episode.begin)
                    && Some(episode.end) <= control.last
            };
            controls.iter().any(was_measured) && episode.series.iter().any(|one| !is_control(&one.series))
        })
        .collect();
    let shared =
        of_storage.iter().filter(|episode| episode.series.iter().any(|one| is_control(&one.series))).count();
    let of = of_storage.len();
    let severity = match shared {
        _ if of < 3 => return None,
        0 => Severity::Note,
        _ if shared * 3 >= of => Severity::Warning,
        _ => return None,
    };
    let finding = HistoryFinding::new(HistoryFound::HostSlow(HostSlowFound { shared, of }), severity);
    Some(finding.of(controls.iter().map(|control| &control.series.key)).sized(shared as f64))
}
