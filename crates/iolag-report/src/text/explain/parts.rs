//! The parts of the time in words, for directories and for commands.

use iolag_model::{
    Lack, Layer, NameTimes, Nanoseconds, Part, PartReason, ServedBy, TraceActivityKind, counted, format_count,
};

/// Where the text behind a share and a time begins.
pub(super) const PART_INDENT: &str = "                   ";
/// Less is nobody's concern.
const SHARE_LEAST: f64 = 0.005;

/// What the words of a part need besides it.
pub(super) struct OfWhole<'a> {
    /// Who answers for what it is of.
    pub(super) served_by: ServedBy,
    /// Of so many listings its numbers are.
    pub(super) listings: u64,
    /// `ls -l` against `ls -n`, where they were run.
    pub(super) names: Option<&'a NameTimes>,
    /// Of a command's mount: how many calls were made, its type, and where it is.
    pub(super) mount: Option<(u64, &'a str, &'a str)>,
}

/// How several layers are joined.
#[derive(Clone, Copy)]
pub(super) enum Joined {
    And,
    Or,
}

/// A line for each part that anybody cares for.
pub(super) fn part_lines<'a>(parts: &[Part], of_whole: impl Fn(&Part) -> OfWhole<'a>) -> Vec<String> {
    let told = parts.iter().filter(|part| part.share >= SHARE_LEAST);
    let line = |part: &Part| {
        let (share, time) = (percent(part.share), part.time_ns.to_string());
        format!("  {share:>5}  {time:>8}  {}", part_line(part, &of_whole(part)))
    };
    told.map(line).collect()
}

/// What is not all of it is not told as all of it.
pub(super) fn percent(share: f64) -> String {
    let rounded = (share * 100.0).round();
    if rounded >= 100.0 && share < 1.0 { ">99 %".into() } else { format!("{rounded:.0} %") }
}

/// Whose a part is.
pub(super) fn layers(part: &Part, of_whole: &OfWhole<'_>, joined: Joined) -> String {
    let mount = part.mount.as_deref();
    let is_of_process = of_whole.served_by == ServedBy::Process;
    let name = |layer: &Layer| match layer {
        Layer::NameService => "the name service",
        Layer::Client => "this machine",
        Layer::Network => "the network",
        Layer::Server if is_of_process && mount.is_none() => "the process that serves it",
        Layer::Server if is_of_process => "the process that serves",
        Layer::Server => "the server",
        Layer::LookUps => "look-ups",
        Layer::Processor => "the processor",
        Layer::Elsewhere => "waiting for what is no storage",
    };
    let names: Vec<_> = part.layers.iter().map(name).collect();
    let word = match joined {
        Joined::And => " and ",
        Joined::Or => " or ",
    };
    let of = match (mount, &part.layers[..]) {
        (None, _) | (_, [Layer::Client]) => String::new(),
        (Some(mount), [.., Layer::Server]) if is_of_process => format!(" {mount}"),
        (Some(mount), [Layer::Network]) => format!(" to {mount}"),
        (Some(mount), _) => format!(" of {mount}"),
    };
    match names.split_last() {
        None => "nobody knows whose".into(),
        Some((last, [])) => format!("{last}{of}"),
        Some((last, others)) => format!("{}{word}{last}{of}", others.join(", ")),
    }
}

fn part_line(part: &Part, of_whole: &OfWhole<'_>) -> String {
    let of = match part.layers[..] {
        [] => "cannot be told".to_owned(),
        [_] => layers(part, of_whole, Joined::And),
        _ => format!("{}, which cannot be told apart", layers(part, of_whole, Joined::And)),
    };
    let lack = part.lack.as_ref().map(|lack| format!(" ({})", lacks(lack))).unwrap_or_default();
    format!("{of}: {}{lack}", reason(&part.reason, of_whole))
}

fn reason(reason: &PartReason, of_whole: &OfWhole<'_>) -> String {
    let told = |requests: u64| counted(requests.div_ceil(of_whole.listings), "request", "requests");
    let each = |time: Nanoseconds, requests: u64| Nanoseconds(time.0 / requests.max(1));
    match reason {
        PartReason::Difference => {
            let (longer, pairs, cut_off) =
                of_whole.names.map_or((0, 0, 0), |names| (names.longer, names.pairs, names.cut_off));
            let ends = if cut_off > 0 { ", where it did not come to its end" } else { "" };
            format!("`ls -l` took longer than `ls -n` in {longer} of {pairs} pairs{ends}")
        }
        PartReason::Queue { requests: 0, .. } => "no request was sent: it is its own work".into(),
        PartReason::Queue { queue_ns, requests } => format!(
            "{} waited {} each to be sent; the rest is its own work",
            told(*requests),
            each(*queue_ns, *requests)
        ),
        PartReason::Way { connect_ns, requests } => {
            format!(
                "a connection opens in {connect_ns}, and so long was the way of each of {}",
                told(*requests)
            )
        }
        PartReason::RoundTrip { round_trip_ns, requests } => format!(
            "{} were answered {} after they were sent",
            told(*requests),
            each(*round_trip_ns, *requests)
        ),
        PartReason::ServingProcess { function, found, looks } => {
            format!("in {found} of {looks} looks at it, it waited for an answer of that process ({function})")
        }
        PartReason::OwnMachine | PartReason::Rest if of_whole.mount.is_some() => {
            let (calls, kind, point) = of_whole.mount.unwrap_or_default();
            format!("{} on {kind} at {point}", counted(calls, "call", "calls"))
        }
        PartReason::OwnMachine => "programs, the kernel, and devices of this machine".into(),
        PartReason::Rest => "waiting".into(),
        PartReason::Absent { absent, look_ups, tasks_ns } => format!(
            "{} of {} found nothing, {} each",
            format_count(*absent),
            format_count(*look_ups),
            each(*tasks_ns, *absent)
        ),
        PartReason::NameCalls { calls } => {
            format!("{} to its daemons, servers and files", counted(*calls, "call", "calls"))
        }
        PartReason::Worked => "its own work, between calls".into(),
        PartReason::BetweenCalls => {
            "no call, and no work: pages of mapped files, locks, or others had the processor".into()
        }
        PartReason::Waited(waits) => waits_told(waits),
    }
}

/// For what was waited, most first.
pub(super) fn waits_told(waits: &[(TraceActivityKind, Nanoseconds)]) -> String {
    let told = |(kind, time): &(TraceActivityKind, Nanoseconds)| format!("{} for {}", time, awaited(kind));
    waits.iter().map(told).collect::<Vec<_>>().join(", ")
}

/// For what is waited.
pub(super) const fn awaited(kind: &TraceActivityKind) -> &'static str {
    match kind {
        TraceActivityKind::Time => "time to pass",
        TraceActivityKind::Network => "what it speaks with over sockets",
        TraceActivityKind::Processes => "processes that it has started",
        _ => "locks of files, pipes, terminals and devices",
    }
}

pub(super) fn lacks(lack: &Lack) -> String {
    match lack {
        Lack::Steadiness => "it was not so every time, and may be an accident".into(),
        Lack::Counters => "iolag can read counters of NFS and Lustre only".into(),
        Lack::CountersUnread(sentence) => sentence.clone(),
        Lack::Others => "others asked it for so much meanwhile that its counters do not tell".into(),
        Lack::Overlap => "several were under way at the same time, and all of them are divided alike".into(),
        Lack::Requests => {
            "of Lustre only the counters of calls can be read here, not those of requests, which root may read".into()
        }
        Lack::Way(why) => format!("how far the server is away is not known: {why}"),
        Lack::Functions => {
            "the kernel does not tell us in which function a process waits; root is told".into()
        }
    }
}
