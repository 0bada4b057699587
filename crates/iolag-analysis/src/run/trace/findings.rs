//! What to change, the first first: a call that never came back, directories in which nothing was ever found, search paths whose first directories never have what is looked for, questions
//! that are asked again, calls that take long.
//!
//! They are told if they are a noticeable part of all: who looks once in a directory that is not there need not change anything.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{
    AbsentName, Nanoseconds, SearchPath, SearchedDirectory, TraceAbout, TraceCall, TraceList, TraceSummary,
    TraceVain, VainDirectory, loader_asks_below,
};

use super::lists::{Searched, SetVariables};
use super::never_back::never_back;
use crate::finding::Severity;
use crate::finding::of_runs::{
    AskedAgain, AskedInVain, ListedInVain, LongCall, RunFinding, RunFound, SearchedInVain, TracedShare,
};

/// Fewer calls are nothing to speak of, whatever their share.
const CALLS_MIN: u64 = 20;
/// Fewer than these are told only if they are a good part of all: every program asks some things in vain.
const CALLS_FEW: u64 = 50;
const SHARE_OF_FEW: f64 = 0.2;
/// Less of all calls, and of their time, does not matter.
const SHARE_MIN: f64 = 0.05;
/// What is asked again is told if it is this much of all: everybody asks some things twice.
const REPEATS_MIN: f64 = 0.2;
/// From this share on it is most of what the program does.
const SHARE_SERIOUS: f64 = 0.5;
/// A call is long from here on, ...
const LONG_CALL: Nanoseconds = Nanoseconds::from_milliseconds(100);
/// ... if it takes this much of all time in storage.
const LONG_SHARE: f64 = 0.1;
const EXAMPLES: usize = 3;
/// Most of the calls in vain are about the same if so few paths in so few directories have more than this share of them: whoever looks along a list
/// asks for more, or in more places.
const SAME_PATHS: usize = 3;
const SAME_DIRECTORIES: usize = 2;
const SHARE_SAME: f64 = 0.5;
/// A list of which fewer directories are in vain is not too long.
const LISTED_MIN: u64 = 3;
/// What so many times the calls in a list's directories were is about something else, too; if nobody knows about what, so many.
const OTHERS_FACTOR: u64 = 2;
const OTHERS_FACTOR_UNKNOWN: u64 = 4;

/// All that was found, the gravest first. `asked` is what was looked for in the lists of the program's environment, if somebody counted that.
pub(crate) fn findings(summary: &TraceSummary, about: &TraceAbout, asked: &[TraceList]) -> Vec<RunFinding> {
    let lists = &about.lists;
    let in_vain = asked_in_vain(summary, lists);
    let searched = searched_in_vain(summary, lists, in_vain.as_ref());
    let mut of_names: Vec<RunFinding> = in_vain.into_iter().chain(searched).collect();
    let listed = listed_in_vain(summary, asked, &mut of_names);
    let in_lists = listed.as_ref().map_or(0, |(found, _)| found.share.calls);
    let again = asked_again(summary, summary.in_vain.calls.max(in_lists));
    let listed = listed.map(|(found, severity)| RunFinding::new(RunFound::ListedInVain(found), severity));
    let mut found: Vec<RunFinding> = never_back(summary, about).into_iter().collect();
    found.extend(listed.into_iter().chain(of_names).chain(again));
    found.extend(long_call(summary));
    found.sort_by_key(|finding| finding.severity);
    found
}

/// So many calls with so much time, of all.
fn share(calls: u64, time_ns: Nanoseconds, summary: &TraceSummary) -> TracedShare {
    // Of text without durations no time is known.
    let has_times = summary.time.untimed < summary.calls;
    TracedShare {
        calls,
        of_calls: summary.calls,
        time_ns: has_times.then_some(time_ns),
        of_time_ns: summary.time.storage_ns,
    }
}

fn judged(share: TracedShare, least: f64) -> Option<Severity> {
    let of_time = share.time_ns.map_or(0.0, |time| part(time.0, share.of_time_ns.0));
    let most = part(share.calls, share.of_calls).max(of_time);
    match share.calls {
        calls if calls < CALLS_MIN || most < least => None,
        calls if calls < CALLS_FEW && most < SHARE_OF_FEW => None,
        _ if most >= SHARE_SERIOUS => Some(Severity::Serious),
        _ => Some(Severity::Warning),
    }
}

fn part(some: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { some as f64 / of as f64 }
}

fn asked_in_vain(summary: &TraceSummary, lists: &[String]) -> Option<RunFinding> {
    let vain = &summary.in_vain;
    let share = share(vain.calls, vain.time_ns, summary);
    let severity = judged(share, SHARE_MIN)?;
    // By what most of them were asked for, as far as they are listed.
    let mut calls: BTreeMap<Searched, u64> = BTreeMap::new();
    for directory in &vain.most {
        *calls.entry(Searched::of_directory(directory, summary)).or_default() += directory.calls;
    }
    let searched = calls.iter().max_by_key(|(_, calls)| **calls).map(|(searched, _)| *searched)?;
    let are_of_it = |directory: &&VainDirectory| Searched::of_directory(directory, summary) == searched;
    let of_loader = |directory: &VainDirectory| {
        searched == Searched::Libraries && loader_asks_below(directory.path.as_bytes()).is_some()
    };
    // Some are only on the way to others.
    let is_on_the_way = |directory: &VainDirectory| {
        let below = |other: &VainDirectory| {
            let is_below =
                other.path.strip_prefix(directory.path.as_str()).is_some_and(|rest| rest.starts_with('/'));
            is_below && !of_loader(other)
        };
        vain.most.iter().any(below)
    };
    let shown: Vec<&VainDirectory> = vain
        .most
        .iter()
        .filter(are_of_it)
        .filter(|directory| !is_on_the_way(directory) && !of_loader(directory))
        .collect();
    let is_anything = searched == Searched::Anything;
    let same = if is_anything { asked_most(vain) } else { Vec::new() };
    // No list is looked along that has one directory.
    let is_one = |directory: &&VainDirectory| {
        is_anything && directory.names > 1 && part(directory.calls, vain.calls) > SHARE_SAME
    };
    let one = vain.most.iter().find(is_one).map(|directory| (directory.path.clone(), directory.names));
    let found = AskedInVain {
        share,
        directories: vain.directories,
        of_loader: if searched == Searched::Libraries { vain.of_loader } else { 0 },
        same,
        one,
        searched,
        set: SetVariables::of(searched, lists),
        examples: shown.iter().take(EXAMPLES).map(|directory| directory.path.clone()).collect(),
    };
    Some(RunFinding::new(RunFound::AskedInVain(found), severity))
}

/// The paths that most of the calls were about, if they are few, and in one or two directories.
fn asked_most(vain: &TraceVain) -> Vec<AbsentName> {
    let paths =
        vain.most.iter().take(SAME_DIRECTORIES).flat_map(|VainDirectory { path, asked_most, .. }| {
            let in_it = |asked: &AbsentName| AbsentName {
                name: format!("{}/{}", path.trim_end_matches('/'), asked.name),
                calls: asked.calls,
            };
            asked_most.iter().map(in_it).collect::<Vec<_>>()
        });
    let mut paths: Vec<AbsentName> = paths.collect();
    paths.sort_by_key(|path| std::cmp::Reverse(path.calls));
    for few in 1..=SAME_PATHS.min(paths.len()) {
        let calls: u64 = paths[..few].iter().map(|path| path.calls).sum();
        if part(calls, vain.calls) > SHARE_SAME {
            paths.truncate(few);
            return paths;
        }
    }
    Vec::new()
}

/// Search paths of which some directories have other things, but never what is looked for along them; what was asked in vain altogether is told already.
fn searched_in_vain(
    summary: &TraceSummary,
    lists: &[String],
    in_vain: Option<&RunFinding>,
) -> Vec<RunFinding> {
    let told_for = in_vain.and_then(|finding| match &finding.found {
        RunFound::AskedInVain(found) => Some(found.searched),
        _ => None,
    });
    // Of many only some are listed.
    let is_cut = summary.in_vain.directories > summary.in_vain.most.len() as u64;
    let told: BTreeSet<&str> = summary.in_vain.most.iter().map(|directory| directory.path.as_str()).collect();
    let mut found = Vec::new();
    for path in &summary.search_paths {
        let never = || path.directories.iter().filter(|directory| directory.found == 0);
        let (directories, calls) = path.in_vain();
        let searched = Searched::of_names(&path.examples, summary);
        let is_listed = |directory: &SearchedDirectory| told.contains(directory.path.as_str());
        let is_same_list = is_cut && told_for == Some(searched) && never().any(is_listed);
        let is_told = is_same_list || never().all(is_listed);
        let share = share(calls, time_in_vain(path, calls), summary);
        let Some(severity) = judged(share, SHARE_MIN).filter(|_| !is_told) else { continue };
        let of_loader = never().filter(|directory| {
            let above = loader_asks_below(directory.path.as_bytes());
            above.is_some_and(|above| never().any(|other| other.path.as_bytes() == above))
        });
        let of_loader = if searched == Searched::Libraries { of_loader.count() as u64 } else { 0 };
        let searched = SearchedInVain {
            share,
            searched,
            set: SetVariables::of(searched, lists),
            directories: directories as u64,
            of_loader,
            names: path.names,
            looked_for: path.examples.clone(),
            examples: never().take(EXAMPLES).map(|directory| directory.path.clone()).collect(),
        };
        found.push(RunFinding::new(RunFound::SearchedInVain(searched), severity));
    }
    found
}

/// The list in whose directories most time was spent in vain. That was counted, and is told instead of what only the names say that were looked for: of the same
/// list, or mostly of the same calls.
fn listed_in_vain(
    summary: &TraceSummary,
    asked: &[TraceList],
    of_names: &mut Vec<RunFinding>,
) -> Option<(ListedInVain, Severity)> {
    // Of equals the first.
    let long = asked.iter().rev().filter(|list| list.in_vain >= LISTED_MIN);
    let list = long.max_by_key(|list| list.tasks_ns)?;
    let share = share(list.calls, list.tasks_ns, summary);
    let severity = judged(share, SHARE_MIN)?;
    of_names.retain(|finding| {
        let (calls, searched) = match &finding.found {
            RunFound::AskedInVain(found) => (found.share.calls, found.searched),
            RunFound::SearchedInVain(found) => (found.share.calls, found.searched),
            _ => return true,
        };
        let factor = if searched == Searched::Anything { OTHERS_FACTOR_UNKNOWN } else { OTHERS_FACTOR };
        searched.variable() != Some(&list.variable) && calls > factor * list.calls
    });
    let counts = |list: &TraceList| (list.in_vain, list.calls, list.tasks_ns);
    let alike = asked.iter().filter(|other| other.variable != list.variable && counts(other) == counts(list));
    let alike = alike.map(|other| other.variable.clone()).collect();
    Some((ListedInVain { share, list: list.clone(), alike }, severity))
}

/// Its part of the time of all failed look-ups along the path.
fn time_in_vain(path: &SearchPath, calls: u64) -> Nanoseconds {
    let share = part(calls.min(path.absent), path.absent);
    Nanoseconds((path.absent_ns.0 as f64 * share) as u64)
}

/// What is asked in vain is asked again and again, too, and told already.
fn asked_again(summary: &TraceSummary, in_vain: u64) -> Option<RunFinding> {
    let repeats = &summary.repeats;
    let told: BTreeSet<&str> = summary.in_vain.most.iter().map(|directory| directory.path.as_str()).collect();
    let is_vain = |path: &str| {
        told.contains(path) || path.rsplit_once('/').is_some_and(|(directory, _)| told.contains(directory))
    };
    let rest = repeats.repeats.saturating_sub(in_vain);
    let time = part(rest, repeats.repeats) * repeats.time_ns.0 as f64;
    let share = share(rest, Nanoseconds(time as u64), summary);
    let severity = judged(share, REPEATS_MIN)?;
    let most = repeats.most.iter().find(|question| !is_vain(&question.path))?.clone();
    let found = AskedAgain { share, own: repeats.own_repeats, of: repeats.repeats, most };
    Some(RunFinding::new(RunFound::AskedAgain(found), severity))
}

fn long_call(summary: &TraceSummary) -> Option<RunFinding> {
    let storage = summary.time.storage_ns;
    let is_storage = |call: &&TraceCall| call.path.as_deref().is_some_and(is_storage);
    let is_lock = |call: &&TraceCall| matches!(&call.name[..], "flock" | "fcntl" | "fcntl64");
    // What never came back is told already.
    let came_back =
        |call: &&TraceCall| summary.never_back.longest.iter().all(|told| told.call.call != call.call);
    let call = summary
        .slowest
        .iter()
        .filter(is_storage)
        .filter(|call| !is_lock(call))
        .filter(came_back)
        .max_by_key(|call| call.duration_ns)?;
    let share = part(call.duration_ns.0, storage.0);
    if call.duration_ns < LONG_CALL || share < LONG_SHARE {
        return None;
    }
    let severity = if share >= SHARE_SERIOUS { Severity::Serious } else { Severity::Warning };
    let found = LongCall { call: call.clone(), storage_ns: storage };
    Some(RunFinding::new(RunFound::LongCall(found), severity))
}

fn is_storage(path: &str) -> bool {
    path.starts_with("/dev/shm/")
        || !["/dev/", "/proc/", "/sys/"].iter().any(|system| path.starts_with(system))
}

#[cfg(test)]
mod tests;
