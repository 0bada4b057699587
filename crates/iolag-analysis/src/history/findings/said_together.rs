//! Findings that say the same of several series of one place, as one sentence with the range.
//!
//! A change that reaches a mount reaches all its tasks, and nine sentences that differ in a name and a number hide the tenth. Each
//! finding stays as it is for programs; for people, three or more that say the same are told together: of series of one host whose targets
//! are on one mount (of the same mount source, as far as the configurations know it; else of one target), and, for what has a
//! moment, within a day.
//!
//! Invariants: nothing is left out that another sentence does not tell; the gravest severity is that of the sentence, which stands
//! where the first of its findings stood.

use super::finding::{Saying, SayingUnit};
use iolag_model::{Nanoseconds, SeriesKey, WallTime};

use super::finding::HistoryFinding;
use super::words::amounts::moment_in_words;
use super::words::names::Names;
use crate::finding::Finding;
use crate::history::analysis::HistoryAnalysis;

/// Fewer than these are told one by one.
const TOGETHER_LEAST: usize = 3;

/// What has a moment is told together within this time.
const APART: Nanoseconds = Nanoseconds::from_seconds(86_400);

impl HistoryAnalysis {
    /// The findings as people are told them: those that say the same of several series of one place are one.
    pub fn findings_told(&self) -> Vec<HistoryFinding> {
        let names = Names::of(self);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for index in 0..self.findings.len() {
            match groups.iter_mut().find(|group| self.say_the_same(group[0], index)) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        let mut told: Vec<(usize, HistoryFinding)> = Vec::new();
        for group in groups {
            for near in self.within_a_day(group) {
                if near.len() < TOGETHER_LEAST {
                    told.extend(near.into_iter().map(|index| (index, self.findings[index].clone())));
                } else if let Some(first) = near.iter().min() {
                    let members: Vec<&HistoryFinding> =
                        near.iter().map(|index| &self.findings[*index]).collect();
                    told.push((*first, together(&members, &names)));
                }
            }
        }
        told.sort_by_key(|(index, _)| *index);
        told.into_iter().map(|(_, finding)| finding).collect()
    }

    fn say_the_same(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.findings[one], &self.findings[other]);
        let (Some(said), Some(also)) = (&one.saying, &other.saying) else { return false };
        one.finding.kind == other.finding.kind
            && said.pattern == also.pattern
            && said.unit == also.unit
            && match (said.subjects.first(), also.subjects.first()) {
                (Some(said), Some(also)) => self.place_of(said) == self.place_of(also),
                _ => false,
            }
    }

    /// Host, and what is mounted there as far as that is known, else the target.
    pub(crate) fn place_of<'a>(&'a self, key: &'a SeriesKey) -> (&'a str, &'a str) {
        let of_target = self.configurations.iter().rev();
        let mount = of_target
            .filter(|one| one.host == key.host && one.target == key.target)
            .find_map(|one| one.facts.get("mount-source"));
        (&key.host, mount.map_or(&key.target, |mount| mount))
    }

    /// Stretches of a group, in order of time, each at most a day long; a group without moments is one.
    fn within_a_day(&self, mut group: Vec<usize>) -> Vec<Vec<usize>> {
        let moment = |index: usize| self.findings[index].span.map_or(WallTime(0), |span| span.end);
        group.sort_by_key(|index| (moment(*index), *index));
        let mut stretches: Vec<Vec<usize>> = Vec::new();
        for index in group {
            match stretches.last_mut() {
                Some(stretch) if moment(index).since(moment(stretch[0])) <= APART => stretch.push(index),
                _ => stretches.push(vec![index]),
            }
        }
        stretches
    }
}

/// One sentence for several findings, which all have a saying.
fn together(members: &[&HistoryFinding], names: &Names) -> HistoryFinding {
    let sayings: Vec<&Saying> = members.iter().filter_map(|one| one.saying.as_ref()).collect();
    let mut subjects: Vec<&SeriesKey> = sayings.iter().flat_map(|saying| &saying.subjects).collect();
    subjects.sort_unstable();
    subjects.dedup();
    let amounts = || sayings.iter().flat_map(|saying| saying.amounts.iter().copied());
    let unit = sayings.first().map_or(SayingUnit::Factor, |saying| saying.unit);
    let range = match (amounts().min_by(f64::total_cmp), amounts().max_by(f64::total_cmp)) {
        (Some(least), Some(most)) => {
            let (least, most) = (unit.in_words(least), unit.in_words(most));
            if least == most { most } else { format!("{least} to {most}") }
        }
        _ => String::new(),
    };
    let moments = || members.iter().filter_map(|one| one.span);
    let since = match (moments().map(|span| span.end).min(), moments().map(|span| span.end).max()) {
        (Some(first), Some(last)) if first == last => format!("Since {}", moment_in_words(first)),
        (Some(first), Some(last)) => {
            format!("Between {} and {}", moment_in_words(first), moment_in_words(last))
        }
        _ => String::new(),
    };
    // Of levels that are over, the spans of the findings are their own.
    let span = match moments().next() {
        Some(first) if moments().all(|span| span == first) => {
            format!("From {} to {}", moment_in_words(first.begin), moment_in_words(first.end))
        }
        Some(first) => {
            let begin = moments().fold(first.begin, |least, span| least.min(span.begin));
            let end = moments().fold(first.end, |most, span| most.max(span.end));
            format!("For a time between {} and {}", moment_in_words(begin), moment_in_words(end))
        }
        None => String::new(),
    };
    let most = sayings.iter().max_by(|one, other| one.greatest().total_cmp(&other.greatest()));
    let mut sentence = sayings.first().map_or_else(String::new, |saying| {
        let series = names.together(&subjects);
        // Names of series last: they may contain anything.
        let timed = saying.pattern.replace("{since}", &since).replace("{span}", &span);
        timed.replace("{range}", &range).replace("{series}", &series)
    });
    if let Some(most) = most.filter(|most| !most.detail.is_empty()) {
        sentence += &format!("; most of all {}", most.detail);
    }
    let severity = members.iter().map(|one| one.finding.severity).min();
    let first = members[0];
    let severity = severity.unwrap_or(first.finding.severity);
    let finding = Finding::new(first.finding.kind, severity, sentence + ".", first.finding.advice.clone());
    HistoryFinding {
        finding,
        series: subjects.into_iter().cloned().collect(),
        span: moments().reduce(|one, other| iolag_model::WallSpan {
            begin: one.begin.min(other.begin),
            end: one.end.max(other.end),
        }),
        size: members.iter().map(|one| one.size).fold(0.0, f64::max),
        saying: None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use iolag_model::{Configuration, ConfigurationKey};

    use super::*;
    use crate::finding::Severity;
    use crate::history::FindingKind;
    use crate::history::analyse::analyse_history;
    use crate::history::input::HistoryInput;
    use crate::history::options::HistoryOptions;

    const HOUR: i64 = 3600;

    fn key(target: &str, task: &str) -> SeriesKey {
        SeriesKey { target: target.to_owned(), task: task.to_owned(), ..SeriesKey::default() }
    }

    fn change(target: &str, task: &str, hour: i64, factor: f64) -> HistoryFinding {
        let at = WallTime::from_seconds(hour * HOUR);
        let severity = if factor >= 2.0 { Severity::Serious } else { Severity::Warning };
        let mut finding = HistoryFinding::new(FindingKind::Change, severity, format!("{task} alone"), "look")
            .of([&key(target, task)])
            .during(at.before(Nanoseconds(1)), at)
            .sized(factor);
        finding.saying = Some(Saying {
            pattern: "{since}, {series} take {range} times as long".to_owned(),
            subjects: vec![key(target, task)],
            amounts: vec![factor],
            unit: SayingUnit::Factor,
            detail: format!("`{task}`"),
        });
        finding
    }

    fn told(findings: Vec<HistoryFinding>, mounts: &[(&str, &str)]) -> Vec<String> {
        let mut analysis = analyse_history(&HistoryInput::default(), &HistoryOptions::default());
        analysis.findings = findings;
        let configuration = |(target, mount): &(&str, &str)| Configuration {
            key: ConfigurationKey(1),
            host: String::new(),
            target: (*target).to_owned(),
            first_seen: WallTime(0),
            facts: BTreeMap::from([("mount-source".to_owned(), (*mount).to_owned())]),
        };
        analysis.configurations = mounts.iter().map(configuration).collect();
        analysis.findings_told().into_iter().map(|one| one.finding.sentence).collect()
    }

    #[test]
    fn nine_tasks_of_a_target_that_changed_on_one_day_are_one_sentence() {
        let tasks = ["list", "create", "compile", "stat", "shell", "echo", "open-read", "write-fsync", "own"];
        let mut findings: Vec<HistoryFinding> =
            (0..9).map(|index| change("/home", tasks[index as usize], index, 1.5 + index as f64)).collect();
        findings.insert(2, change("/scratch", "list", 3, 4.0));
        findings.push(change("/home", "list", 200, 3.0));
        assert_eq!(
            told(findings, &[]),
            [
                "Between 1970-01-01 00:00 UTC and 1970-01-01 08:00 UTC, `compile`, `create`, `echo` and 6 others on /home take 1.5 to \
                 9.5 times as long; most of all `own`.",
                "list alone",
                "list alone"
            ]
        );
    }

    #[test]
    fn of_what_is_left_the_least_is_most_of_all() {
        let rests = [("jobs", 0.5), ("users", 0.28), ("files", 0.4)];
        let findings = rests.map(|(task, rest)| {
            let mut finding = change("/home", task, 5, rest);
            let saying = finding.saying.as_mut().unwrap();
            saying.pattern = "{since}, {series} are {range} as much".to_owned();
            saying.unit = SayingUnit::Rest;
            finding
        });
        let [sentence] = &told(findings.to_vec(), &[])[..] else { panic!("they are told together") };
        assert!(sentence.ends_with(" are 28 % to 50 % as much; most of all `users`."), "{sentence}");
    }

    #[test]
    fn targets_on_one_mount_are_told_together_and_two_series_are_not() {
        let of = |targets: &[&str]| targets.iter().map(|target| change(target, "list", 5, 2.0)).collect();
        let mounts = [("/a", "server:/x"), ("/b", "server:/x"), ("/c", "server:/x"), ("/d", "other:/")];
        assert_eq!(
            told(of(&["/a", "/b", "/c"]), &mounts),
            [
                "Since 1970-01-01 05:00 UTC, `list` on /a, `list` on /b and `list` on /c take 2.0 times as long; most of all `list`."
            ]
        );
        assert_eq!(told(of(&["/a", "/b", "/d"]), &mounts), ["list alone"; 3]);
        assert_eq!(told(of(&["/a", "/b", "/c"]), &[]), ["list alone"; 3]);
    }

    #[test]
    fn the_gravest_severity_stays() {
        let mut analysis = analyse_history(&HistoryInput::default(), &HistoryOptions::default());
        analysis.findings =
            vec![change("/home", "a", 1, 5.0), change("/home", "b", 1, 1.2), change("/home", "c", 1, 1.3)];
        let told = analysis.findings_told();
        assert_eq!((told.len(), told[0].finding.severity), (1, Severity::Serious));
        assert_eq!((told[0].series.len(), analysis.findings.len()), (3, 3));
    }
}
