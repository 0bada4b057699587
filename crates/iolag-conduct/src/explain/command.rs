//! A command is traced, and what its mounts count meanwhile is read before and after.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use iolag_model::{
    Connecting, FileSystem, Nanoseconds, SeenCommand, SeenMount, TraceAbout, TraceActivityKind, TraceMount,
    TraceNetwork,
};

use super::attending::Limit;
use super::conducting::connecting;
use crate::contact::start::Keeper;
use crate::environment::client_counters::ClientCounters;
use crate::environment::{file_system, served_by};
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
        lists: about.lists,
        trust: captured.trust.into_iter().chain(content.trust).collect(),
        summary: content.summary,
        elapsed,
        mounts: Vec::new(),
    };
    seen.mounts = mounts(&seen, &about.mounts, &before, keeper);
    Ok(seen)
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
