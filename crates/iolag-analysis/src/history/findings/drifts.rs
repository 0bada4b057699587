//! Findings about slow changes, which have no date, and about what a short record cannot tell from the clock.

use super::finding::HistoryFinding;
use super::words::amounts::p_in_words;
use super::words::amounts::{FELT_SECONDS, level_in_words};
use super::words::factors::{Direction, Tense};
use super::words::names::Names;
use crate::finding::history_kind::FindingKind;
use crate::finding::words::share_in_words;
use crate::finding::{EvidenceAmount, Severity};
use crate::history::analysis::HistoryAnalysis;
use crate::history::changes::change_point::ChangeShape;
use crate::history::changes::drift::{Drift, RecordEnds};
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::timed_values::Quantity;

pub(crate) fn findings_of_drifts(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let drifts = analysis.series.iter().filter_map(|of| drift(of, names));
    drifts.chain(analysis.series.iter().filter_map(|of| too_short(of, names))).collect()
}

/// A slow change: it has no date.
fn drift(of: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (key, quantity) = (&of.summary.series.key, of.summary.quantity);
    let drift = of.drift.filter(|_| key.part.is_empty())?;
    let ratio = drift.ratio.value.filter(|ratio| *ratio > 0.0)?;
    let sentence = format!(
        "{} {}: the median went from {} in its first {} to {} in its last.",
        names.series(key),
        drift_in_words(&drift, ratio, quantity),
        level_in_words(drift.median_first, drift.median_first_is, quantity),
        part_in_words(drift.ends),
        level_in_words(drift.median_last, drift.median_last_is, quantity),
    );
    let is_felt = quantity == Quantity::Duration && ratio > 1.0 && drift.median_last >= FELT_SECONDS;
    let severity = if is_felt { Severity::Warning } else { Severity::Note };
    let advice = match (quantity, ratio > 1.0) {
        (Quantity::Duration, true) => {
            "Nothing happened on one day: look for what grows, as files in a directory, users or the fill of a file system."
        }
        (Quantity::Duration, false) => {
            "Nothing happened on one day, and nothing is amiss: what became less, as files in a directory or users, may tell what it takes long for."
        }
        _ => "Nothing happened on one day.",
    };
    Some(
        HistoryFinding::new(FindingKind::Change, severity, sentence, advice)
            .of([key])
            .sized(ratio.ln().abs())
            .with("probability without a drift", p_in_words(drift.p), EvidenceAmount::Probability(drift.p)),
    )
}

const fn part_in_words(ends: RecordEnds) -> &'static str {
    match ends {
        RecordEnds::Tenths => "tenth",
        RecordEnds::Thirds => "third",
    }
}

/// As in `drifts up by 30 % over the record`, `takes 4.6 times as long in the last tenth of the record as in its first (95 %: 4.1 to 5.2)`.
fn drift_in_words(drift: &Drift, ratio: f64, quantity: Quantity) -> String {
    let is_up = ratio > 1.0;
    let factor = |ratio: f64| if is_up { ratio } else { 1.0 / ratio };
    if factor(ratio) < 2.0 {
        let direction = if is_up { "up" } else { "down" };
        return format!("drifts {direction} by {} over the record", share_in_words((ratio - 1.0).abs()));
    }
    let part = part_in_words(drift.ends);
    let direction = Direction { quantity, is_up };
    let much = direction.in_words(&drift.ratio, Tense::Present);
    let interval = direction.interval_in_words(&drift.ratio);
    format!("{much} in the last {part} of the record as in its first{interval}")
}

/// What looked like a change and is none, where something was refused for that reason. Beside a change that is told it would read as a doubt about
/// that one.
fn too_short(of: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let key = &of.summary.series.key;
    let shape = of
        .not_told
        .iter()
        .map(|one| one.shape)
        .filter(|_| key.part.is_empty() && of.changes.is_empty())
        .find_map(|shape| match shape {
            ChangeShape::TimeOfDay => Some(("time of the day", "Watch for at least four days")),
            ChangeShape::TimeOfWeek => Some(("day of the week", "Watch for some weeks")),
            _ => None,
        });
    let (clock, advice) = shape?;
    let sentence = format!(
        "The level of {} moved, but the record is too short to tell that from the {clock}.",
        names.series(key)
    );
    let advice = format!("{advice}; what comes back by the clock is a rhythm and no change.");
    Some(HistoryFinding::new(FindingKind::Change, Severity::Note, sentence, &advice).of([key]))
}

#[cfg(test)]
mod tests {
    use crate::history::made_up_series::{DAY, analysed, changes_told as told};

    #[test]
    fn a_drift_tells_its_direction_and_beyond_a_doubling_a_factor() {
        let drift = |ratio: f64| {
            let all = analysed(30 * DAY, |slot| 0.5 * ratio.powf(slot as f64 / (30 * DAY) as f64));
            let [found] = told(&all)[..] else { panic!("{:#?}", told(&all)) };
            found.finding.clone()
        };
        let slower = drift(5.0);
        let begin = "`list` on /home takes 4.3 times as long in the last tenth of the record as in its first (95 %: 3.7 to 4.8)";
        assert!(slower.sentence.starts_with(begin) && slower.advice.contains("what grows"), "{slower:?}");
        let faster = drift(0.2);
        let begin = "`list` on /home is 4.3 times as fast in the last tenth of the record as in its first (95 %: 4.0 to 4.6)";
        assert!(faster.sentence.starts_with(begin) && !faster.advice.contains("what grows"), "{faster:?}");
        let little = drift(1.4).sentence;
        assert!(little.starts_with("`list` on /home drifts up by 3"), "{little}");
    }
}
