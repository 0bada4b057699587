//! What is left when the name service is taken away: client, network, server.

use iolag_model::{
    Connecting, Counted, Lack, Layer, Nanoseconds, Part, PartReason, Probed, RequestTimes, SeenPlace,
    ServedBy, UNKNOWN_FUNCTION, Waits,
};

/// Our own requests are made one after the other: if all of a mount took longer than we waited, others made some. So much longer may come of
/// counters in whole milliseconds.
const OTHERS_FACTOR: f64 = 1.2;
/// A client that reads ahead or writes behind has so many under way at the same time, at most.
const SEVERAL_FACTOR: f64 = 16.0;
/// Looks that found a process waiting nobody knows where: of more than this share nothing can be told.
const UNKNOWN_SHARE: f64 = 0.1;

/// How the requests behind our calls follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Each is waited for before the next is made.
    OneByOne,
    /// Some are made before they are needed, or after: reading ahead, writing behind, attributes of the names that come next.
    Several,
}

/// Who answers, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answering<'a> {
    pub(super) served_by: ServedBy,
    pub(super) connecting: &'a Connecting,
    pub(super) pace: Pace,
}

/// Divides `time` as the time of these probes is divided. `start` is what each of them takes without asking for anything.
pub(super) fn shares(
    seen: &SeenPlace,
    probes: &[&Probed],
    start: Nanoseconds,
    time: Nanoseconds,
) -> Vec<Part> {
    // Lustre asks for the attributes of the names that come next.
    let pace = if seen.file_system.kind == "lustre" { Pace::Several } else { Pace::OneByOne };
    let answering = Answering { served_by: seen.served_by, connecting: &seen.connecting, pace };
    divided(&Total::of(probes, start), answering, time)
}

/// Divides `time` as this total is divided.
pub(super) fn divided(total: &Total, answering: Answering<'_>, time: Nanoseconds) -> Vec<Part> {
    let mut parts = match &total.counted {
        Counted::Requests(times) => of_requests(total, times, answering),
        Counted::Calls(_) => undivided(total, Lack::Requests),
        Counted::Unknown(sentence) => undivided(total, Lack::CountersUnread(sentence.clone())),
        Counted::Nothing => match answering.served_by {
            ServedBy::ThisMachine => vec![part([Layer::Client], total.took, PartReason::OwnMachine, None)],
            ServedBy::Process => of_serving_process(total),
            ServedBy::Servers | ServedBy::Unknown => undivided(total, Lack::Counters),
        },
    };
    let scale = time.as_seconds() / total.took.as_seconds().max(f64::MIN_POSITIVE);
    for part in &mut parts {
        part.time_ns = scaled(part.time_ns, scale);
    }
    parts
}

/// Several probes, or calls, together.
pub(super) struct Total {
    pub(super) took: Nanoseconds,
    /// Of it, the programs' own work and their start.
    pub(super) own: Nanoseconds,
    pub(super) counted: Counted,
    pub(super) waits: Waits,
}

impl Total {
    fn of(probes: &[&Probed], start: Nanoseconds) -> Self {
        let sum = |of: fn(&Probed) -> Nanoseconds| Nanoseconds(probes.iter().map(|probe| of(probe).0).sum());
        let took = sum(|probe| probe.took_ns);
        let start = Nanoseconds(start.0.saturating_mul(probes.len() as u64));
        let own = sum(|probe| probe.processor_ns).max(start).min(took);
        let mut waits = Waits::default();
        probes.iter().for_each(|probe| waits.join(&probe.waits));
        Self { took, own, counted: counted(probes), waits }
    }

    fn but_own(&self) -> Nanoseconds {
        Nanoseconds(self.took.0 - self.own.0)
    }
}

/// What was counted during all of them.
fn counted(probes: &[&Probed]) -> Counted {
    let mut all: Vec<RequestTimes> = Vec::new();
    for probe in probes {
        match &probe.counted {
            Counted::Requests(times) => all.extend(times.iter().cloned()),
            other => return other.clone(),
        }
    }
    Counted::Requests(all)
}

/// The queue is the client's, the round trip the network's and the server's.
fn of_requests(total: &Total, times: &[RequestTimes], answering: Answering<'_>) -> Vec<Part> {
    let sum = |of: fn(&RequestTimes) -> u64| times.iter().map(of).sum::<u64>();
    let requests = sum(|times| times.requests);
    let [queue, round_trip, execute] =
        [sum(|times| times.queue_ns.0), sum(|times| times.round_trip_ns.0), sum(|times| times.execute_ns.0)]
            .map(Nanoseconds);
    let at_once = execute.as_seconds() / total.took.as_seconds().max(f64::MIN_POSITIVE);
    let most = if answering.pace == Pace::Several { SEVERAL_FACTOR } else { OTHERS_FACTOR };
    if at_once > most {
        return undivided(total, Lack::Others);
    }
    // Of several at the same time each has its part of what was waited.
    let overlaps = at_once > OTHERS_FACTOR;
    let waited =
        |time: Nanoseconds| if overlaps { scaled(time, 1.0 / at_once) } else { time }.min(total.took);
    let lack = overlaps.then_some(Lack::Overlap);
    let round_trips = waited(round_trip);
    let client = Nanoseconds(total.took.0 - round_trips.0);
    let queue = PartReason::Queue { queue_ns: if overlaps { queue } else { queue.min(client) }, requests };
    let mut parts = vec![part([Layer::Client], client, queue, lack.clone())];
    let told = if overlaps { round_trip } else { round_trips };
    let reason = PartReason::RoundTrip { round_trip_ns: told, requests };
    let together = |why: &str| {
        let lack = Some(Lack::Way(why.to_owned()));
        part([Layer::Network, Layer::Server], round_trips, reason.clone(), lack)
    };
    match answering.connecting {
        Connecting::Took(connect) => {
            let way = waited(Nanoseconds(connect.0.saturating_mul(requests))).min(round_trips);
            let reason_of_way = PartReason::Way { connect_ns: *connect, requests };
            parts.push(part([Layer::Network], way, reason_of_way, lack.clone()));
            parts.push(part([Layer::Server], Nanoseconds(round_trips.0 - way.0), reason, lack));
        }
        Connecting::Unknown(why) => parts.push(together(why)),
        Connecting::NoServer => parts.push(together("its address is not known")),
    }
    parts
}

/// Where it was found waiting is for how long it waited there.
fn of_serving_process(total: &Total) -> Vec<Part> {
    let Waits { looks, functions } = &total.waits;
    let looks = looks.saturating_sub(total.waits.found_in(is_for_another_task));
    let unknown = total.waits.found_in(|function| function == UNKNOWN_FUNCTION);
    // A look at several tasks may find more than one of them.
    let found = total.waits.found_in(is_of_serving_process).min(looks);
    if looks == 0 || unknown as f64 > looks as f64 * UNKNOWN_SHARE {
        let waited =
            part([Layer::Client, Layer::Server], total.but_own(), PartReason::Rest, Some(Lack::Functions));
        return vec![waited, own(total)];
    }
    let waited = scaled(total.took, found as f64 / looks as f64);
    let function = functions.iter().find(|(function, _)| is_of_serving_process(function));
    let function = function.map_or_else(String::new, |(function, _)| function.clone());
    let reason = PartReason::ServingProcess { function, found, looks };
    vec![
        part([Layer::Server], waited, reason, None),
        part([Layer::Client], Nanoseconds(total.took.0 - waited.0), PartReason::OwnMachine, None),
    ]
}

/// Where the kernel's FUSE waits for an answer.
fn is_of_serving_process(function: &str) -> bool {
    ["request_wait_answer", "fuse_", "__fuse_"].iter().any(|begin| function.starts_with(begin))
}

/// Where the kernel waits until another task has its answer about the same name, directory or page. Whose time that is, the look at that one tells.
fn is_for_another_task(function: &str) -> bool {
    const BEGINS: [&str; 5] =
        ["d_alloc_parallel", "d_wait_lookup", "rwsem_down_", "folio_wait_bit", "wait_on_page_bit"];
    BEGINS.iter().any(|begin| function.starts_with(begin))
}

fn undivided(total: &Total, lack: Lack) -> Vec<Part> {
    let layers = [Layer::Client, Layer::Network, Layer::Server];
    vec![part(layers, total.but_own(), PartReason::Rest, Some(lack)), own(total)]
}

fn own(total: &Total) -> Part {
    part([Layer::Client], total.own, PartReason::OwnMachine, None)
}

fn part<const LAYERS: usize>(
    layers: [Layer; LAYERS],
    time_ns: Nanoseconds,
    reason: PartReason,
    lack: Option<Lack>,
) -> Part {
    Part { layers: layers.to_vec(), time_ns, share: 0.0, mount: None, reason, lack }
}

fn scaled(time: Nanoseconds, factor: f64) -> Nanoseconds {
    Nanoseconds((time.0 as f64 * factor).round() as u64)
}
