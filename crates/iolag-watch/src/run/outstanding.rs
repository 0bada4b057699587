//! What is outstanding: probes that have not ended and mounts that do not answer. Heeds deadlines and ends, records what is learnt from them,
//! and keeps for the next watch what is outstanding still.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use iolag_keeper::Awaited;
use iolag_model::{
    Clock, Configuration, ConfigurationKey, FailureCode, HistorySample, MonotonicClock, MonotonicTime,
    Nanoseconds, Outage, Outcome, ProbeId, ProbeStatus, SeriesKey, SessionEnd,
};
use iolag_workload::ProbeTask;
use rustix::process::Signal;

use crate::memory::ledger::{Ledger, Novelty};
use crate::memory::shortage::RuntimeFile;
use crate::probe::checkpoint::Checkpoint;
use crate::probe::flight::{Flight, Site};
use crate::probe::flights::{Flights, Launch, Waiting};
use crate::probe::process::ProcessEnd;
use crate::run::survey::Survey;
use crate::targets::health::TargetHealth;
use crate::targets::lookups::{Facts, Finding, Patience, Silent};
use crate::{
    Action, Agenda, Deadlines, Fate, MountKey, Place, Recollection, RuntimeDirectory, Step, WatchPlan,
};

/// Probes in flight with the agenda of those to come, and the mounts where they are.
pub(crate) struct Outstanding<'a> {
    plan: &'a WatchPlan,
    runtime: &'a RuntimeDirectory,
    boot_id: &'a str,
    ledger: Ledger<'a>,
    agenda: Agenda,
    flights: Flights<'a>,
    health: TargetHealth<'a>,
}

impl<'a> Outstanding<'a> {
    /// Nothing yet.
    pub fn new(
        plan: &'a WatchPlan,
        runtime: &'a RuntimeDirectory,
        boot_id: &'a str,
        ledger: Ledger<'a>,
        agenda: Agenda,
    ) -> Self {
        let (flights, health) = (Flights::new(runtime), TargetHealth::new(runtime, &plan.targets));
        Self { plan, runtime, boot_id, ledger, agenda, flights, health }
    }

    /// What is remembered.
    pub const fn ledger(&self) -> &Ledger<'a> {
        &self.ledger
    }

    /// The same, for who has more to remember.
    pub const fn ledger_mut(&mut self) -> &mut Ledger<'a> {
        &mut self.ledger
    }

    /// What comes next.
    pub const fn agenda(&self) -> &Agenda {
        &self.agenda
    }

    /// The probes in flight.
    pub const fn flights(&self) -> &Flights<'a> {
        &self.flights
    }

    /// What is known of the targets.
    pub const fn health(&self) -> &TargetHealth<'a> {
        &self.health
    }

    /// Probes that have not ended, oldest first.
    pub fn statuses(&self) -> Vec<ProbeStatus> {
        self.flights.statuses(&self.agenda)
    }

    /// What to wait for.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited<'_>> {
        self.flights.awaited().chain(self.health.lookups().awaited())
    }

    /// Whether the end of a child has to be looked for.
    pub fn has_to_be_looked_at(&self) -> bool {
        self.flights.have_to_be_looked_at() || self.health.lookups().have_to_be_looked_at()
    }

    /// When to look although nothing has come.
    pub fn due(&self) -> Option<MonotonicTime> {
        let Self { agenda, plan, health, flights, .. } = self;
        let wake = agenda.next_wake(&Survey { plan, health, flights });
        [wake, health.lookups().due(), flights.due()].into_iter().flatten().min()
    }

    /// The children that are looked after here.
    pub fn children(&self) -> impl Iterator<Item = u32> {
        self.flights.children().chain(self.health.lookups().processes())
    }

    /// This process was stopped until now.
    pub const fn stood_still(&mut self, until: MonotonicTime) {
        self.health.stood_still(until);
    }

    /// The kernel says that its table of mounts has changed, or says nothing at all.
    pub const fn mounts_may_have_changed(&mut self) {
        self.health.table_may_have_changed();
    }

    /// The first round begins now.
    pub fn begin_rounds(&mut self) {
        self.agenda.begin_at(MonotonicClock.now());
    }

    /// What the agenda wants done now.
    pub fn next_action(&mut self) -> Option<Action> {
        let Self { agenda, plan, health, flights, .. } = self;
        agenda.act(MonotonicClock.now(), &Survey { plan, health, flights })
    }

    /// Starts a probe that the agenda wants begun, or says why that was not possible; then it is in nobody's way.
    pub fn start(
        &mut self,
        launch: Launch,
        place: &Place,
        task: impl FnOnce() -> Box<dyn ProbeTask>,
    ) -> Result<(), String> {
        let probe = launch.probe;
        let started = self.flights.start(launch, place, task, &mut self.ledger);
        match started {
            Ok(start) => {
                self.agenda.starts(probe, start);
                self.keep_and_show(probe);
                Ok(())
            }
            Err(why) => {
                self.agenda.ended(probe);
                Err(why)
            }
        }
    }

    /// A process that waits at a target counts as a probe of this series from now on.
    pub fn take_over(
        &mut self,
        target: usize,
        waiting: Waiting,
        deadlines: Deadlines,
        series: Vec<SeriesKey>,
        configuration: Option<ConfigurationKey>,
    ) {
        let probe = self.agenda.take_over(waiting.mount.clone(), deadlines, waiting.since);
        let (mount, mount_name) = (waiting.mount.clone(), self.health.mounts().name_of(target).to_owned());
        let site = Site { target: Some(target), mount, mount_name, mount_point: None };
        let launch = Launch { probe, series, deadlines, configuration, site };
        if let Err(why) = self.flights.take_over(launch, waiting, &mut self.ledger) {
            self.ledger.trouble("probe", &why);
            self.agenda.ended(probe);
            return;
        }
        self.keep_and_show(probe);
    }

    /// A slot of this mount was skipped; this is recorded of it.
    pub fn skip(&mut self, mount: &MountKey, samples: Vec<HistorySample>) {
        self.health.count_skipped(mount);
        self.flights.count_skipped(mount);
        self.ledger.record_samples(samples);
        self.ledger.changed();
    }

    /// A probe has come to a deadline.
    pub fn advance(&mut self, probe: ProbeId, step: Step) {
        let now = MonotonicClock.now();
        let Some(flight) = self.flights.get(probe) else { return };
        // One that the watch gave up has not passed its deadline.
        let is_broken_off = flight.is_broken_off();
        self.learn_from(probe);
        match step {
            Step::Slow => self.record_evidence(probe, now),
            Step::Terminate => {
                if !is_broken_off {
                    self.record_evidence(probe, now);
                    self.suspect(probe, now);
                }
                self.signal(probe, Signal::TERM);
            }
            Step::Kill => self.signal(probe, Signal::KILL),
            Step::Hang => {
                self.record_evidence(probe, now);
                if !is_broken_off {
                    self.suspect(probe, now);
                }
                self.flights.record_hung(probe, now, &self.agenda, &mut self.ledger);
            }
        }
        self.keep_and_show(probe);
    }

    /// Records what has ended.
    pub fn reap(&mut self, now: MonotonicTime) {
        while let Some((flight, end)) = self.flights.next_ended() {
            self.record_end(&flight, end, now);
        }
    }

    /// Records the ages of hung probes, and the outages that go with them, now and then.
    pub fn repeat_hung(&mut self, now: MonotonicTime) {
        let due = self.flights.to_repeat(now);
        if due.is_empty() {
            return;
        }
        for probe in due {
            self.flights.record_hung(probe, now, &self.agenda, &mut self.ledger);
            // It has gone on meanwhile, or not.
            self.suspect(probe, now);
        }
        self.health.record_open_outages(&mut self.ledger);
        self.keep();
    }

    /// Looks again at probes that were heard of shortly before their deadline.
    pub fn look_again(&mut self, now: MonotonicTime) {
        for probe in self.flights.take_look_again(now) {
            self.suspect(probe, now);
        }
    }

    /// Takes what was looked up. Heeds which targets answer, and says which facts were found of which.
    pub fn look_at_targets(&mut self, now: MonotonicTime) -> Vec<(usize, BTreeMap<String, String>)> {
        self.health.refresh_if_stale(&mut self.agenda, &mut self.ledger);
        let mut found = Vec::new();
        for (target, finding) in self.health.look(now) {
            match finding {
                Finding::Answered { mount, at, mount_number, mount_point } => {
                    if let Some(number) = mount_number {
                        self.learn(target, number, mount_point.as_deref());
                    }
                    let mounts = self.health.mounts();
                    let keys = [mount, mounts.own_key_of(target), mounts.key_of(target).clone()];
                    self.health.have_answered(&keys, at, &mut self.agenda, &mut self.ledger);
                }
                Finding::Silent { mount } => {
                    self.health.canary_is_silent(target, &mount, &self.flights, &mut self.ledger);
                }
                // Those of what shows beneath are not the target's.
                Finding::Facts(_) if self.health.mounts().missing(target).is_some() => {}
                Finding::Facts(facts) => found.push((target, facts)),
            }
        }
        found
    }

    /// Looks up what is due, unless a probe is in the way, and asks mounts that do not answer again.
    pub fn look_up(&mut self, facts: &Facts<'_>, now: MonotonicTime) {
        if !self.agenda.is_over() {
            self.health.ask_the_silent(now);
        }
        self.health.look_up(&self.plan.targets, facts, now, &self.flights);
    }

    /// Lookups that do not answer, to count as probes from now on.
    pub fn hand_over(&mut self, now: MonotonicTime, patience: Patience) -> Vec<Silent> {
        self.health.hand_over(now, patience)
    }

    /// Nothing more is looked up.
    pub fn stop_lookups(&mut self) {
        self.health.stop();
    }

    /// Nothing begins any more, and what is in flight is ended within this grace.
    pub fn stop(&mut self, grace: Nanoseconds) {
        for (probe, step) in self.agenda.stop(MonotonicClock.now(), grace) {
            if let Some(flight) = self.flights.get_mut(probe) {
                flight.break_off();
            }
            self.advance(probe, step);
        }
    }

    /// Records the ages of all hung probes for the last time, and keeps what the next watch has to know.
    pub fn conclude(&mut self, now: MonotonicTime) {
        for probe in self.flights.known_to_hang() {
            self.flights.record_hung(probe, now, &self.agenda, &mut self.ledger);
        }
        self.health.record_open_outages(&mut self.ledger);
        self.ledger.see_session(SessionEnd::Stopped);
        self.keep();
    }

    /// The watch waits no longer.
    pub fn leave(&mut self) {
        self.health.leave();
    }

    /// Goes on with what the last watch left, and with the outages that the history takes for open.
    pub fn resume(&mut self, kept: Checkpoint, open: &[Outage]) {
        let is_this_boot = kept.boot_id == self.boot_id;
        let known: Vec<ProbeId> = kept.outages.iter().map(|open| open.outage.probe).collect();
        self.health.resume(kept.outages, is_this_boot, &mut self.ledger);
        for kept in kept.flights.iter().filter(|kept| !kept.description.series.is_empty()) {
            let left = match is_this_boot {
                true => self.flights.resume(kept, &mut self.agenda),
                false => Flights::lost_with_boot(kept),
            };
            let Some(left) = left else { continue };
            self.ledger.record_samples(left.samples);
            if let Some(at) = left.answered {
                self.health.answered(&kept.mount, at, &mut self.ledger);
            }
        }
        self.health.resume_of_history(open, &known, &mut self.ledger);
        self.flights.remove_unknown_stamps();
        self.health.end_outages_of_changed_mounts(&mut self.ledger);
        self.keep();
    }

    /// The history says where targets were mounted.
    pub fn remember<'c>(&mut self, configurations: impl IntoIterator<Item = &'c Configuration>) {
        self.health.remember(configurations);
    }

    /// Names of the targets where nothing is mounted though something has to be.
    pub fn missing(&self) -> BTreeSet<String> {
        self.health.mounts().all_missing().into_values().flatten().collect()
    }

    /// Records which mounts are missing, and which are not any more.
    pub fn look_for_missing_mounts(&mut self) {
        self.health.look_for_missing_mounts(&mut self.agenda, &mut self.ledger);
    }

    /// The history says only now which outages it takes for open.
    pub fn recalled(&mut self, recollection: &Recollection) {
        let known: Vec<ProbeId> = self.health.outages().open().map(|outage| outage.probe).collect();
        self.health.resume_of_history(&recollection.open_outages, &known, &mut self.ledger);
        self.health.end_outages_of_changed_mounts(&mut self.ledger);
        self.look_for_missing_mounts();
        self.keep();
    }

    /// A target lies on the mount with this number, and so do its probes.
    pub fn learn(&mut self, target: usize, mount_number: u64, looked_for: Option<&Path>) {
        self.health.learn(target, mount_number, looked_for, &mut self.agenda, &mut self.ledger);
        let mounts = self.health.mounts();
        let (own, mount) = (mounts.own_key_of(target), mounts.key_of(target));
        self.flights.move_to(&own, mount, mounts.name_of(target), &mut self.agenda);
    }

    /// Learns from a probe that has opened its place, while it is still there: what hangs is the mount on which it truly is.
    fn learn_from(&mut self, probe: ProbeId) {
        let Some(flight) = self.flights.get(probe) else { return };
        let (Some(target), Some(number)) = (flight.site().target, flight.mount_number()) else { return };
        let mount_point = flight.site().mount_point.clone();
        self.learn(target, number, mount_point.as_deref());
        // Another one may stand in its place by now: then it stays where it was.
        let Some((mount, name)) = self.health.mounts().with_number(number) else { return };
        if let Some(flight) = self.flights.get_mut(probe) {
            flight.found_on(&mount, &name);
        }
        self.agenda.found_on(probe, &mount);
    }

    fn record_evidence(&mut self, probe: ProbeId, now: MonotonicTime) {
        self.flights.record_evidence(probe, now, &mut self.ledger);
    }

    fn suspect(&mut self, probe: ProbeId, now: MonotonicTime) {
        if let Some(flight) = self.flights.get_mut(probe) {
            self.health.suspect(flight, now, &mut self.ledger);
        }
    }

    fn signal(&mut self, probe: ProbeId, signal: Signal) {
        if let Some(flight) = self.flights.get_mut(probe) {
            flight.signal(signal);
        }
    }

    fn record_end(&mut self, flight: &Flight, end: ProcessEnd, now: MonotonicTime) {
        let probe = flight.probe();
        let Some(state) = self.agenda.state(probe).copied() else { return };
        self.agenda.ended(probe);
        let Site { target, mount_point, .. } = flight.site();
        if let (Some(target), Some(number)) = (target, flight.mount_number()) {
            self.learn(*target, number, mount_point.as_deref());
        }
        if let Some(fate) = flight.fate(&state, now) {
            self.record_fate(flight, fate, end, now);
        }
        self.flights.remove_stamps(probe);
        self.keep();
        self.ledger.changed();
    }

    fn record_fate(&mut self, flight: &Flight, fate: Fate, end: ProcessEnd, now: MonotonicTime) {
        let recorded = self.flights.samples_of(flight, fate, end);
        let (probe, series) = (flight.probe(), flight.series().to_string());
        if let Some(failure) = flight.preparation_failure() {
            let text = format!("{series}: {}", failure.sentence);
            if self.ledger.trouble(&series, &text) == Novelty::New {
                self.ledger.record_evidence(probe, flight.wall(failure.at), text);
            }
            if failure.failure == FailureCode::NOT_MOUNTED {
                self.health.refresh(&mut self.agenda, &mut self.ledger);
                self.look_for_missing_mounts();
            }
        }
        // What a command said is told unless it said the same before, and recorded each time.
        if let Some((text, at)) = flight.failure(recorded.first()) {
            self.ledger.trouble(&series, &format!("{series}: {text}"));
            self.ledger.record_evidence(probe, at, text);
        }
        let has_answered = matches!(fate, Fate::Ended { .. } | Fate::Released { .. })
            || recorded.first().is_some_and(|whole| whole.outcome == Outcome::Late);
        self.ledger.record_samples(recorded);
        if has_answered {
            // It may have begun when nobody knew where the target lies.
            let own = flight.site().target.map(|target| self.health.mounts().own_key_of(target));
            let mounts: Vec<MountKey> = std::iter::once(flight.site().mount.clone()).chain(own).collect();
            let at = flight.answered_at(fate, now);
            self.health.have_answered(&mounts, at, &mut self.agenda, &mut self.ledger);
        }
    }

    fn keep_and_show(&mut self, probe: ProbeId) {
        self.keep();
        self.flights.show(probe, &self.agenda, &mut self.ledger);
    }

    /// Keeps what the next watch has to know.
    fn keep(&mut self) {
        let kept = Checkpoint {
            version: 0,
            boot_id: self.boot_id.to_owned(),
            // One more, so that even a watch that only skipped slots leaves its second to no other.
            next_probe: ProbeId(self.agenda.next_probe().0 + 1),
            flights: self.flights.checkpoints(&self.agenda),
            outages: self.health.outages().to_keep(),
        };
        self.ledger.written(RuntimeFile::Flights, kept.write(self.runtime));
        self.health.keep_mounts(&mut self.ledger);
    }
}
