//! Probes in flight: their processes, their stamps, and what is kept of them for the next watch.

use std::os::fd::AsFd;
use std::path::PathBuf;

use iolag_model::{MonotonicTime, Nanoseconds, ProbeId, ProbePhase, ProbeStatus, SeriesKey, WallTime};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::probe::checkpoint::FlightCheckpoint;
use crate::probe::process::{ProbeProcess, ProcessEnd};
use crate::probe::samples::{Fate, ProbeDescription};
use crate::targets::first_contact::kept_deadlines;
use crate::{AtDeadline, Deadlines, MountKey, ProbeState, RuntimeDirectory, Stamps, SurroundingsStart};

const STAMPS_PREFIX: &str = "stamps-";
/// Between two records of the age of a hung probe; later, a sixtieth of its age.
const REPEAT: Nanoseconds = Nanoseconds::from_seconds(60);

/// A probe that has not ended.
#[derive(Debug)]
pub(crate) struct Flight {
    pub description: ProbeDescription,
    pub process: ProbeProcess,
    pub purpose: Purpose,
    pub stamps: Stamps,
    pub deadlines: Deadlines,
    pub mount: MountKey,
    pub mount_name: String,
    /// Where its child has made sure that something is mounted.
    pub mount_point: Option<PathBuf>,
    /// Position of its target in the plan.
    pub target: Option<usize>,
    /// Absent for one that was adopted or taken over.
    pub surroundings: Option<SurroundingsStart>,
    /// What it waited for when it was last looked at.
    pub waits_in: String,
    /// When it was last recorded as hung.
    pub hung_seen: Option<MonotonicTime>,
    /// Who broke it off, if anybody but its deadline did.
    pub interruption: Interruption,
    /// Slots of its mount that were skipped since it began.
    pub skipped: u64,
    /// When its place will have been silent for long enough, if it is not heard of before.
    pub look_again: Option<MonotonicTime>,
}

/// What a process was started for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Purpose {
    /// To execute a task.
    #[default]
    Task,
    /// To go to a target before anybody else, or to look it up; it did not come back in time.
    Contact,
    /// To ask whether a mount answers. It is no attempt of anything: nothing is recorded of it, and it blocks its mount while it is there.
    Canary,
}

/// Who breaks a probe off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// Nobody.
    None,
    /// The watch, since it stops.
    Stop,
    /// Whoever killed the last watch: the probe's child dies with that; it, or a program that it started, is still there.
    Killing,
}

impl Flight {
    pub const fn probe(&self) -> ProbeId {
        self.description.probe
    }

    /// The series of the whole.
    pub fn series(&self) -> &SeriesKey {
        &self.description.series[0]
    }

    /// Wall-clock time of a moment, by the clock at the start of this probe.
    pub const fn wall(&self, moment: MonotonicTime) -> WallTime {
        self.description.start.after(moment.since(self.description.start_ns))
    }

    /// Whether all its processes have ended. Never blocks.
    pub fn end(&mut self) -> Option<ProcessEnd> {
        self.process.guarded_by(self.stamps.guard());
        self.process.end()
    }

    /// Sends a signal to its processes.
    pub fn signal(&mut self, signal: Signal) {
        self.process.guarded_by(self.stamps.guard());
        self.process.signal(signal);
    }

    /// What became of its processes, which have ended, given how it stood. `None` if nothing is known of how long it would have taken.
    pub fn fate(&self, state: &ProbeState, at: MonotonicTime) -> Option<Fate> {
        match (state.phase(), state.terminated(), self.interruption) {
            // It was to do no task, and came back in time or was called back.
            (ProbePhase::InFlight | ProbePhase::Slow, _, _) | (ProbePhase::Ending, _, Interruption::Stop)
                if self.purpose == Purpose::Contact =>
            {
                None
            }
            _ if self.purpose == Purpose::Canary => None,
            (ProbePhase::Hung, terminated, _) => Some(Fate::Released { at, terminated }),
            (ProbePhase::Ending, Some(terminated), Interruption::Stop) => Some(Fate::Aborted { terminated }),
            (ProbePhase::Ending, Some(terminated), _) => Some(Fate::TimedOut { terminated }),
            (_, _, Interruption::Killing) if !self.stamps.has_ended() => None,
            _ => Some(Fate::Ended { at }),
        }
    }

    /// When its mount has answered, given that it ended like this: the task's end, or the last program's if that held out longer than the
    /// deadline.
    pub fn answered_at(&self, fate: Fate, now: MonotonicTime) -> MonotonicTime {
        let Some((end, _)) = self.stamps.part(0).end else { return now };
        let has_left_a_program = end.since(self.description.start_ns) <= self.deadlines.hard;
        if matches!(fate, Fate::Released { .. }) && has_left_a_program { now } else { end }
    }

    /// When its age is to be recorded again, if it is hung.
    pub fn repeat_due(&self) -> Option<MonotonicTime> {
        let seen = self.hung_seen?;
        let age = seen.since(self.description.start_ns);
        Some(seen.after(REPEAT.max(Nanoseconds(age.0 / 60))))
    }

    /// How it stands, for people.
    pub fn status(&self, phase: ProbePhase) -> ProbeStatus {
        let part = self.stamps.in_flight(self.description.series.len());
        ProbeStatus {
            series: self.series().clone(),
            probe: self.probe(),
            part: part.map(|part| self.description.series[part].part.clone()).unwrap_or_default(),
            process: self.process.id(),
            start_ns: self.description.start_ns,
            start: self.description.start,
            phase,
            waits_in: self.waits_in.clone(),
            progress: self.stamps.progress(),
        }
    }

    /// What the next watch has to know.
    pub fn to_keep(&self, state: Option<&ProbeState>) -> FlightCheckpoint {
        FlightCheckpoint {
            description: self.description.clone(),
            processes: self.process.to_keep(),
            mount: self.mount.clone(),
            mount_name: self.mount_name.clone(),
            purpose: self.purpose,
            deadlines: kept_deadlines(self.deadlines, self.purpose),
            terminated: state.and_then(ProbeState::terminated),
            hung_seen: self.hung_seen,
        }
    }

    /// Takes over what an earlier watch of this boot has kept, if any of its processes lives.
    pub fn adopt(kept: &FlightCheckpoint, stamps: Stamps) -> Option<(Self, ProbeState)> {
        let process = ProbeProcess::adopt(&kept.processes, stamps.guard())?;
        // A child that is to be ended at its deadline is killed with its watch, which takes a moment.
        let survives = kept.deadlines.at_deadline == AtDeadline::Wait
            && kept.processes.first().is_some_and(|child| process.has(child.id));
        let state = match kept.hung_seen {
            Some(_) => ProbeState::already_hung(kept.deadlines, kept.description.start_ns, kept.terminated),
            None => ProbeState::new(kept.deadlines, kept.description.start_ns),
        };
        let flight = Self {
            description: kept.description.clone(),
            process,
            // A former first contact is recorded as what it stands for.
            purpose: if kept.purpose == Purpose::Canary { Purpose::Canary } else { Purpose::Task },
            stamps,
            deadlines: kept.deadlines,
            mount: kept.mount.clone(),
            mount_name: kept.mount_name.clone(),
            mount_point: None,
            target: None,
            surroundings: None,
            waits_in: String::new(),
            hung_seen: kept.hung_seen,
            interruption: if survives { Interruption::None } else { Interruption::Killing },
            skipped: 0,
            look_again: None,
        };
        Some((flight, state))
    }
}

/// A page of stamps that the next watch will find, or, if the runtime directory has no room, one that it will not.
pub(crate) fn make_stamps(directory: &RuntimeDirectory, probe: ProbeId) -> Option<Stamps> {
    open_stamps(directory, probe, OFlags::CREATE | OFlags::EXCL).or_else(|| Stamps::new().ok())
}

/// The page of stamps that an earlier watch made.
pub(crate) fn find_stamps(directory: &RuntimeDirectory, probe: ProbeId) -> Option<Stamps> {
    open_stamps(directory, probe, OFlags::empty()).or_else(|| Stamps::new().ok())
}

/// Removes the page of a probe that has ended.
pub(crate) fn remove_stamps(directory: &RuntimeDirectory, probe: ProbeId) {
    // One that was never there needs no removal, and one that stays is removed by the next watch.
    let _ = directory.remove_file(&stamps_name(probe));
}

/// Removes pages of probes that nobody knows: of a watch that was killed while it started or ended them.
pub(crate) fn remove_unknown_stamps(directory: &RuntimeDirectory, is_known: impl Fn(&str) -> bool) {
    let Ok(entries) = Dir::read_from(directory.descriptor()) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().to_str() else { continue };
        if name.starts_with(STAMPS_PREFIX) && !is_known(name) {
            let _ = unlinkat(directory.descriptor(), name, AtFlags::empty());
        }
    }
}

/// The name of the page of a probe.
pub(crate) fn stamps_name(probe: ProbeId) -> String {
    format!("{STAMPS_PREFIX}{:016x}", probe.0)
}

fn open_stamps(directory: &RuntimeDirectory, probe: ProbeId, how: OFlags) -> Option<Stamps> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | how;
    let file = openat(directory.descriptor(), stamps_name(probe), flags, Mode::RUSR | Mode::WUSR).ok()?;
    Stamps::in_file(file.as_fd()).ok()
}
