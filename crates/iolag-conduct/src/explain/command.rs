//! A command is traced, and what its mounts count meanwhile is read before and after.

use std::collections::HashMap;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;

use iolag_model::{
    Connecting, FileSystem, Nanoseconds, SeenCommand, SeenMount, TraceAbout, TraceActivityKind, TraceElapsed,
    TraceMount, TraceNetwork, Trust, counted,
};

use super::attending::Limit;
use super::conducting::connecting;
use crate::contact::start::Keeper;
use crate::environment::client_counters::ClientCounters;
use crate::environment::{file_system, memory, served_by};
use crate::failure::Failure;
use crate::trace::capture::{
    Capture, CaptureAttendant, CaptureSubject, CapturedTime, Destination, Purpose, conduct_capture,
};
use crate::trace::reading::trace_content;

/// Mounts that are looked at.
const MOUNTS_MAX: usize = 64;
/// How far the server of a mount with less of the time is away nobody wants to know.
const SHARE_LEAST: f64 = 0.005;
/// How long that may take.
const CONNECTING: Limit =
    Limit { silence: Nanoseconds::from_seconds(15), in_all: Nanoseconds::from_seconds(15) };

/// Runs a command (program and arguments), and sees where its time goes. Calls on sockets are traced, too: what is asked of name services is among them. Ends it
/// at `deadline`, if there is one.
///
/// # Errors
/// If it cannot be traced.
pub fn conduct_explain_command(
    command: Vec<OsString>,
    deadline: Option<Nanoseconds>,
    keeper: &Keeper,
    attendant: &mut dyn CaptureAttendant,
) -> Result<SeenCommand, Failure> {
    let capture = Capture {
        subject: CaptureSubject::Command(command),
        network: TraceNetwork::Traced,
        destination: Destination::Nowhere,
        purpose: Purpose::Explain { deadline },
    };
    let load = memory::capture(Path::new("/proc")).load.map(|[of_a_minute, ..]| of_a_minute);
    let mut counting = Counting { attendant, before: HashMap::new() };
    let captured = conduct_capture(&capture, keeper, &mut counting)?;
    let before = counting.before;
    let CapturedTime { elapsed, looked, past_deadline } =
        captured.explained.ok_or_else(|| Failure::bug("the time of the command was not divided"))?;
    let about = captured.about;
    let content = trace_content(about.clone(), captured.summary, captured.ending);
    let mut seen = SeenCommand {
        program: about.program.unwrap_or_default(),
        ended: content.ending.ended,
        cut: content.ending.cut,
        past_deadline_ns: past_deadline,
        left: captured.left,
        processor_ns: content.ending.processor.unwrap_or_default().program_ns,
        cost: about.cost.unwrap_or_default(),
        waits: looked.waits,
        looked_ns: looked.time_ns,
        lists: content.ending.lists,
        trust: captured.trust.into_iter().chain(content.trust).collect(),
        summary: content.summary,
        elapsed,
        mounts: Vec::new(),
    };
    seen.mounts = mounts(&seen, &about.mounts, &before, keeper);
    let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    seen.trust.extend(doubts(&seen.elapsed, load, cpus));
    Ok(seen)
}

/// What makes times longer than they are without tracing, or in quiet.
fn doubts(elapsed: &TraceElapsed, load: Option<f64>, cpus: usize) -> Vec<Trust> {
    let busy = load.filter(|load| *load > cpus as f64).map(|load| Trust {
        doubt: format!(
            "the load was {load:.1} on {} when it began, and whatever waits for one seems to be slow",
            counted(cpus as u64, "processor", "processors")
        ),
        advice: "ask again when less is going on".to_owned(),
    });
    let without = Nanoseconds(elapsed.span_ns.0.saturating_sub(elapsed.tracing_ns.0));
    let is_mostly_tracing = elapsed.tracing_ns > without && elapsed.tracing_ns > Nanoseconds::ZERO;
    let traced = is_mostly_tracing.then(|| Trust {
        doubt: format!(
            "tracing took {}, more than all that is left ({without}): what its many short calls take is not certain",
            elapsed.tracing_ns
        ),
        advice: "time the command without tracing, too".to_owned(),
    });
    busy.into_iter().chain(traced).collect()
}

/// Reads counters right before the command is started.
struct Counting<'a> {
    attendant: &'a mut dyn CaptureAttendant,
    before: HashMap<String, ClientCounters>,
}

impl CaptureAttendant for Counting<'_> {
    fn announce(&mut self, about: &TraceAbout) {
        self.attendant.announce(about);
        let counts = |mount: &&TraceMount| matches!(mount.kind.as_str(), "nfs" | "nfs4" | "lustre");
        self.before = about
            .mounts
            .iter()
            .filter(counts)
            .take(MOUNTS_MAX)
            .map(|mount| (mount.point.clone(), counters(&as_mounted(mount))))
            .collect();
    }

    fn say(&mut self, sentence: &str) {
        self.attendant.say(sentence);
    }
}

fn counters(file_system: &FileSystem) -> ClientCounters {
    ClientCounters::take(file_system, Path::new("/proc"), Path::new("/sys"))
}

fn as_mounted(mount: &TraceMount) -> FileSystem {
    FileSystem {
        kind: mount.kind.clone(),
        source: mount.source.clone(),
        mount_point: mount.point.clone(),
        ..FileSystem::default()
    }
}

/// Those that the command asked anything of.
fn mounts(
    seen: &SeenCommand,
    mounted: &[TraceMount],
    before: &HashMap<String, ClientCounters>,
    keeper: &Keeper,
) -> Vec<SeenMount> {
    let mut mounts: Vec<SeenMount> = Vec::new();
    for activity in &seen.elapsed.activities {
        let (TraceActivityKind::LookUps(point) | TraceActivityKind::Storage(point)) = &activity.kind else {
            continue;
        };
        if mounts.len() >= MOUNTS_MAX || mounts.iter().any(|known| known.file_system.mount_point == *point) {
            continue;
        }
        // The last covers those that were mounted there before.
        let Some(mount) = mounted.iter().rfind(|mount| mount.point == *point) else { continue };
        let now = file_system::presume(Path::new(point), Path::new("/proc"), Path::new("/sys"));
        let file_system = if now.mount_point == *point { now } else { as_mounted(mount) };
        let earlier = before.get(point).cloned().unwrap_or_else(ClientCounters::nothing);
        let counted = counters(&file_system).since(&earlier);
        let is_worth_it = activity.elapsed_ns.as_seconds() >= SHARE_LEAST * seen.elapsed.span_ns.as_seconds();
        let connecting = if is_worth_it {
            let unknown = |_| Connecting::Unknown("nobody waited for a connection to it".into());
            connecting(&file_system, CONNECTING, &keeper.signals).unwrap_or_else(unknown)
        } else {
            Connecting::NoServer
        };
        mounts.push(SeenMount { served_by: served_by(&file_system.kind), counted, connecting, file_system });
    }
    mounts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_and_times_that_are_mostly_tracing_are_doubted() {
        let of = |span: u64, tracing: u64, load| {
            let elapsed = TraceElapsed {
                span_ns: Nanoseconds::from_milliseconds(span),
                tracing_ns: Nanoseconds::from_milliseconds(tracing),
                ..TraceElapsed::default()
            };
            doubts(&elapsed, load, 2).into_iter().map(|trust| trust.doubt).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(of(1000, 500, Some(2.0)), "");
        assert_eq!(of(0, 0, None), "");
        assert!(of(1000, 10, Some(3.54)).starts_with("the load was 3.5 on 2 processors when it began"));
        assert!(of(1000, 600, None).starts_with("tracing took 600 ms, more than all that is left (400 ms)"));
    }
}
