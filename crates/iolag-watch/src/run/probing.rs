//! Carrying out what the agenda says: starting probes, heeding their deadlines, recording their ends.

use std::path::Path;

use iolag_keeper::evidence_of_all;
use iolag_model::{
    Clock, EventSource, Evidence, FailureCode, HistoryRecord, HistorySample, MonotonicClock, MonotonicTime,
    Outcome, ProbeId, ProbePhase, WallTime, counted,
};
use rustix::process::Signal;

use crate::agenda::deadlines::Step;
use crate::agenda::subjects::covariate_spec;
use crate::agenda::{Action, Slot, Subject, Surveyor};
use crate::memory::ledger::Novelty;
use crate::probe::flight::{Flight, Interruption, Purpose, make_stamps, remove_stamps};
use crate::probe::place::Place;
use crate::probe::process::{ProcessEnd, start_probe};
use crate::probe::samples::{Fate, ProbeDescription, samples, skipped};
use crate::run::running::Running;
use crate::targets::lookups::Lookups;
use crate::targets::target_mounts::TargetMounts;
use crate::world::configurations::event;
use crate::{MountKey, WatchPlan};

/// What the agenda asks, answered from the table of mounts and the stamps.
struct Survey<'a> {
    plan: &'a WatchPlan,
    mounts: &'a TargetMounts,
    lookups: &'a Lookups,
    flights: &'a [Flight],
}

impl Surveyor for Survey<'_> {
    fn mount_of(&self, subject: Subject) -> MountKey {
        match subject {
            Subject::Task { target, .. } => self.mounts.key_of(target).clone(),
            Subject::Covariate(index) => MountKey::Covariate(self.plan.covariates[index].name.clone()),
        }
    }

    fn is_visited(&self, mount: &MountKey) -> bool {
        self.lookups.visits(mount)
    }

    fn begun(&self, probe: ProbeId) -> Option<MonotonicTime> {
        self.flights.iter().find(|flight| flight.probe() == probe)?.stamps.begun()
    }
}

impl Running<'_> {
    /// What the agenda wants done now.
    pub fn next_action(&mut self) -> Option<Action> {
        let Self { agenda, plan, mounts, lookups, flights, .. } = self;
        agenda.act(MonotonicClock.now(), &Survey { plan, mounts, lookups, flights })
    }

    /// When the agenda wants to be asked again.
    pub fn next_wake(&self) -> Option<MonotonicTime> {
        let Self { agenda, plan, mounts, lookups, flights, .. } = self;
        agenda.next_wake(&Survey { plan, mounts, lookups, flights })
    }

    /// Does it.
    pub fn carry_out(&mut self, action: Action) {
        match action {
            Action::RoundBegan { round, lag, missed } => {
                self.round_began(round.begin);
                self.lag = lag;
                if missed > 0 {
                    let text = format!(
                        "{} missed: the watch itself was held up",
                        counted(missed, "round was", "rounds were")
                    );
                    let begin = self.round_intended;
                    let event = event(&self.plan.host, "", begin, EventSource::Watch, "late", text);
                    self.ledger.record(HistoryRecord::Event(event));
                }
                self.changed();
            }
            Action::Begin { probe, slot, mount } => self.begin(probe, slot, mount),
            Action::Skip { probe, slot, blocker, mount } => self.skip(probe, slot, blocker, &mount),
            Action::Advance(probe, step) => self.advance(probe, step),
            Action::RoundEnded(round) => self.round_ended(round),
        }
    }

    fn begin(&mut self, probe: ProbeId, slot: Slot, mount: MountKey) {
        let mount_point = match slot.subject {
            Subject::Task { target, .. } => self.mounts.required(target).map(Path::to_owned),
            Subject::Covariate(_) => None,
        };
        let (place, spec, target) = match slot.subject {
            Subject::Task { target, task } => {
                let planned = &self.plan.targets[target];
                let task = &planned.tasks[task];
                let (host, runtime) = (&self.plan.host, &self.plan.runtime_directory);
                let place = Place::of_task(&planned.directory, host, runtime, &task.name)
                    .mounted_at(mount_point.as_deref());
                (place, task.spec.clone(), Some(target))
            }
            Subject::Covariate(index) => {
                (Place::Host, covariate_spec(&self.plan.covariates[index].command), None)
            }
        };
        let Some(deadlines) = self.agenda.state(probe).map(crate::ProbeState::deadlines) else { return };
        let name = target.map(|target| self.plan.targets[target].name.as_str());
        let configuration = name.and_then(|name| self.configurations.key_of(name));
        let stamps = make_stamps(self.runtime, probe);
        let surroundings = self.meter.start();
        let anchor = self.anchor();
        let description = ProbeDescription {
            probe,
            series: self.series_of(slot.subject).to_vec(),
            intended: self.round_intended,
            start: WallTime(anchor.realtime_ns as i64),
            start_ns: anchor.monotonic_ns,
            deadline: deadlines.hard,
            configuration,
        };
        let probe_task = self.callbacks.probe_task;
        let started = stamps.map(|stamps| {
            let task = || probe_task(&spec, probe.0);
            start_probe(&place, task, &stamps, deadlines.at_deadline).map(|process| (process, stamps))
        });
        match started {
            Some(Ok((process, stamps))) => {
                let mount_name = target.map_or("", |target| self.mounts.name_of(target)).to_owned();
                let flight = Flight {
                    description,
                    process,
                    purpose: Purpose::Task,
                    stamps,
                    deadlines,
                    mount,
                    mount_point,
                    mount_name,
                    target,
                    surroundings: Some(surroundings),
                    waits_in: String::new(),
                    hung_seen: None,
                    interruption: Interruption::None,
                    skipped: 0,
                    look_again: None,
                };
                self.flights.push(flight);
                self.keep();
                self.show_phase(probe);
            }
            failed => {
                let why = match failed {
                    Some(Err(error)) => error.to_string(),
                    _ => "there is no memory for a probe's stamps".to_owned(),
                };
                self.ledger.trouble("start", &format!("a probe could not be started: {why}"));
                self.agenda.ended(probe);
                self.skip(probe, slot, None, &mount);
            }
        }
    }

    fn skip(&mut self, probe: ProbeId, slot: Slot, blocker: Option<ProbeId>, mount: &MountKey) {
        self.outages.skipped(mount);
        if let Some(flight) = self.flights.iter_mut().find(|flight| flight.mount == *mount) {
            flight.skipped += 1;
        }
        // The clock may have been set since the round began.
        self.anchor();
        let intended = self.round_intended;
        let keys = self.series_of(slot.subject).to_vec();
        let samples = keys.into_iter().map(|key| skipped(key, probe, intended, intended, blocker)).collect();
        self.ledger.record_samples(samples);
        self.changed();
    }

    /// A probe has come to a deadline.
    pub fn advance(&mut self, probe: ProbeId, step: Step) {
        let now = MonotonicClock.now();
        let Some(position) = self.flights.iter().position(|flight| flight.probe() == probe) else { return };
        self.learn_from(position);
        match step {
            Step::Slow => self.gather_evidence(position, now),
            Step::Terminate => {
                if self.flights[position].interruption != Interruption::Stop {
                    self.gather_evidence(position, now);
                    self.suspect(position, now);
                }
                self.flights[position].signal(Signal::TERM);
            }
            Step::Kill => self.flights[position].signal(Signal::KILL),
            Step::Hang => {
                self.gather_evidence(position, now);
                // One that the watch gave up has not passed its deadline.
                if self.flights[position].interruption != Interruption::Stop {
                    self.suspect(position, now);
                }
                self.record_hung(position, now);
            }
        }
        self.keep();
        self.show_phase(probe);
    }

    /// Records what has ended.
    pub fn reap(&mut self, now: MonotonicTime) {
        let mut position = 0;
        while position < self.flights.len() {
            match self.flights[position].end() {
                Some(end) => {
                    let flight = self.flights.remove(position);
                    self.record_end(flight, end, now);
                }
                None => position += 1,
            }
        }
    }

    fn record_end(&mut self, flight: Flight, end: ProcessEnd, now: MonotonicTime) {
        let probe = flight.probe();
        let Some(state) = self.agenda.state(probe).copied() else { return };
        self.agenda.ended(probe);
        if let (Some(target), Some(number)) = (flight.target, flight.stamps.mount_number()) {
            self.learn(target, number, flight.mount_point.as_deref());
        }
        if let Some(fate) = flight.fate(&state, now) {
            self.record_fate(&flight, fate, end, now);
        }
        remove_stamps(self.runtime, probe);
        self.keep();
        self.changed();
    }

    fn record_fate(&mut self, flight: &Flight, fate: Fate, end: ProcessEnd, now: MonotonicTime) {
        let surroundings = flight.surroundings.as_ref().and_then(|start| self.meter.finish(start));
        let recorded = samples(&flight.description, &flight.stamps, fate, end.consumption, surroundings);
        if let Some(failure) = flight.stamps.preparation_failure() {
            let series = flight.series().to_string();
            let text = format!("{series}: {}", failure.sentence);
            if self.ledger.trouble(&series, &text) == Novelty::New {
                let (host, probe) = (self.plan.host.clone(), flight.probe());
                let evidence = Evidence { host, probe, at: flight.wall(failure.at), text };
                self.ledger.record(HistoryRecord::Evidence(evidence));
            }
        }
        if flight.stamps.preparation_failure().is_some_and(|why| why.failure == FailureCode::NOT_MOUNTED) {
            self.look_at_mounts();
            self.look_for_missing_mounts();
        }
        self.record_failure(flight, recorded.first());
        let has_answered = matches!(fate, Fate::Ended { .. } | Fate::Released { .. })
            || recorded.first().is_some_and(|whole| whole.outcome == Outcome::Late);
        self.ledger.record_samples(recorded);
        if has_answered {
            // It may have begun when nobody knew where the target lies.
            let own = flight.target.map(|target| self.mounts.own_key_of(target));
            let mounts: Vec<MountKey> = [Some(flight.mount.clone()), own].into_iter().flatten().collect();
            self.have_answered(&mounts, flight.answered_at(fate, now));
        }
    }

    /// Records how a command failed, if it said so; tells it, unless it said the same before.
    fn record_failure(&mut self, flight: &Flight, whole: Option<&HistorySample>) {
        let Some(sample) = whole.filter(|sample| sample.failure == FailureCode::EXIT) else { return };
        let Some(said) = flight.stamps.said() else { return };
        let text = Evidence::text_of_failure(sample.exit_status, &said);
        let series = flight.series().to_string();
        self.ledger.trouble(&series, &format!("{series}: {text}"));
        let at = sample.start.after(sample.duration_ns);
        let evidence = Evidence { host: self.plan.host.clone(), probe: flight.probe(), at, text };
        self.ledger.record(HistoryRecord::Evidence(evidence));
    }

    /// Outages whose mount is gone or has been replaced are over.
    pub fn end_outages_of_changed_mounts(&mut self) {
        let at = self.wall();
        let ended = self.outages.remounted(at, |mount_point| self.mounts.device_at(mount_point));
        self.record_outages(ended);
    }

    fn record_hung(&mut self, position: usize, now: MonotonicTime) {
        let flight = &mut self.flights[position];
        let is_known = flight.hung_seen.replace(now).is_some();
        if flight.purpose == Purpose::Canary {
            return;
        }
        let terminated = self.agenda.state(flight.probe()).and_then(crate::ProbeState::terminated);
        let fate = Fate::Hung { at: now, terminated };
        let surroundings = flight.surroundings.as_ref().and_then(|start| self.meter.finish(start));
        let mut recorded = samples(&flight.description, &flight.stamps, fate, None, surroundings);
        // Of what was recorded once only ages grow.
        recorded.retain(|sample| !is_known || sample.outcome == Outcome::Hung);
        self.ledger.record_samples(recorded);
    }

    /// Records the ages of hung probes, and the outages that go with them, now and then.
    pub fn repeat_hung(&mut self, now: MonotonicTime) {
        let due = |flight: &Flight| flight.repeat_due().is_some_and(|due| due <= now);
        if !self.flights.iter().any(due) {
            return;
        }
        for position in 0..self.flights.len() {
            if due(&self.flights[position]) {
                self.record_hung(position, now);
                // It has gone on meanwhile, or not.
                self.suspect(position, now);
            }
        }
        self.record_outages(self.outages.open().cloned().collect::<Vec<_>>());
        self.keep();
    }

    /// Records the ages of all hung probes for the last time.
    pub fn record_still_hung(&mut self, now: MonotonicTime) {
        for position in 0..self.flights.len() {
            if self.flights[position].hung_seen.is_some() {
                self.record_hung(position, now);
            }
        }
        self.record_outages(self.outages.open().cloned().collect::<Vec<_>>());
    }

    fn gather_evidence(&mut self, position: usize, now: MonotonicTime) {
        if self.flights[position].purpose == Purpose::Canary {
            return;
        }
        let surroundings =
            self.flights[position].surroundings.as_ref().and_then(|start| self.meter.finish(start));
        let flight = &mut self.flights[position];
        let mut text = evidence_of_all(flight.process.id());
        flight.waits_in = waits_in(&text);
        if let Some(all) = surroundings {
            let load = f64::from(all.load_milli[0]) / 1e3;
            let (runnable, blocked) = (all.runnable, all.blocked);
            text.push_str(&format!("; host: load {load:.2}, {runnable} runnable, {blocked} blocked tasks"));
        }
        let evidence =
            Evidence { host: self.plan.host.clone(), probe: flight.probe(), at: flight.wall(now), text };
        self.ledger.record(HistoryRecord::Evidence(evidence));
    }

    pub fn show_phase(&mut self, probe: ProbeId) {
        self.changed();
        let is_it = |flight: &&Flight| flight.probe() == probe && flight.purpose != Purpose::Canary;
        let Some(flight) = self.flights.iter().find(is_it) else { return };
        let phase = self.agenda.state(probe).map_or(ProbePhase::InFlight, crate::ProbeState::phase);
        let status = flight.status(phase);
        self.ledger.observer.phase_changed(&status);
    }
}

/// What the last process of a chain waits in: the others wait for it.
fn waits_in(evidence: &str) -> String {
    const LABEL: &str = "waits in ";
    let Some((_, rest)) = evidence.rsplit_once(LABEL) else { return String::new() };
    rest.split([',', ';']).next().unwrap_or_default().to_owned()
}
