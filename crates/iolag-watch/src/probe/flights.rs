//! The probes in flight, and what is learnt from all of them. How each stands the agenda knows.

use std::path::Path;

use iolag_keeper::{Awaited, Child};
use iolag_model::{
    ConfigurationKey, HistorySample, MonotonicTime, ProbeId, ProbePhase, ProbeStatus, SeriesKey, WallTime,
};
use iolag_workload::ProbeTask;
use rustix::process::Signal;

use crate::memory::ledger::Ledger;
use crate::probe::checkpoint::FlightCheckpoint;
use crate::probe::flight::{Flight, Site};
use crate::probe::place::Place;
use crate::probe::process::{ProbeProcess, ProcessEnd};
use crate::probe::purpose::Purpose;
use crate::probe::samples::{Fate, ProbeDescription, samples};
use crate::probe::stamp_files::{
    find_stamps, make_stamps, remove_stamps, remove_unknown_stamps, stamps_name,
};
use crate::probe::start::start_probe;
use crate::{Agenda, Deadlines, MountKey, ProbeState, RuntimeDirectory, Stamps, SurroundingsMeter};

const NO_STAMPS: &str = "there is no memory for a probe's stamps";

/// All probes that have not ended.
pub(crate) struct Flights<'a> {
    runtime: &'a RuntimeDirectory,
    meter: SurroundingsMeter,
    all: Vec<Flight>,
}

/// A probe that is to begin.
pub(crate) struct Launch {
    pub probe: ProbeId,
    /// That of the whole first.
    pub series: Vec<SeriesKey>,
    pub deadlines: Deadlines,
    pub configuration: Option<ConfigurationKey>,
    pub site: Site,
}

/// A process that waits at a mount, and counts as a probe from now on.
pub(crate) struct Waiting {
    pub child: Child,
    pub since: MonotonicTime,
    pub mount: MountKey,
    pub purpose: Purpose,
    /// Absent if it does not stamp.
    pub stamps: Option<Stamps>,
}

/// What a probe of the last watch has left that is gone.
pub(crate) struct Remainder {
    pub samples: Vec<HistorySample>,
    /// When its mount has answered.
    pub answered: Option<WallTime>,
}

impl<'a> Flights<'a> {
    /// None yet; their stamps go to this runtime directory.
    pub fn new(runtime: &'a RuntimeDirectory) -> Self {
        Self { runtime, meter: SurroundingsMeter::open(Path::new("/proc")), all: Vec::new() }
    }

    /// Starts a probe, and returns the moment from which its durations count, or says why that is not possible.
    pub fn start(
        &mut self,
        launch: Launch,
        place: &Place,
        task: impl FnOnce() -> Box<dyn ProbeTask>,
        ledger: &mut Ledger<'_>,
    ) -> Result<MonotonicTime, String> {
        let Launch { probe, series, deadlines, configuration, site } = launch;
        let stamps = make_stamps(self.runtime, probe);
        let surroundings = self.meter.start();
        let anchor = ledger.anchor();
        let description = ProbeDescription {
            probe,
            series,
            intended: ledger.round_intended(),
            start: WallTime(anchor.realtime_ns as i64),
            start_ns: anchor.monotonic_ns,
            deadline: deadlines.hard,
            configuration,
        };
        let stamps = stamps.ok_or_else(|| NO_STAMPS.to_owned())?;
        let process =
            start_probe(place, task, &stamps, deadlines.at_deadline).map_err(|error| error.to_string())?;
        let (purpose, surroundings) = (Purpose::Task, Some(surroundings));
        self.all.push(Flight::new(description, process, purpose, stamps, deadlines, site, surroundings));
        Ok(anchor.monotonic_ns)
    }

    /// Takes over a process that counts as a probe from now on, or lets it go and says why.
    pub fn take_over(
        &mut self,
        launch: Launch,
        waiting: Waiting,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), String> {
        let Launch { probe, series, deadlines, configuration, site } = launch;
        let Waiting { child, since, purpose, stamps, .. } = waiting;
        let Some(stamps) = stamps.or_else(|| make_stamps(self.runtime, probe)) else {
            child.signal_group(Signal::KILL);
            return Err(NO_STAMPS.to_owned());
        };
        let start = ledger.wall_of(since);
        let deadline = deadlines.hard;
        let description = ProbeDescription {
            probe,
            series,
            intended: start,
            start,
            start_ns: since,
            deadline,
            configuration,
        };
        let process = ProbeProcess::ours(child);
        self.all.push(Flight::new(description, process, purpose, stamps, deadlines, site, None));
        Ok(())
    }

    /// Goes on with a probe of the last watch of this boot if it is still there, else says what it has left.
    pub fn resume(&mut self, kept: &FlightCheckpoint, agenda: &mut Agenda) -> Option<Remainder> {
        let stamps = find_stamps(self.runtime, kept.description.probe)?;
        if let Some((flight, state)) = Flight::adopt(kept, stamps.clone()) {
            agenda.adopt(flight.probe(), flight.site().mount.clone(), state);
            self.all.push(flight);
            return None;
        }
        let has_ended = stamps.has_ended();
        let fate = match kept.hung_seen {
            _ if kept.purpose == Purpose::Canary => return None,
            Some(seen) => Fate::Vanished { seen },
            // It was killed together with its watch, within its deadline: nothing is known of how long it would have taken.
            None if !has_ended => return None,
            None => Fate::Ended { at: kept.description.start_ns },
        };
        let end = stamps.part(0).end.filter(|_| has_ended);
        let answered = end.map(|(end, _)| kept.description.start.after(end.since(kept.description.start_ns)));
        Some(Remainder { samples: samples(&kept.description, &stamps, fate, None, None), answered })
    }

    /// What is left of a probe of another boot, if it was hung.
    pub fn lost_with_boot(kept: &FlightCheckpoint) -> Option<Remainder> {
        let seen = kept.hung_seen.filter(|_| kept.purpose != Purpose::Canary)?;
        let (stamps, fate) = (Stamps::new().ok()?, Fate::Vanished { seen });
        Some(Remainder { samples: samples(&kept.description, &stamps, fate, None, None), answered: None })
    }

    /// Removes the stamps of probes that nobody knows.
    pub fn remove_unknown_stamps(&self) {
        let known: Vec<String> = self.all.iter().map(|flight| stamps_name(flight.probe())).collect();
        remove_unknown_stamps(self.runtime, |name| known.iter().any(|known| known == name));
    }

    /// Removes the stamps of a probe that has ended.
    pub fn remove_stamps(&self, probe: ProbeId) {
        remove_stamps(self.runtime, probe);
    }

    /// Takes out one whose processes have ended. Never blocks.
    pub fn next_ended(&mut self) -> Option<(Flight, ProcessEnd)> {
        let ended = |(position, flight): (usize, &mut Flight)| Some((position, flight.end()?));
        let (position, end) = self.all.iter_mut().enumerate().find_map(ended)?;
        Some((self.all.remove(position), end))
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Flight> {
        self.all.iter()
    }

    /// A probe that has not ended.
    pub fn get(&self, probe: ProbeId) -> Option<&Flight> {
        self.all.iter().find(|flight| flight.probe() == probe)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, probe: ProbeId) -> Option<&mut Flight> {
        self.all.iter_mut().find(|flight| flight.probe() == probe)
    }

    /// The probes on a mount.
    pub fn on(&self, mount: &MountKey) -> impl Iterator<Item = &Flight> {
        self.all.iter().filter(move |flight| flight.site().mount == *mount)
    }

    /// A slot of this mount was skipped.
    pub fn count_skipped(&mut self, mount: &MountKey) {
        if let Some(flight) = self.all.iter_mut().find(|flight| flight.site().mount == *mount) {
            flight.count_skipped();
        }
    }

    /// What is outstanding on `former` is on this mount.
    pub fn move_to(&mut self, former: &MountKey, mount: &MountKey, name: &str, agenda: &mut Agenda) {
        for flight in self.all.iter_mut().filter(|flight| flight.site().mount == *former) {
            flight.found_on(mount, name);
            agenda.found_on(flight.probe(), mount);
        }
    }

    /// Probes that are to be looked at again now: each is told once.
    pub fn take_look_again(&mut self, now: MonotonicTime) -> Vec<ProbeId> {
        let is_due = |flight: &&mut Flight| flight.look_again_due().is_some_and(|due| due <= now);
        let due = self.all.iter_mut().filter(is_due);
        due.map(|flight| {
            flight.look_again_at(None);
            flight.probe()
        })
        .collect()
    }

    /// Hung probes whose age is to be recorded again now.
    pub fn to_repeat(&self, now: MonotonicTime) -> Vec<ProbeId> {
        let is_due = |flight: &&Flight| flight.repeat_due().is_some_and(|due| due <= now);
        self.all.iter().filter(is_due).map(Flight::probe).collect()
    }

    /// All probes that were recorded as hung.
    pub fn known_to_hang(&self) -> Vec<ProbeId> {
        self.all.iter().filter(|flight| flight.is_known_to_hang()).map(Flight::probe).collect()
    }

    /// Records the age of a hung probe.
    pub fn record_hung(
        &mut self,
        probe: ProbeId,
        now: MonotonicTime,
        agenda: &Agenda,
        ledger: &mut Ledger<'_>,
    ) {
        let terminated = agenda.state(probe).and_then(ProbeState::terminated);
        let Some(flight) = self.all.iter_mut().find(|flight| flight.probe() == probe) else { return };
        ledger.record_samples(flight.hung_samples(now, terminated, &self.meter));
    }

    /// Records what a probe waits in.
    pub fn record_evidence(&mut self, probe: ProbeId, now: MonotonicTime, ledger: &mut Ledger<'_>) {
        let is_it = |flight: &&mut Flight| flight.probe() == probe && !flight.is_canary();
        let Some(flight) = self.all.iter_mut().find(is_it) else { return };
        let text = flight.evidence(&self.meter);
        ledger.record_evidence(probe, flight.wall(now), text);
    }

    /// What is recorded of a probe that has ended.
    pub fn samples_of(&self, flight: &Flight, fate: Fate, end: ProcessEnd) -> Vec<HistorySample> {
        flight.samples(fate, end, &self.meter)
    }

    /// Tells whoever looks on how a probe stands.
    pub fn show(&self, probe: ProbeId, agenda: &Agenda, ledger: &mut Ledger<'_>) {
        ledger.changed();
        let Some(flight) = self.get(probe).filter(|flight| !flight.is_canary()) else { return };
        let phase = agenda.state(probe).map_or(ProbePhase::InFlight, ProbeState::phase);
        ledger.observer().phase_changed(&flight.status(phase));
    }

    /// How those that attempt something stand, oldest first.
    pub fn statuses(&self, agenda: &Agenda) -> Vec<ProbeStatus> {
        let status =
            |flight: &Flight| Some(flight.status(agenda.state(flight.probe()).map(ProbeState::phase)?));
        let mut all: Vec<ProbeStatus> =
            self.all.iter().filter(|flight| !flight.is_canary()).filter_map(status).collect();
        all.sort_by_key(|status| status.start_ns);
        all
    }

    /// What the next watch has to know.
    pub fn checkpoints(&self, agenda: &Agenda) -> Vec<FlightCheckpoint> {
        self.all.iter().map(|flight| flight.checkpoint(agenda.state(flight.probe()))).collect()
    }

    /// What to wait for.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited<'_>> {
        self.all.iter().flat_map(|flight| flight.process().awaited())
    }

    /// Whether the end of one has to be looked for, since the kernel does not tell.
    pub fn have_to_be_looked_at(&self) -> bool {
        self.all.iter().any(|flight| flight.process().has_to_be_looked_at())
    }

    /// When to look although nothing has ended.
    pub fn due(&self) -> Option<MonotonicTime> {
        let due = |flight: &Flight| [flight.repeat_due(), flight.look_again_due()];
        self.all.iter().flat_map(due).flatten().min()
    }

    /// The children of this watch among them.
    pub fn children(&self) -> impl Iterator<Item = u32> {
        self.all.iter().filter_map(|flight| flight.process().child())
    }
}
