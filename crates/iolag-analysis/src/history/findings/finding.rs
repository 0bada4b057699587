//! What a history means: one sentence for each finding, with its numbers and what to do next.
//!
//! Findings are ordered by severity, then by kind (what stops people from working first, what concerns the measurement last), then by
//! size. Sentences name series without their host unless there are several hosts; moments are UTC.

use crate::finding::history_kind::FindingKind;
use iolag_model::{SeriesKey, WallSpan, WallTime};
use serde::{Deserialize, Serialize};

use super::correlations::findings_together;
use super::outages::findings_in_time;
use super::processor_time::findings_of_time;
use super::said_together::Saying;
use super::single_series::findings_of_series;
use crate::finding::{EvidenceAmount, Finding, Severity};
use crate::history::analysis::HistoryAnalysis;

/// Something that was judged from a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryFinding {
    /// Kind, severity, sentence, advice and evidence.
    #[serde(flatten)]
    pub finding: Finding<FindingKind>,
    /// Which series it concerns; empty for a whole host or everything.
    pub series: Vec<SeriesKey>,
    /// When; absent for what concerns the whole time.
    pub span: Option<WallSpan>,
    /// Among findings of one kind and severity, the greater comes first.
    #[serde(skip)]
    pub size: f64,
    /// What it says that others may say of other series.
    #[serde(skip)]
    pub(crate) saying: Option<Saying>,
}

impl HistoryFinding {
    pub(crate) fn new(
        kind: FindingKind,
        severity: Severity,
        sentence: String,
        advice: impl Into<String>,
    ) -> Self {
        let finding = Finding::new(kind, severity, sentence, advice);
        Self { finding, series: Vec::new(), span: None, size: 0.0, saying: None }
    }

    pub(crate) fn of<'a>(mut self, series: impl IntoIterator<Item = &'a SeriesKey>) -> Self {
        self.series.extend(series.into_iter().cloned());
        self
    }

    pub(crate) fn during(mut self, begin: WallTime, end: WallTime) -> Self {
        self.span = Some(WallSpan { begin, end });
        self
    }

    pub(crate) fn sized(mut self, size: f64) -> Self {
        self.size = size;
        self
    }

    pub(crate) fn saying(mut self, saying: Option<Saying>) -> Self {
        self.saying = saying;
        self
    }

    pub(crate) fn with(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
        amount: EvidenceAmount,
    ) -> Self {
        self.finding = self.finding.with(name, value, amount);
        self
    }
}

/// All findings, most important first.
pub(crate) fn findings_of(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let names = Names::of(analysis);
    let mut findings = findings_in_time(analysis, &names);
    findings.extend(findings_of_series(analysis, &names));
    findings.extend(findings_of_time(analysis, &names));
    findings.extend(findings_together(analysis, &names));
    findings.sort_by(|one, other| {
        let place = |one: &HistoryFinding| (one.finding.severity, one.finding.kind);
        place(one).cmp(&place(other)).then(other.size.total_cmp(&one.size))
    });
    findings
}

/// How series and hosts are called in sentences.
pub(crate) struct Names {
    several_hosts: bool,
}

impl Names {
    pub(crate) fn of(analysis: &HistoryAnalysis) -> Self {
        let mut hosts = analysis.series.iter().map(|one| &one.summary.series.key.host);
        let first = hosts.next();
        Self { several_hosts: hosts.any(|host| Some(host) != first) }
    }

    /// As in `` `list` on /home ``, with the host if there are several.
    pub(crate) fn series(&self, key: &SeriesKey) -> String {
        task(key) + &self.place(key)
    }

    /// As in ` on /home from login1`.
    pub(crate) fn place(&self, key: &SeriesKey) -> String {
        let target = if key.is_of_host() { String::new() } else { format!(" on {}", key.target) };
        if self.several_hosts && !key.host.is_empty() {
            format!("{target} from {}", key.host)
        } else {
            target
        }
    }

    /// The same for several, the place once if they share it: `` `list`, `create` and 7 others on /home ``.
    pub(crate) fn together(&self, keys: &[&SeriesKey]) -> String {
        match keys.first() {
            Some(first) if keys.iter().all(|key| self.place(key) == self.place(first)) => {
                in_a_row(keys.iter().map(|key| task(key)).collect()) + &self.place(first)
            }
            _ => self.list(keys.iter().copied()),
        }
    }

    /// A list of series as in `a, b and c`; of more than four, the others by their number.
    pub(crate) fn list<'a>(&self, keys: impl IntoIterator<Item = &'a SeriesKey>) -> String {
        in_a_row(keys.into_iter().map(|key| self.series(key)).collect())
    }
}

/// As in `` `list` `` or `` `list: ls -n` ``.
pub(crate) fn task(key: &SeriesKey) -> String {
    if key.part.is_empty() { format!("`{}`", key.task) } else { format!("`{}: {}`", key.task, key.part) }
}

/// As in `a, b and c`; of more than four, the others by their number.
fn in_a_row(mut names: Vec<String>) -> String {
    if names.len() > 4 {
        let others = names.len() - 3;
        names.truncate(3);
        names.push(format!("{others} others"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// A moment as in `2008-05-08 14:15 UTC`, with seconds if they are not zero.
pub(crate) fn moment_in_words(moment: WallTime) -> String {
    let text = moment.to_string();
    let (day, time) = text.split_once('T').unwrap_or((&text, ""));
    let time = time.split('.').next().unwrap_or_default();
    format!("{day} {} UTC", time.strip_suffix(":00").unwrap_or(time))
}

/// A p value as in `p = 0.03`, `p < 0.001`.
pub(crate) fn p_in_words(p: f64) -> String {
    match p {
        p if p < 0.001 => "p < 0.001".to_owned(),
        p if p < 0.0995 => format!("p = {p:.3}"),
        p => format!("p = {p:.2}"),
    }
}

/// `1 slot`, `3 slots`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_listed_once_in_order() {
        assert!(FindingKind::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(FindingKind::ALL.last(), Some(&FindingKind::TooFew));
    }

    #[test]
    fn words_are_for_people() {
        assert_eq!(moment_in_words(WallTime::from_seconds(1_210_256_100)), "2008-05-08 14:15 UTC");
        assert_eq!(moment_in_words(WallTime::from_seconds(1_210_256_103)), "2008-05-08 14:15:03 UTC");
        assert_eq!([0.0001, 0.0312, 0.4].map(p_in_words), ["p < 0.001", "p = 0.031", "p = 0.40"]);
        assert_eq!([counted(1, "slot"), counted(0, "slot")], ["1 slot", "0 slots"]);
        let key = |task: &str| SeriesKey {
            task: task.to_owned(),
            target: "/home".to_owned(),
            ..SeriesKey::default()
        };
        let names = Names { several_hosts: false };
        let keys = ["list", "create", "compile", "stat", "shell"].map(key);
        assert_eq!(names.list(&keys[..2]), "`list` on /home and `create` on /home");
        assert!(names.list(&keys).ends_with("`compile` on /home and 2 others"));
        assert_eq!(names.list(&keys[..0]), "");
    }
}
