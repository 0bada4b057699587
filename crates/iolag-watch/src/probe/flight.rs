//! A probe in flight: its processes, its stamps, and what is recorded and kept of it.

use std::path::PathBuf;

use iolag_keeper::evidence_of_all;
use iolag_model::{
    Evidence, FailureCode, HistorySample, MonotonicTime, Nanoseconds, Outcome, ProbeId, ProbePhase,
    ProbeStatus, SeriesKey, Surroundings, WallTime,
};
use rustix::process::Signal;

use crate::probe::checkpoint::FlightCheckpoint;
use crate::probe::process::{ProbeProcess, ProcessEnd};
use crate::probe::purpose::Purpose;
use crate::probe::samples::{Fate, ProbeDescription, samples};
use crate::{
    AtDeadline, Deadlines, MountKey, PreparationFailure, ProbeState, Stamps, SurroundingsMeter,
    SurroundingsStart,
};

/// Between two records of the age of a hung probe; later, a sixtieth of its age.
const REPEAT: Nanoseconds = Nanoseconds::from_seconds(60);

/// A probe that has not ended.
#[derive(Debug)]
pub(crate) struct Flight {
    description: ProbeDescription,
    process: ProbeProcess,
    purpose: Purpose,
    stamps: Stamps,
    deadlines: Deadlines,
    site: Site,
    /// When it began, unless it was adopted or taken over.
    surroundings: Option<SurroundingsStart>,
    /// What it waited for when it was last looked at.
    waits_in: String,
    /// When it was last recorded as hung.
    hung_seen: Option<MonotonicTime>,
    interruption: Interruption,
    /// Slots of its mount that were skipped since it began.
    skipped: u64,
    /// When its place will have been silent for long enough, if it is not heard of before.
    look_again: Option<MonotonicTime>,
}

/// Where a probe is, as far as that is known.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// Position of its target in the plan; a covariate has none, and of what an earlier watch started it is not known.
    pub target: Option<usize>,
    /// On what it is outstanding.
    pub mount: MountKey,
    /// The mount point, or the target if that is not known.
    pub mount_name: String,
    /// Where its child has made sure that something is mounted.
    pub mount_point: Option<PathBuf>,
}

/// Who breaks a probe off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interruption {
    /// Nobody but its deadline.
    None,
    /// The watch, since it stops.
    Stop,
    /// Whoever killed the last watch: the probe's child dies with that; it, or a program that it started, is still there.
    Killing,
}

impl Flight {
    /// A process that counts as a probe from now on.
    pub const fn new(
        description: ProbeDescription,
        process: ProbeProcess,
        purpose: Purpose,
        stamps: Stamps,
        deadlines: Deadlines,
        site: Site,
        surroundings: Option<SurroundingsStart>,
    ) -> Self {
        Self {
            description,
            process,
            purpose,
            stamps,
            deadlines,
            site,
            surroundings,
            waits_in: String::new(),
            hung_seen: None,
            interruption: Interruption::None,
            skipped: 0,
            look_again: None,
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
        // A former first contact is recorded as what it stands for.
        let purpose = if kept.purpose == Purpose::Canary { Purpose::Canary } else { Purpose::Task };
        let (mount, mount_name) = (kept.mount.clone(), kept.mount_name.clone());
        let site = Site { target: None, mount, mount_name, mount_point: None };
        let flight = Self {
            hung_seen: kept.hung_seen,
            interruption: if survives { Interruption::None } else { Interruption::Killing },
            ..Self::new(kept.description.clone(), process, purpose, stamps, kept.deadlines, site, None)
        };
        Some((flight, state))
    }

    /// Its name.
    pub const fn probe(&self) -> ProbeId {
        self.description.probe
    }

    /// The series of the whole.
    pub fn series(&self) -> &SeriesKey {
        &self.description.series[0]
    }

    /// Where it is.
    pub const fn site(&self) -> &Site {
        &self.site
    }

    /// Its processes.
    pub const fn process(&self) -> &ProbeProcess {
        &self.process
    }

    /// Whether it asks whether a mount answers, and is no attempt of anything.
    pub fn is_canary(&self) -> bool {
        self.purpose == Purpose::Canary
    }

    /// How long it may take.
    pub const fn deadlines(&self) -> Deadlines {
        self.deadlines
    }

    /// Wall-clock time of a moment, by the clock at the start of this probe.
    pub const fn wall(&self, moment: MonotonicTime) -> WallTime {
        self.description.start.after(moment.since(self.description.start_ns))
    }

    /// When its task began, if it has.
    pub fn begun(&self) -> Option<MonotonicTime> {
        self.stamps.begun()
    }

    /// When its place answered last, else its start.
    pub fn silent_since(&self) -> MonotonicTime {
        self.stamps.answered().unwrap_or(self.description.start_ns)
    }

    /// Whether it asks its place itself, so that the place is known to be silent as long as it is not heard of.
    pub fn asks_itself(&self) -> bool {
        !self.stamps.has_left_place()
    }

    /// Why its task could not be prepared.
    pub fn preparation_failure(&self) -> Option<PreparationFailure> {
        self.stamps.preparation_failure()
    }

    /// The kernel's number of the mount on which it has opened its place.
    pub fn mount_number(&self) -> Option<u64> {
        self.stamps.mount_number()
    }

    /// It is on this mount.
    pub fn found_on(&mut self, mount: &MountKey, name: &str) {
        self.site.mount.clone_from(mount);
        name.clone_into(&mut self.site.mount_name);
    }

    /// A slot of its mount was skipped.
    pub const fn count_skipped(&mut self) {
        self.skipped += 1;
    }

    /// Slots of its mount that were skipped since it began.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// When it is to be looked at again, if it is not heard of before.
    pub const fn look_again_due(&self) -> Option<MonotonicTime> {
        self.look_again
    }

    /// It is to be looked at again then, or need not be.
    pub const fn look_again_at(&mut self, due: Option<MonotonicTime>) {
        self.look_again = due;
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

    /// The watch breaks it off, since it stops.
    pub const fn break_off(&mut self) {
        self.interruption = Interruption::Stop;
    }

    /// Whether the watch has broken it off, so that it has passed no deadline.
    pub fn is_broken_off(&self) -> bool {
        self.interruption == Interruption::Stop
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
            _ if self.is_canary() => None,
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

    /// What is recorded of its end.
    pub fn samples(&self, fate: Fate, end: ProcessEnd, meter: &SurroundingsMeter) -> Vec<HistorySample> {
        samples(&self.description, &self.stamps, fate, end.consumption, self.surroundings(meter))
    }

    /// What is recorded of it while it is hung: the first time all of it, later only the ages that grow.
    pub fn hung_samples(
        &mut self,
        now: MonotonicTime,
        terminated: Option<MonotonicTime>,
        meter: &SurroundingsMeter,
    ) -> Vec<HistorySample> {
        let is_known = self.hung_seen.replace(now).is_some();
        if self.is_canary() {
            return Vec::new();
        }
        let fate = Fate::Hung { at: now, terminated };
        let mut recorded = samples(&self.description, &self.stamps, fate, None, self.surroundings(meter));
        recorded.retain(|sample| !is_known || sample.outcome == Outcome::Hung);
        recorded
    }

    /// How its command failed, or what it asked a server, and when, if it said so.
    pub fn failure(&self, whole: Option<&HistorySample>) -> Option<(String, WallTime)> {
        let sample = whole.filter(|sample| sample.outcome == Outcome::Error)?;
        let said = self.stamps.said()?;
        let at = sample.start.after(sample.duration_ns);
        let text = match sample.failure {
            FailureCode::EXIT => Evidence::text_of_failure(sample.exit_status, &said),
            _ => said,
        };
        Some((text, at))
    }

    /// What its processes wait in, and what else goes on.
    pub fn evidence(&mut self, meter: &SurroundingsMeter) -> String {
        let surroundings = self.surroundings(meter);
        let mut text = evidence_of_all(self.process.id());
        self.waits_in = waits_in(&text);
        if let Some(all) = surroundings {
            let load = f64::from(all.load_milli[0]) / 1e3;
            let (runnable, blocked) = (all.runnable, all.blocked);
            text.push_str(&format!("; host: load {load:.2}, {runnable} runnable, {blocked} blocked tasks"));
        }
        text
    }

    /// Whether it was recorded as hung.
    pub const fn is_known_to_hang(&self) -> bool {
        self.hung_seen.is_some()
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
    pub fn checkpoint(&self, state: Option<&ProbeState>) -> FlightCheckpoint {
        FlightCheckpoint {
            description: self.description.clone(),
            processes: self.process.identities(),
            mount: self.site.mount.clone(),
            mount_name: self.site.mount_name.clone(),
            purpose: self.purpose,
            deadlines: self.purpose.deadlines_to_keep(self.deadlines),
            terminated: state.and_then(ProbeState::terminated),
            hung_seen: self.hung_seen,
        }
    }

    fn surroundings(&self, meter: &SurroundingsMeter) -> Option<Surroundings> {
        self.surroundings.as_ref().and_then(|start| meter.finish(start))
    }
}

/// What the last process of a chain waits in: the others wait for it.
fn waits_in(evidence: &str) -> String {
    const LABEL: &str = "waits in ";
    let Some((_, rest)) = evidence.rsplit_once(LABEL) else { return String::new() };
    rest.split([',', ';']).next().unwrap_or_default().to_owned()
}
