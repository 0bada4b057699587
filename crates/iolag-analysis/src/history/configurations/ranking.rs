//! Which attributes of hosts explain what takes too long: over the hosts of a history, a host being the unit.
//!
//! Each host has one number, how far the share of its attempts that passed their deadline is off that of all ([`super::standardised`]), and the facts
//! that most of its attempts had. Attributes are ranked by the share of the variance of these numbers between their levels, tested by permuting hosts
//! ([`super::permutation`]), all p of a history together by Holm. What is significant is told only if the interval of the difference holds more than 0. If the first is significant, all others are asked again within its levels: what only comes with it is not told as
//! another reason, and what it hides is.
//!
//! Limits: what divides the hosts as an unknown reason does is told in its place; hosts that share a switch are not independent, and
//! nobody knows here.

use std::collections::BTreeMap;

use iolag_model::{Configuration, ConfigurationKey, Outcome};
use serde::Serialize;

use super::attributes::{Attribute, attributes};
use super::by_day::tasks_of;
use super::permutation::{explained, p_of};
use super::standardised::{HostAttempts, pooled};
use crate::history::series::kept_amounts::Amounts;
use crate::history::series::shares::PAST_DEADLINE;
use crate::statistics::multiple_testing::{SIGNIFICANCE, holm};
use crate::statistics::student::{CONFIDENCE, student_two_sided};

/// With fewer hosts even a perfect division into halves is no more than chance, once two attributes are asked.
pub const HOSTS_LEAST: usize = 10;

/// What the attributes of hosts say of a task on a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostRanking {
    /// The task.
    pub task: String,
    /// The target.
    pub target: String,
    /// Hosts of which configuration and attempts are known.
    pub hosts: u64,
    /// Whether anything can be told.
    pub verdict: RankingVerdict,
    /// Attributes, the one that explains most first; none if nothing can be told.
    pub attributes: Vec<RankedAttribute>,
    /// Facts that have another value on almost every host.
    pub of_one_host: Vec<String>,
}

/// Whether attributes of hosts can be ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankingVerdict {
    /// They are.
    Ranked,
    /// There are fewer than [`HOSTS_LEAST`] hosts.
    TooFewHosts,
    /// The same share of attempts takes too long on each host.
    SharesAreEqual,
    /// No fact divides the hosts.
    NothingDiffers,
}

/// An attribute, or several that divide the hosts in the same way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedAttribute {
    /// Names of the facts.
    pub facts: Vec<String>,
    /// Its levels, the one with the greatest share first.
    pub levels: Vec<AttributeLevel>,
    /// The share of the variance between hosts that lies between levels, 0 to 1.
    pub explained: f64,
    /// The share of the first level less that of the last, with its 95 % interval over hosts (Welch 1947); absent if one of them has one host.
    pub difference: Option<LevelDifference>,
    /// p over permutations of hosts.
    pub p: f64,
    /// The same, counting all attributes of all tasks of the history.
    pub p_adjusted: f64,
    /// p over permutations of hosts within the levels of the first, counting all others of the task; absent of the first, and if that explains nothing.
    pub p_beside_first: Option<f64>,
    /// What follows.
    pub standing: Standing,
}

/// What follows from the p of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It explains a part, also where the first is known.
    Explains,
    /// It goes together with the first, and says nothing beside it.
    GoesWithFirst,
    /// That it explains anything is not shown.
    NotShown,
}

/// A level of an attribute.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributeLevel {
    /// The value of each fact.
    pub values: Vec<String>,
    /// Hosts.
    pub hosts: u64,
    /// Mean over these hosts of the share of attempts that passed their deadline.
    pub share: f64,
}

/// A difference of shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LevelDifference {
    /// The greater share less the lesser.
    pub difference: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A task on a target, as several hosts saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskOfHosts {
    /// The task.
    pub task: String,
    /// The target.
    pub target: String,
    /// The hosts.
    pub hosts: Vec<HostSeen>,
}

/// A host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSeen {
    /// The facts under which most of its attempts were made.
    pub facts: BTreeMap<String, String>,
    /// How many attempts it made, and passed their deadline.
    pub attempts: HostAttempts,
}

/// Ranks the attributes of the hosts of each task on each target that several hosts measured.
pub(crate) fn rankings(whole: &[Amounts], configurations: &[Configuration], seed: u64) -> Vec<HostRanking> {
    let known: BTreeMap<(&str, &str, ConfigurationKey), &Configuration> =
        configurations.iter().map(|one| ((one.host.as_str(), one.target.as_str(), one.key), one)).collect();
    let host = |one: &&Amounts| {
        let facts = usual_configuration(one, &known)?.facts.clone();
        Some(HostSeen { facts, attempts: attempts_of(one)? })
    };
    let task = |((target, task), series): ((&str, &str), Vec<&Amounts>)| TaskOfHosts {
        task: task.to_owned(),
        target: target.to_owned(),
        hosts: series.iter().filter_map(host).collect(),
    };
    let tasks: Vec<TaskOfHosts> = tasks_of(whole).into_iter().map(task).collect();
    rank_hosts(&tasks, seed)
}

/// The same of hosts that are known. Of a task that one host measured, or that never took too long, there is nothing to explain.
pub fn rank_hosts(tasks: &[TaskOfHosts], seed: u64) -> Vec<HostRanking> {
    let several = tasks
        .iter()
        .filter(|task| task.hosts.len() > 1 && task.hosts.iter().any(|host| host.attempts.past > 0));
    let mut all: Vec<Begun> = several.map(|task| begun(task, seed)).collect();
    let attributes = |all: &mut Begun| std::mem::take(&mut all.0.attributes);
    let mut found: Vec<Vec<RankedAttribute>> = all.iter_mut().map(attributes).collect();
    let p: Vec<f64> = found.iter().flatten().map(|one| one.p).collect();
    found.iter_mut().flatten().zip(holm(&p)).for_each(|(one, adjusted)| one.p_adjusted = adjusted);
    let ended = |((ranking, attributes, hosts), found): (Begun, _)| HostRanking {
        attributes: in_order(found, attributes, &hosts, seed),
        ..ranking
    };
    all.into_iter().zip(found).map(ended).collect()
}

/// The attributes with their p, in any order, as they were found, and the attempts of hosts.
type Begun = (HostRanking, Vec<Attribute>, Vec<HostAttempts>);

fn begun(task: &TaskOfHosts, seed: u64) -> Begun {
    let facts: Vec<&BTreeMap<String, String>> = task.hosts.iter().map(|host| &host.facts).collect();
    let hosts: Vec<HostAttempts> = task.hosts.iter().map(|host| host.attempts).collect();
    let (mut attributes, of_one_host) = attributes(&facts);
    let verdict = match hosts.len() {
        ..HOSTS_LEAST => RankingVerdict::TooFewHosts,
        _ if attributes.is_empty() => RankingVerdict::NothingDiffers,
        _ if hosts.iter().all(|host| host.share() == hosts[0].share()) => RankingVerdict::SharesAreEqual,
        _ => RankingVerdict::Ranked,
    };
    if verdict != RankingVerdict::Ranked {
        attributes.clear();
    }
    let judged = |one: &Attribute| ranked(one, &hosts, p_of(&hosts, one, None, seed));
    let ranking = HostRanking {
        task: task.task.clone(),
        target: task.target.clone(),
        hosts: hosts.len() as u64,
        verdict,
        attributes: attributes.iter().map(judged).collect(),
        of_one_host,
    };
    (ranking, attributes, hosts)
}

/// The configuration of most slots.
fn usual_configuration<'a>(
    one: &Amounts,
    known: &BTreeMap<(&str, &str, ConfigurationKey), &'a Configuration>,
) -> Option<&'a Configuration> {
    let mut slots: BTreeMap<ConfigurationKey, usize> = BTreeMap::new();
    for (rows, key) in one.configuration_runs() {
        *slots.entry(key).or_default() += rows.len();
    }
    let key = &one.series.key;
    let of = |configuration| known.get(&(key.host.as_str(), key.target.as_str(), configuration)).copied();
    let found = slots.into_iter().filter_map(|(key, slots)| Some((slots, of(key)?)));
    found.max_by_key(|(slots, _)| *slots).map(|(_, configuration)| configuration)
}

/// `None` without attempts.
fn attempts_of(one: &Amounts) -> Option<HostAttempts> {
    let is_attempt = |outcome: &&Outcome| !matches!(outcome, Outcome::Skipped | Outcome::Interrupted);
    let attempts = one.outcomes().iter().filter(is_attempt).count() as u64;
    let past = one.outcomes().iter().filter(|outcome| PAST_DEADLINE.contains(outcome)).count() as u64;
    (attempts > 0).then_some(HostAttempts { past, attempts })
}

fn ranked(attribute: &Attribute, hosts: &[HostAttempts], p: f64) -> RankedAttribute {
    let of_level = |level: usize| {
        let of_host = hosts.iter().zip(&attribute.level_of).filter(move |(_, own)| **own == Some(level));
        of_host.map(|(host, _)| *host).collect::<Vec<HostAttempts>>()
    };
    let mut levels: Vec<(Vec<HostAttempts>, &Vec<String>)> =
        attribute.levels.iter().enumerate().map(|(level, values)| (of_level(level), values)).collect();
    levels.sort_by(|one, other| mean_share(&other.0).total_cmp(&mean_share(&one.0)));
    let ends = levels.first().zip(levels.last());
    RankedAttribute {
        facts: attribute.facts.clone(),
        difference: ends.and_then(|(most, least)| difference(&most.0, &least.0)),
        levels: levels
            .iter()
            .map(|(hosts, values)| AttributeLevel {
                values: (*values).clone(),
                hosts: hosts.len() as u64,
                share: mean_share(hosts),
            })
            .collect(),
        explained: explained(hosts, attribute),
        p,
        p_adjusted: p,
        p_beside_first: None,
        standing: Standing::NotShown,
    }
}

fn mean_share(hosts: &[HostAttempts]) -> f64 {
    hosts.iter().map(|host| host.share()).sum::<f64>() / hosts.len().max(1) as f64
}

/// Welch's interval for the difference of two means. Few attempts differ by chance, also where they are seen not to: no mean is surer than that allows.
fn difference(most: &[HostAttempts], least: &[HostAttempts]) -> Option<LevelDifference> {
    if most.len() < 2 || least.len() < 2 {
        return None;
    }
    let common = pooled(&[most, least].concat());
    let part = |hosts: &[HostAttempts]| {
        let (count, mean) = (hosts.len() as f64, mean_share(hosts));
        let seen = hosts.iter().map(|host| (host.share() - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let by_chance = hosts.iter().map(|host| host.variance(common)).sum::<f64>() / count;
        let variance = seen.max(by_chance) / count;
        (variance, variance * variance / (count - 1.0))
    };
    let ((one, one_part), (other, other_part)) = (part(most), part(least));
    let (variance, parts) = (one + other, one_part + other_part);
    let freedom = if parts > 0.0 { variance * variance / parts } else { f64::INFINITY };
    let reach = student_two_sided(freedom, CONFIDENCE) * variance.sqrt();
    let difference = mean_share(most) - mean_share(least);
    let (low, high) = ((difference - reach).max(-1.0), (difference + reach).min(1.0));
    Some(LevelDifference { difference, low, high })
}

/// The most telling first, and what it leaves to say for the others.
fn in_order(
    found: Vec<RankedAttribute>,
    attributes: Vec<Attribute>,
    hosts: &[HostAttempts],
    seed: u64,
) -> Vec<RankedAttribute> {
    let mut all: Vec<(RankedAttribute, Attribute)> = found.into_iter().zip(attributes).collect();
    all.sort_by(|(one, _), (other, _)| {
        let shown_first = is_shown(other).cmp(&is_shown(one));
        let by_p = one.p_adjusted.total_cmp(&other.p_adjusted);
        shown_first.then(by_p).then(other.explained.total_cmp(&one.explained))
    });
    let Some((first, others)) = all.split_first_mut().filter(|(first, _)| is_shown(&first.0)) else {
        return all.into_iter().map(|(one, _)| one).collect();
    };
    first.0.standing = Standing::Explains;
    let within = |(_, other): &(RankedAttribute, Attribute)| p_of(hosts, other, Some(&first.1), seed);
    let beside = holm(&others.iter().map(within).collect::<Vec<_>>());
    for ((one, _), p) in others.iter_mut().zip(beside) {
        one.p_beside_first = Some(p);
        one.standing = match (p <= SIGNIFICANCE, one.p_adjusted <= SIGNIFICANCE) {
            (true, _) => Standing::Explains,
            (false, true) => Standing::GoesWithFirst,
            (false, false) => Standing::NotShown,
        };
    }
    all.into_iter().map(|(one, _)| one).collect()
}

/// Whether it is significant, and its levels differ for certain.
fn is_shown(one: &RankedAttribute) -> bool {
    one.p_adjusted <= SIGNIFICANCE && one.difference.is_none_or(|difference| difference.low > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    /// `slots` decides, cores and age always come with it, the others are drawn.
    fn farm(hosts: usize, seed: u64, share_of: impl Fn(&str) -> f64) -> Vec<TaskOfHosts> {
        let mut noise = Random::new(seed);
        let mut host = |number: usize| {
            let (slots, cores, age) =
                [("28", "24", "newest"), ("21", "16", "2009"), ("8", "8", "2007")][number % 3];
            let mut drawn = |values: [&str; 2]| values[noise.below(2) as usize].to_owned();
            let mut facts = BTreeMap::from([
                ("rack".to_owned(), drawn(["a", "b"])),
                ("kernel".to_owned(), drawn(["2.6.18-194", "2.6.18-238"])),
                ("tuning".to_owned(), drawn(["none", "cache"])),
                ("serial".to_owned(), format!("SN{number}")),
            ]);
            let given = [("slots", slots), ("cores", cores), ("age", age)];
            facts.extend(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
            let share = share_of(slots) * (0.5 + noise.unit());
            HostSeen { facts, attempts: attempts(share) }
        };
        let hosts = (0..hosts).map(&mut host).collect();
        vec![TaskOfHosts { task: "set-up".to_owned(), target: "/afs".to_owned(), hosts }]
    }

    /// So many that chance says nothing.
    fn attempts(share: f64) -> HostAttempts {
        HostAttempts { past: (share * 1e6) as u64, attempts: 1_000_000 }
    }

    fn of_slots(slots: &str) -> f64 {
        if slots == "28" { 0.05 } else { 0.004 }
    }

    #[test]
    fn only_the_slots_matter_and_what_goes_with_them_is_told_with_them() {
        let [ranking] = &rank_hosts(&farm(40, 1, of_slots), 7)[..] else { panic!("one task") };
        assert_eq!((ranking.verdict, ranking.hosts), (RankingVerdict::Ranked, 40));
        assert_eq!(ranking.of_one_host, ["serial"]);
        let [first, others @ ..] = &ranking.attributes[..] else { panic!("{ranking:#?}") };
        assert_eq!(first.facts, ["age", "cores", "slots"]);
        assert_eq!(first.standing, Standing::Explains);
        let worst = &first.levels[0];
        assert_eq!((&worst.values[..], worst.hosts), (&["newest", "24", "28"].map(str::to_owned)[..], 14));
        let difference = first.difference.unwrap();
        assert!(difference.low > 0.02 && difference.high < 0.08, "{difference:?}");
        assert!(first.p_adjusted < 0.01 && first.explained > 0.4, "{first:#?}");
        assert_eq!(others.len(), 3);
        assert!(others.iter().all(|one| one.standing != Standing::Explains), "{others:#?}");
    }

    #[test]
    fn nothing_is_told_of_few_hosts_or_equal_shares() {
        let verdict = |tasks: &[TaskOfHosts]| rank_hosts(tasks, 7)[0].verdict;
        assert_eq!(verdict(&farm(9, 1, of_slots)), RankingVerdict::TooFewHosts);
        let mut alike = farm(40, 1, of_slots);
        alike[0].hosts.iter_mut().for_each(|host| host.attempts = attempts(0.01));
        assert_eq!(verdict(&alike), RankingVerdict::SharesAreEqual);
        alike[0].hosts.iter_mut().for_each(|host| host.facts.retain(|name, _| name == "serial"));
        assert_eq!(verdict(&alike), RankingVerdict::NothingDiffers);
        assert!(rank_hosts(&farm(1, 1, of_slots), 7).is_empty());
        assert!(rank_hosts(&farm(40, 1, |_| 0.0), 7).is_empty());
    }

    #[test]
    fn what_matters_besides_is_told_besides() {
        let mut tasks = farm(40, 1, of_slots);
        for host in &mut tasks[0].hosts {
            host.attempts.past += if host.facts["tuning"] == "none" { 100_000 } else { 0 };
        }
        let ranking = &rank_hosts(&tasks, 7)[0];
        assert_eq!(ranking.attributes[0].p_beside_first, None);
        let explains = ranking.attributes.iter().filter(|one| one.standing == Standing::Explains);
        let names: Vec<&str> = explains.map(|one| one.facts[0].as_str()).collect();
        assert_eq!(names, ["tuning", "age"]);
    }

    /// 40 hosts of which half have an attribute and other attempts; in how many of so many histories it is told.
    fn told(histories: u64, shares: [f64; 2], tries: [u64; 2]) -> usize {
        let history = |seed: &u64| {
            let mut noise = Random::new(*seed);
            let hosts = (0..40_usize).map(|number| {
                let batch = number % 2;
                let past = (0..tries[batch]).filter(|_| noise.unit() < shares[batch]).count() as u64;
                let facts = BTreeMap::from([("batch".to_owned(), ["old", "new"][batch].to_owned())]);
                HostSeen { facts, attempts: HostAttempts { past, attempts: tries[batch] } }
            });
            let tasks = TaskOfHosts { task: String::new(), target: String::new(), hosts: hosts.collect() };
            let ranking = rank_hosts(&[tasks], *seed);
            ranking.iter().flat_map(|one| &one.attributes).any(|one| one.standing == Standing::Explains)
        };
        (0..histories).filter(history).count()
    }

    #[test]
    fn attempts_that_go_with_an_attribute_do_not_blame_it_and_shares_do() {
        let alike = told(200, [0.01; 2], [400, 20]);
        assert!(alike <= 10, "{alike} of 200 histories of hosts that are alike");
        let apart = told(20, [0.05, 0.005], [400, 40]);
        assert!(apart >= 18, "{apart} of 20 histories");
    }
}
