//! Findings about the same task in two places.

use iolag_model::SeriesKey;

use super::finding::{HistoryFinding, Saying, SayingUnit};
use super::words::names::{Names, task};
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::finding::words::factor_in_words;
use crate::history::analysis::SeriesComparison;
use crate::history::comparison::{ComparisonVerdict, ShiftEstimate};

pub(crate) fn comparison(compared: &SeriesComparison, names: &Names) -> Option<HistoryFinding> {
    let slower_second = match compared.comparison.verdict {
        ComparisonVerdict::Slower => true,
        ComparisonVerdict::Faster => false,
        _ => return None,
    };
    let (slow, fast) =
        if slower_second { (&compared.second, &compared.first) } else { (&compared.first, &compared.second) };
    let shift = compared.comparison.shift?;
    let (ratio, bound) = match shift.estimate {
        ShiftEstimate::Exactly(ratio) => (ratio, ""),
        ShiftEstimate::AtLeast(ratio) | ShiftEstimate::AtMost(ratio) => (ratio, "at least "),
        ShiftEstimate::Unknown => return None,
    };
    let ratio = if slower_second { ratio } else { 1.0 / ratio };
    // Two places are hardly ever equal: only what is felt is told.
    if ratio.is_nan() || ratio < 1.2 {
        return None;
    }
    let (slow_name, fast_name) = (names.series(slow), names.series(fast));
    let sentence =
        format!("{slow_name} takes {bound}{} times as long as {fast_name}.", factor_in_words(ratio));
    let advice =
        "The report shows both distributions; compare times in which both were watched before deciding.";
    let finding = HistoryFinding::new(FindingKind::Comparison, Severity::Note, sentence, advice);
    let other = SeriesKey { task: String::new(), ..fast.clone() };
    let together = bound.is_empty().then(|| Saying {
        pattern: format!("{{series}} take {{range}} times as long as{}", names.place(&other)),
        subjects: vec![slow.clone()],
        amounts: vec![ratio],
        unit: SayingUnit::Factor,
        detail: task(slow),
    });
    Some(finding.of([slow, fast]).sized(ratio).saying(together))
}

#[cfg(test)]
mod tests {
    use iolag_model::{Outage, Outcome, ProbeId, WallTime};

    use crate::history::made_up_series::{columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};
    use iolag_model::Random;

    #[test]
    fn a_place_that_hangs_is_not_quicker_than_one_that_answers() {
        let mut noise = Random::new(3);
        let mut usual = |milliseconds: f64| -> u64 { (milliseconds * (0.2 * noise.normal()).exp()) as u64 };
        let live = columns_of((0..80).map(|slot| (slot * 5, usual(450.0), Outcome::Ok)));
        let frozen = |hung: Option<ProbeId>, usual: &mut dyn FnMut(f64) -> u64| {
            let mut columns = columns_of((0..80).map(|slot| match slot < 30 || hung.is_none() {
                true => (slot * 5, usual(10.0), Outcome::Ok),
                false => (slot * 5, 0, Outcome::Skipped),
            }));
            columns.blocker[30..].fill(hung.unwrap_or_default());
            columns
        };
        let outage = Outage {
            kind: Default::default(),
            targets: Default::default(),
            host: series_of("/frozen", "create").key.host,
            mount: "/frozen".to_owned(),
            probe: ProbeId(99),
            begin: WallTime::from_seconds(149),
            end: None,
            ending: None,
            skipped: 50,
        };
        let mut praises = |hung: Option<ProbeId>| {
            let input = HistoryInput {
                series: vec![
                    (series_of("/live", "create"), live.clone()),
                    (series_of("/frozen", "create"), frozen(hung, &mut usual)),
                ],
                outages: hung.map(|_| outage.clone()).into_iter().collect(),
                ..HistoryInput::default()
            };
            let findings = analyse_history(&input, &HistoryOptions::default()).findings;
            let sentences: Vec<String> = findings.into_iter().map(|one| one.finding.sentence).collect();
            sentences.iter().any(|sentence| sentence.starts_with("`create` on /live takes"))
        };
        assert!(praises(None), "a quicker place is told as such");
        assert!(!praises(Some(ProbeId(99))));
    }
}
