//! What is left when the name service is taken away: client, network, server.

use iolag_model::{
    Connecting, Counted, Lack, Layer, Nanoseconds, Part, PartReason, Probed, RequestTimes, SeenPlace,
    ServedBy, UNKNOWN_FUNCTION, Waits,
};

/// Our own requests are made one after the other: if all of a mount took longer than we waited, others made some. So much longer may come of
/// counters in whole milliseconds.
const OTHERS_FACTOR: f64 = 1.2;
/// Looks that found a process waiting nobody knows where: of more than this share nothing can be told.
const UNKNOWN_SHARE: f64 = 0.1;

/// Divides `time` as the time of these probes is divided. `start` is what each of them takes without asking for anything.
pub(super) fn shares(
    seen: &SeenPlace,
    probes: &[&Probed],
    start: Nanoseconds,
    time: Nanoseconds,
) -> Vec<Part> {
    let total = Total::of(probes, start);
    let mut parts = match &total.counted {
        Counted::Requests(times) => of_requests(&total, times, &seen.connecting),
        Counted::Calls(_) => undivided(&total, Lack::Requests),
        Counted::Unknown(sentence) => undivided(&total, Lack::CountersUnread(sentence.clone())),
        Counted::Nothing => match seen.served_by {
            ServedBy::ThisMachine => vec![part([Layer::Client], total.took, PartReason::OwnMachine, None)],
            ServedBy::Process => of_serving_process(&total),
            ServedBy::Servers | ServedBy::Unknown => undivided(&total, Lack::Counters),
        },
    };
    let scale = time.as_seconds() / total.took.as_seconds().max(f64::MIN_POSITIVE);
    for part in &mut parts {
        part.time_ns = scaled(part.time_ns, scale);
    }
    parts
}

/// Several probes together.
struct Total {
    took: Nanoseconds,
    /// Of it, the programs' own work and their start.
    own: Nanoseconds,
    counted: Counted,
    waits: Waits,
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
fn of_requests(total: &Total, times: &[RequestTimes], connecting: &Connecting) -> Vec<Part> {
    let sum = |of: fn(&RequestTimes) -> u64| times.iter().map(of).sum::<u64>();
    let requests = sum(|times| times.requests);
    let [queue, round_trip, execute] =
        [sum(|times| times.queue_ns.0), sum(|times| times.round_trip_ns.0), sum(|times| times.execute_ns.0)]
            .map(Nanoseconds);
    if execute.as_seconds() > total.took.as_seconds() * OTHERS_FACTOR {
        return undivided(total, Lack::Others);
    }
    let round_trip = round_trip.min(total.took);
    let client = Nanoseconds(total.took.0 - round_trip.0);
    let queue = PartReason::Queue { queue_ns: queue.min(client), requests };
    let mut parts = vec![part([Layer::Client], client, queue, None)];
    let reason = PartReason::RoundTrip { round_trip_ns: round_trip, requests };
    match connecting {
        Connecting::Took(connect) => {
            let way = Nanoseconds(connect.0.saturating_mul(requests)).min(round_trip);
            let reason_of_way = PartReason::Way { connect_ns: *connect, requests };
            parts.push(part([Layer::Network], way, reason_of_way, None));
            parts.push(part([Layer::Server], Nanoseconds(round_trip.0 - way.0), reason, None));
        }
        Connecting::Unknown(why) => {
            let lack = Some(Lack::Way(why.clone()));
            parts.push(part([Layer::Network, Layer::Server], round_trip, reason, lack));
        }
        Connecting::NoServer => {
            let lack = Some(Lack::Way("its address is not known".into()));
            parts.push(part([Layer::Network, Layer::Server], round_trip, reason, lack));
        }
    }
    parts
}

/// Where it was found waiting is for how long it waited there.
fn of_serving_process(total: &Total) -> Vec<Part> {
    let Waits { looks, functions } = &total.waits;
    let unknown = total.waits.found_in(|function| function == UNKNOWN_FUNCTION);
    let found = total.waits.found_in(is_of_serving_process);
    if *looks == 0 || unknown as f64 > *looks as f64 * UNKNOWN_SHARE {
        let waited =
            part([Layer::Client, Layer::Server], total.but_own(), PartReason::Rest, Some(Lack::Functions));
        return vec![waited, own(total)];
    }
    let waited = scaled(total.took, found as f64 / *looks as f64);
    let function = functions.iter().find(|(function, _)| is_of_serving_process(function));
    let function = function.map_or_else(String::new, |(function, _)| function.clone());
    let reason = PartReason::ServingProcess { function, found, looks: *looks };
    vec![
        part([Layer::Server], waited, reason, None),
        part([Layer::Client], Nanoseconds(total.took.0 - waited.0), PartReason::OwnMachine, None),
    ]
}

/// Where the kernel's FUSE waits for an answer.
fn is_of_serving_process(function: &str) -> bool {
    ["request_wait_answer", "fuse_", "__fuse_"].iter().any(|begin| function.starts_with(begin))
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
    Part { layers: layers.to_vec(), time_ns, share: 0.0, reason, lack }
}

fn scaled(time: Nanoseconds, factor: f64) -> Nanoseconds {
    Nanoseconds((time.0 as f64 * factor).round() as u64)
}
