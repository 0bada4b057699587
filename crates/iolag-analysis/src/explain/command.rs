//! Why a command takes its time: from what its trace and the counters of its mounts say to the layer that takes most.

use iolag_model::{
    Counted, ExplanationWord, Layer, Nanoseconds, Part, PartReason, SeenCommand, SeenMount, ServedBy,
    TraceAbout, TraceActivity, TraceActivityKind, TraceMount, Waits,
};

use super::file_system::{Answering, Pace, Total, divided};
use super::{SLOW, put_in_order, word_of};
use crate::finding::of_runs::RunFinding;
use crate::run::trace::findings::findings;

/// Why a command takes its time.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandExplanation {
    /// What was seen.
    pub seen: SeenCommand,
    /// What it comes to.
    pub word: ExplanationWord,
    /// How long it took, without what tracing took.
    pub took_ns: Nanoseconds,
    /// Where the time went; most first.
    pub parts: Vec<Part>,
    /// What to change in how it asks, the gravest first.
    pub findings: Vec<RunFinding>,
}

/// What was seen of a command comes to this.
pub fn explain_command(seen: SeenCommand) -> CommandExplanation {
    let took_ns = Nanoseconds(seen.elapsed.span_ns.0.saturating_sub(seen.elapsed.tracing_ns.0));
    let mut parts = vec![look_ups(&seen), name_service(&seen), waited(&seen)];
    parts.extend(one(&seen, &TraceActivityKind::Processor, Layer::Processor, PartReason::Worked));
    parts.extend(one(&seen, &TraceActivityKind::Unknown, None, PartReason::BetweenCalls));
    parts.extend(seen.elapsed.activities.iter().flat_map(|activity| match &activity.kind {
        TraceActivityKind::Storage(mount) => of_mount(&seen, mount, activity.elapsed_ns),
        _ => Vec::new(),
    }));
    put_in_order(&mut parts, took_ns);
    let word = if took_ns < SLOW { ExplanationWord::NotSlow } else { word_of(&parts) };
    let findings = findings(&seen.summary, &about(&seen), &seen.lists);
    CommandExplanation { seen, word, took_ns, parts, findings }
}

/// What the trace of it would say of itself.
fn about(seen: &SeenCommand) -> TraceAbout {
    let mounts = seen.mounts.iter().map(|mount| TraceMount {
        point: mount.file_system.mount_point.clone(),
        kind: mount.file_system.kind.clone(),
        source: mount.file_system.source.clone(),
    });
    let lists = seen.lists.iter().map(|list| list.variable.clone()).collect();
    TraceAbout { lists, mounts: mounts.collect(), ..TraceAbout::default() }
}

fn part(layer: impl Into<Option<Layer>>, time_ns: Nanoseconds, reason: PartReason) -> Part {
    Part { layers: layer.into().into_iter().collect(), time_ns, share: 0.0, mount: None, reason, lack: None }
}

fn those(
    seen: &SeenCommand,
    is_meant: impl Fn(&TraceActivityKind) -> bool,
) -> impl Iterator<Item = &TraceActivity> {
    seen.elapsed.activities.iter().filter(move |activity| is_meant(&activity.kind))
}

fn sum<'a>(activities: impl Iterator<Item = &'a TraceActivity>, of: fn(&TraceActivity) -> u64) -> u64 {
    activities.map(of).sum()
}

fn one(
    seen: &SeenCommand,
    kind: &TraceActivityKind,
    layer: impl Into<Option<Layer>>,
    reason: PartReason,
) -> Option<Part> {
    let time = those(seen, |other| other == kind).next()?.elapsed_ns;
    Some(part(layer, time, reason))
}

/// Look-ups that found nothing, wherever.
fn look_ups(seen: &SeenCommand) -> Part {
    let absent = || those(seen, |kind| matches!(kind, TraceActivityKind::LookUps(_)));
    let reason = PartReason::Absent {
        absent: sum(absent(), |activity| activity.calls),
        look_ups: seen.summary.lookups.calls,
        tasks_ns: Nanoseconds(sum(absent(), |activity| activity.tasks_ns.0)),
    };
    part(Layer::LookUps, Nanoseconds(sum(absent(), |activity| activity.elapsed_ns.0)), reason)
}

fn name_service(seen: &SeenCommand) -> Part {
    let calls = || those(seen, |kind| *kind == TraceActivityKind::NameService);
    let reason = PartReason::NameCalls { calls: sum(calls(), |activity| activity.calls) };
    part(Layer::NameService, Nanoseconds(sum(calls(), |activity| activity.elapsed_ns.0)), reason)
}

fn waited(seen: &SeenCommand) -> Part {
    let is_waiting = |kind: &TraceActivityKind| {
        use TraceActivityKind::{Network, Others, Processes, Time};
        matches!(kind, Network | Others | Processes | Time)
    };
    let waits = || those(seen, is_waiting);
    // Most first, as they are.
    let each = waits().filter(|activity| activity.elapsed_ns > Nanoseconds::ZERO);
    let reason =
        PartReason::Waited(each.map(|activity| (activity.kind.clone(), activity.elapsed_ns)).collect());
    part(Layer::Elsewhere, Nanoseconds(sum(waits(), |activity| activity.elapsed_ns.0)), reason)
}

/// What was asked of a mount and was there, divided as all that was asked of it is.
fn of_mount(seen: &SeenCommand, mount: &str, elapsed: Nanoseconds) -> Vec<Part> {
    let Some(known) = seen.mounts.iter().find(|known| known.file_system.mount_point == mount) else {
        // There are too many of them for each to be looked at.
        let all = [Layer::Client, Layer::Network, Layer::Server].to_vec();
        let rest = part(None, elapsed, PartReason::Rest);
        return vec![Part { layers: all, mount: Some(mount.to_owned()), ..rest }];
    };
    let total = Total {
        took: of_calls_on(seen, |other| other == mount),
        own: Nanoseconds::ZERO,
        counted: known.counted.clone(),
        waits: waits_on(seen, known),
    };
    let answering =
        Answering { served_by: known.served_by, connecting: &known.connecting, pace: Pace::Several };
    let mut parts = divided(&total, answering, elapsed);
    parts.iter_mut().for_each(|part| part.mount = Some(mount.to_owned()));
    parts
}

/// How long all tasks were in calls on mounts.
fn of_calls_on(seen: &SeenCommand, is_meant: impl Fn(&str) -> bool) -> Nanoseconds {
    let calls = those(seen, |kind| match kind {
        TraceActivityKind::LookUps(mount) | TraceActivityKind::Storage(mount) => is_meant(mount),
        _ => false,
    });
    Nanoseconds(sum(calls, |activity| activity.tasks_ns.0))
}

/// So many of the looks were while tasks were in calls on what processes serve. The kernel's functions do not say which of several mounts it is.
fn waits_on(seen: &SeenCommand, mount: &SeenMount) -> Waits {
    if mount.served_by != ServedBy::Process || mount.counted != Counted::Nothing || seen.waits.looks == 0 {
        return Waits::default();
    }
    let is_served = |point: &str| {
        let known = seen.mounts.iter().find(|known| known.file_system.mount_point == point);
        known.is_some_and(|known| known.served_by == ServedBy::Process)
    };
    let took = of_calls_on(seen, is_served).as_seconds();
    let each = seen.looked_ns.as_seconds() / seen.waits.looks as f64;
    let looks = (took / each.max(f64::MIN_POSITIVE)).round() as u64;
    Waits { looks: looks.max(1), functions: seen.waits.functions.clone() }
}

#[cfg(test)]
mod tests;
