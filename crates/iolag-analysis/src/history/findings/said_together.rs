//! Findings that say the same of several series of one place, told as one with the range.
//!
//! A change that reaches a mount reaches all its tasks, and nine sentences that differ in a name and a number hide the tenth. Each
//! finding stays as it is for programs; for people, three or more that say the same are told together: of series of one host whose targets
//! are on one mount (of the same mount source, as far as the configurations know it; else of one target), and, for what has a
//! moment, within a day.
//!
//! Invariants: nothing is left out that another sentence does not tell; the gravest severity is that of the sentence, which stands
//! where the first of its findings stood.

use iolag_model::{Nanoseconds, SeriesKey, WallTime};

use crate::finding::Severity;
use crate::finding::of_histories::{HistoryFinding, HistoryFound};
use crate::history::analysis::HistoryAnalysis;
use crate::history::calendar::periodicity::PeriodName;

/// Fewer than these are told one by one.
const TOGETHER_LEAST: usize = 3;

/// What has a moment is told together within this time.
const APART: Nanoseconds = Nanoseconds::from_seconds(86_400);

/// A finding as people are told it: alone, or with others that say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldFinding<'a> {
    /// One, or at least three that have a saying.
    pub members: Vec<&'a HistoryFinding>,
}

impl ToldFinding<'_> {
    /// The gravest.
    pub fn severity(&self) -> Severity {
        self.members.iter().map(|one| one.severity).min().unwrap_or(Severity::Note)
    }

    /// All series of which it is told, in their order, each once.
    pub fn subjects(&self) -> Vec<&SeriesKey> {
        let sayings = self.members.iter().filter_map(|one| one.saying.as_ref());
        let mut subjects: Vec<&SeriesKey> = sayings.flat_map(|saying| &saying.subjects).collect();
        subjects.sort_unstable();
        subjects.dedup();
        subjects
    }

    /// The least and the greatest number.
    pub fn range(&self) -> Option<(f64, f64)> {
        let sayings = || self.members.iter().filter_map(|one| one.saying.as_ref());
        let amounts = || sayings().flat_map(|saying| saying.amounts.iter().copied());
        amounts().min_by(f64::total_cmp).zip(amounts().max_by(f64::total_cmp))
    }

    /// The member with the most: of what is a part of what was, the least.
    pub fn most(&self) -> Option<&HistoryFinding> {
        let is_part = |one: &HistoryFinding| matches!(&one.found, HistoryFound::Level(found) if found.direction.is_part());
        let greatest = |one: &HistoryFinding| {
            let sign = if is_part(one) { -1.0 } else { 1.0 };
            let amounts = one.saying.iter().flat_map(|saying| &saying.amounts);
            amounts.map(|amount| sign * amount).fold(f64::NEG_INFINITY, f64::max)
        };
        self.members.iter().copied().max_by(|one, other| greatest(one).total_cmp(&greatest(other)))
    }
}

impl HistoryAnalysis {
    /// The findings as people are told them: those that say the same of several series of one place are one.
    pub fn findings_told(&self) -> Vec<ToldFinding<'_>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for index in 0..self.findings.len() {
            match groups.iter_mut().find(|group| self.say_the_same(group[0], index)) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        let mut told: Vec<Vec<usize>> = Vec::new();
        for near in groups.into_iter().flat_map(|group| self.within_a_day(group)) {
            match near.len() {
                ..TOGETHER_LEAST => told.extend(near.into_iter().map(|index| vec![index])),
                _ => told.push(near),
            }
        }
        told.sort_by_key(|members| members.iter().min().copied());
        let members = |indices: Vec<usize>| indices.into_iter().map(|index| &self.findings[index]).collect();
        told.into_iter().map(|indices| ToldFinding { members: members(indices) }).collect()
    }

    fn say_the_same(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.findings[one], &self.findings[other]);
        let place = |finding: &'_ HistoryFinding| {
            let subject = finding.saying.as_ref()?.subjects.first()?;
            Some(self.place_of(subject)).map(|(host, mount)| (host.to_owned(), mount.to_owned()))
        };
        says_as(one, other) && place(one).is_some() && place(one) == place(other)
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

/// Whether both say the same, but for series, numbers, and moments of one day.
fn says_as(one: &HistoryFinding, other: &HistoryFinding) -> bool {
    match (&one.found, &other.found) {
        (HistoryFound::Level(found), HistoryFound::Level(also)) => found.says_as(also),
        (HistoryFound::Slow(found), HistoryFound::Slow(also)) => found.says_as(also),
        (HistoryFound::Period(found), HistoryFound::Period(also)) => {
            let (found, also) = (&found.periodicity, &also.periodicity);
            found.name == also.name && (found.name != PeriodName::Other || found.period_ns == also.period_ns)
        }
        (HistoryFound::BelowResolution(found), HistoryFound::BelowResolution(also)) => {
            found.resolution_ns == also.resolution_ns
        }
        (HistoryFound::SlowerPlace(_), HistoryFound::SlowerPlace(_)) => {
            let than =
                |one: &HistoryFinding| one.series.get(1).map(|key| (key.host.clone(), key.target.clone()));
            than(one) == than(other)
        }
        (HistoryFound::Failed(_), HistoryFound::Failed(_))
        | (HistoryFound::PastDeadline(_), HistoryFound::PastDeadline(_))
        | (HistoryFound::Modes(_), HistoryFound::Modes(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use iolag_model::{Configuration, ConfigurationKey};

    use super::*;
    use crate::finding::of_histories::{LevelEnd, LevelFound};
    use crate::history::analyse::analyse_history;
    use crate::history::changes::change_point::{ChangePoint, ChangeShape, ChangeStrength};
    use crate::history::changes::direction::Direction;
    use crate::history::changes::levels::LevelRatio;
    use crate::history::changes::moment::ChangeMoment;
    use crate::history::input::HistoryInput;
    use crate::history::options::HistoryOptions;
    use crate::history::series::timed_values::Quantity;
    use crate::statistics::knowledge::Knowledge;

    const HOUR: i64 = 3600;

    fn key(target: &str, task: &str) -> SeriesKey {
        SeriesKey { target: target.to_owned(), task: task.to_owned(), ..SeriesKey::default() }
    }

    /// A level of a value that became so many times as much.
    fn change(target: &str, task: &str, hour: i64, factor: f64) -> HistoryFinding {
        let at = WallTime::from_seconds(hour * HOUR);
        let known = Knowledge::Exactly;
        let found = LevelFound {
            direction: Direction { quantity: Quantity::Value, is_up: factor > 1.0 },
            change: ChangePoint {
                place: 4,
                last_before: at.before(Nanoseconds(1)),
                first_after: at,
                began: None,
                count_before: 4,
                count_after: 4,
                median_before: 1.0,
                median_before_is: known,
                median_after: factor,
                median_after_is: known,
                p95_after: factor,
                ratio: LevelRatio { value: Some(factor), value_is: known, low: None, high: None },
                greater_after: if factor > 1.0 { 1.0 } else { 0.0 },
                p: 0.001,
                shape: ChangeShape::Step,
                strength: ChangeStrength::Strong,
            },
            moment: ChangeMoment::At(at),
            end: LevelEnd::Lasts,
            event: None,
            tolerance_ns: Nanoseconds::ZERO,
        };
        let severity = if factor >= 2.0 { Severity::Serious } else { Severity::Warning };
        HistoryFinding::new(HistoryFound::Level(found), severity)
            .of([&key(target, task)])
            .during(at.before(Nanoseconds(1)), at)
            .saying(&key(target, task), factor)
    }

    fn analysis(findings: Vec<HistoryFinding>, mounts: &[(&str, &str)]) -> HistoryAnalysis {
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
        analysis
    }

    /// How many are told together, in the order of sentences.
    fn members(findings: Vec<HistoryFinding>, mounts: &[(&str, &str)]) -> Vec<usize> {
        analysis(findings, mounts).findings_told().iter().map(|told| told.members.len()).collect()
    }

    fn most(told: &ToldFinding<'_>) -> String {
        told.most().map_or_else(String::new, |one| one.series[0].task.clone())
    }

    #[test]
    fn nine_tasks_of_a_target_that_changed_on_one_day_are_one() {
        let tasks = ["list", "create", "compile", "stat", "shell", "echo", "open-read", "write-fsync", "own"];
        let mut findings: Vec<HistoryFinding> =
            (0..9).map(|index| change("/home", tasks[index as usize], index, 1.5 + index as f64)).collect();
        findings.insert(2, change("/scratch", "list", 3, 4.0));
        findings.push(change("/home", "list", 200, 3.0));
        let analysis = analysis(findings.clone(), &[]);
        let told = analysis.findings_told();
        assert_eq!(members(findings, &[]), [9, 1, 1]);
        assert_eq!((told[0].range(), most(&told[0]).as_str()), (Some((1.5, 9.5)), "own"));
    }

    #[test]
    fn of_what_is_left_the_least_is_most_of_all() {
        let rests = [("jobs", 0.5), ("users", 0.28), ("files", 0.4)];
        let analysis = analysis(rests.map(|(task, rest)| change("/home", task, 5, rest)).to_vec(), &[]);
        let told = analysis.findings_told();
        assert_eq!((told.len(), told[0].range(), most(&told[0]).as_str()), (1, Some((0.28, 0.5)), "users"));
    }

    #[test]
    fn targets_on_one_mount_are_told_together_and_two_series_are_not() {
        let of = |targets: &[&str]| targets.iter().map(|target| change(target, "list", 5, 2.0)).collect();
        let mounts = [("/a", "server:/x"), ("/b", "server:/x"), ("/c", "server:/x"), ("/d", "other:/")];
        assert_eq!(members(of(&["/a", "/b", "/c"]), &mounts), [3]);
        assert_eq!(members(of(&["/a", "/b", "/d"]), &mounts), [1; 3]);
        assert_eq!(members(of(&["/a", "/b", "/c"]), &[]), [1; 3]);
    }

    #[test]
    fn the_gravest_severity_stays() {
        let found = [("a", 5.0), ("b", 1.2), ("c", 1.3)];
        let analysis = analysis(found.map(|(task, factor)| change("/home", task, 1, factor)).to_vec(), &[]);
        let told = analysis.findings_told();
        assert_eq!((told.len(), told[0].severity()), (1, Severity::Serious));
        assert_eq!((told[0].subjects().len(), analysis.findings.len()), (3, 3));
    }
}
