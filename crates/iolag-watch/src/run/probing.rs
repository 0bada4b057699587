//! Turning a plan into probes: what the agenda wants begun or skipped, who counts as a probe although nobody began it, and under which
//! circumstances.

use std::path::Path;

use iolag_model::{HistoryRecord, MonotonicTime, Nanoseconds, ProbeId, SessionEnd, counted};
use rustix::process::Signal;

use crate::agenda::subjects::covariate_spec;
use crate::memory::historian::Historian;
use crate::probe::checkpoint::Checkpoint;
use crate::probe::flight::Site;
use crate::probe::flights::{Launch, Waiting};
use crate::probe::purpose::Purpose;
use crate::probe::series::PlannedSeries;
use crate::run::outstanding::Outstanding;
use crate::targets::circumstances::Circumstances;
use crate::targets::lookups::{Patience, Reason, Silent};
use crate::{
    Action, Callbacks, Configurations, Deadlines, FirstContact, Location, MountKey, Place, ProbeState,
    Recall, Recollection, Round, Slot, Subject, WatchIdentity, WatchPlan, skipped,
};

/// A plan that is carried out.
pub(crate) struct Probing<'a> {
    plan: &'a WatchPlan,
    callbacks: Callbacks<'a>,
    outstanding: Outstanding<'a>,
    circumstances: Circumstances,
    series: PlannedSeries,
    /// How late the last round began.
    lag: Nanoseconds,
}

impl<'a> Probing<'a> {
    /// Records the session and the series of the plan.
    pub fn new(
        plan: &'a WatchPlan,
        callbacks: Callbacks<'a>,
        configurations: Configurations,
        mut outstanding: Outstanding<'a>,
    ) -> Self {
        let ledger = outstanding.ledger_mut();
        let circumstances = Circumstances::new(configurations, ledger);
        ledger.record_session();
        let (series, described) = PlannedSeries::of(plan, ledger.session().begin, callbacks.probe_task);
        described.into_iter().for_each(|series| ledger.record(HistoryRecord::Series(series)));
        outstanding.remember(circumstances.all());
        Self { plan, callbacks, outstanding, circumstances, series, lag: Nanoseconds::ZERO }
    }

    /// Goes on with what the last watch has left, what the history knows, and who has gone to targets already.
    pub fn take_up(&mut self, kept: Checkpoint, identity: &WatchIdentity, contacts: Vec<FirstContact>) {
        for contact in &contacts {
            if let FirstContact::Answered { target, mount_number } = contact {
                self.outstanding.learn(*target, *mount_number, None);
            }
        }
        self.outstanding.resume(kept, &identity.open_outages);
        self.outstanding.look_for_missing_mounts();
        for contact in contacts {
            if let FirstContact::Silent { target, child, start } = contact {
                let mount = self.outstanding.health().mounts().key_of(target).clone();
                let purpose = Purpose::Contact;
                self.take_over(target, Waiting { child, since: start, mount, purpose, stamps: None });
            }
        }
    }

    /// What is watched.
    pub const fn plan(&self) -> &'a WatchPlan {
        self.plan
    }

    /// Probes and outages that last.
    pub const fn outstanding(&self) -> &Outstanding<'a> {
        &self.outstanding
    }

    /// The same, to look at them.
    pub const fn outstanding_mut(&mut self) -> &mut Outstanding<'a> {
        &mut self.outstanding
    }

    /// How late the last round began.
    pub const fn lag(&self) -> Nanoseconds {
        self.lag
    }

    /// The configurations that hold now.
    pub fn into_configurations(self) -> Configurations {
        self.circumstances.into_configurations()
    }

    /// Does what the agenda wants done now. Of a round that has ended the historian is told.
    pub fn act(&mut self, historian: &mut Historian) {
        while let Some(action) = self.outstanding.next_action() {
            match action {
                Action::RoundBegan { round, lag, missed } => self.round_began(round, lag, missed),
                Action::Begin { probe, slot, mount } => self.begin(probe, slot, mount),
                Action::Skip { probe, slot, blocker, mount } => self.skip(probe, slot, blocker, &mount),
                Action::Advance(probe, step) => self.outstanding.advance(probe, step),
                Action::RoundEnded(round) => {
                    let ledger = self.outstanding.ledger_mut();
                    ledger.see_session(SessionEnd::Open);
                    historian.nudge();
                    ledger.changed();
                    ledger.observer().round_ended(round);
                }
            }
        }
    }

    /// Takes what was looked up, and looks up what is due.
    pub fn look_up(&mut self, now: MonotonicTime, recall: Recall) {
        for (target, facts) in self.outstanding.look_at_targets(now) {
            let (targets, ledger) = (&self.plan.targets, self.outstanding.ledger_mut());
            self.circumstances.found(&targets[target].name, facts, recall, targets, ledger);
        }
        self.take_over_lookups(now, Patience::UntilGivenUp);
        self.outstanding.look_up(self.callbacks.facts, now);
    }

    /// The history says only now what it knows: heeds it as if it had said so before the watch began.
    pub fn recalled(&mut self, recollection: &Recollection) {
        self.outstanding.remember(&recollection.configurations);
        let missing = self.outstanding.missing();
        let ledger = self.outstanding.ledger_mut();
        self.circumstances.recalled(recollection, &missing, &self.plan.targets, ledger);
        self.outstanding.recalled(recollection);
    }

    /// Nothing begins any more, and what is in flight is ended within this grace.
    pub fn stop(&mut self, now: MonotonicTime, grace: Nanoseconds) {
        self.outstanding.stop_lookups();
        self.take_over_lookups(now, Patience::None);
        self.outstanding.stop(grace);
    }

    fn round_began(&mut self, round: Round, lag: Nanoseconds, missed: u64) {
        let ledger = self.outstanding.ledger_mut();
        ledger.round_began(round.begin);
        self.lag = lag;
        if missed > 0 {
            let rounds = counted(missed, "round was", "rounds were");
            let text = format!("{rounds} missed: the watch itself was held up");
            ledger.record_event("", ledger.round_intended(), "late", text);
        }
        ledger.changed();
    }

    fn begin(&mut self, probe: ProbeId, slot: Slot, mount: MountKey) {
        let state = self.outstanding.agenda().state(probe);
        let Some(deadlines) = state.map(ProbeState::deadlines) else { return };
        let mounts = self.outstanding.health().mounts();
        let (place, spec, site, configuration) = match slot.subject {
            Subject::Task { target, task } => {
                let planned = &self.plan.targets[target];
                let task = &planned.tasks[task];
                let mount_point = mounts.required(target).map(Path::to_owned);
                let (host, runtime) = (&self.plan.host, &self.plan.runtime_directory);
                let place = match &planned.location {
                    Location::Directory(directory) => Place::of_task(directory, host, runtime, &task.name)
                        .mounted_at(mount_point.as_deref()),
                    Location::Server(_) => Place::Host,
                };
                let (mount, mount_name) = (mount.clone(), mounts.name_of(target).to_owned());
                let site = Site { target: Some(target), mount, mount_name, mount_point };
                (place, task.spec.clone(), site, self.circumstances.key_of(&planned.name))
            }
            Subject::Covariate(index) => {
                let mount = mount.clone();
                let site = Site { target: None, mount, mount_name: String::new(), mount_point: None };
                (Place::Host, covariate_spec(&self.plan.covariates[index].command), site, None)
            }
        };
        let series = self.series.of_subject(slot.subject).to_vec();
        let launch = Launch { probe, series, deadlines, configuration, site };
        let probe_task = self.callbacks.probe_task;
        if let Err(why) = self.outstanding.start(launch, &place, || probe_task(&spec, probe.0)) {
            let sentence = format!("a probe could not be started: {why}");
            self.outstanding.ledger_mut().trouble("start", &sentence);
            self.skip(probe, slot, None, &mount);
        }
    }

    fn skip(&mut self, probe: ProbeId, slot: Slot, blocker: Option<ProbeId>, mount: &MountKey) {
        let ledger = self.outstanding.ledger_mut();
        // The clock may have been set since the round began.
        ledger.anchor();
        let intended = ledger.round_intended();
        let keys = self.series.of_subject(slot.subject).iter().cloned();
        let samples = keys.map(|key| skipped(key, probe, intended, intended, blocker)).collect();
        self.outstanding.skip(mount, samples);
    }

    /// Lookups that do not answer count as probes from now on.
    fn take_over_lookups(&mut self, now: MonotonicTime, patience: Patience) {
        for Silent { target, child, start, mount, reason, stamps } in
            self.outstanding.hand_over(now, patience)
        {
            let purpose = if reason == Reason::Routine { Purpose::Contact } else { Purpose::Canary };
            self.take_over(target, Waiting { child, since: start, mount, purpose, stamps: Some(stamps) });
        }
    }

    /// Who waits at a target counts as the first probe there.
    fn take_over(&mut self, target: usize, waiting: Waiting) {
        let planned = &self.plan.targets[target];
        let Some(task) = planned.tasks.first() else {
            waiting.child.signal_group(Signal::KILL);
            return;
        };
        // It measures nothing that others could disturb, and has been waited for already.
        let deadlines =
            Deadlines { soft: Nanoseconds::ZERO, hard: task.deadline, at_deadline: task.at_deadline };
        let series = self.series.of_subject(Subject::Task { target, task: 0 }).to_vec();
        let configuration = self.circumstances.key_of(&planned.name);
        self.outstanding.take_over(target, waiting, deadlines, series, configuration);
    }
}
