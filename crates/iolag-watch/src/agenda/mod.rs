//! The agenda: which probe comes next, which slot is skipped because of which probe, and which deadline is due.
//!
//! Pure: it has no clock, no processes and no files; it is asked what to do now and told what ended. Rules:
//!
//! 1. A round makes one slot for every task of every target and for every covariate, in random order. Every slot of a round that
//!    began is either begun or skipped, exactly once.
//! 2. Probes run one after another over all mounts, so that they do not disturb each other. One that has passed its soft deadline
//!    holds up nothing but its own mount.
//! 3. On one mount at most one probe is outstanding. A slot of a mount with a slow probe waits; it is skipped when that probe
//!    counts as hung, or when the next round begins. A slot of a mount that is being looked up waits, too.
//! 4. A round that begins while slots of the one before still wait skips those.
//! 5. With `orphans_max` hung probes nothing is begun but controls.

pub(crate) mod probe_ids;
pub(crate) mod probe_state;
pub(crate) mod schedule;
pub(crate) mod subjects;

use std::collections::VecDeque;

use iolag_model::{MonotonicTime, Nanoseconds, ProbeId, ProbePhase};

use probe_ids::next_probe;
use probe_state::{Deadlines, ProbeState, Step};
use schedule::{Round, Schedule};
use subjects::{MountKey, Provision, Restraint, Slot, Subject};

/// What the agenda has to ask.
pub trait Surveyor {
    /// On what a subject's probe would be outstanding.
    fn mount_of(&self, subject: Subject) -> MountKey;

    /// Whether a process that is no probe is at this mount.
    fn is_visited(&self, mount: &MountKey) -> bool;

    /// When the task of a probe began, if it has.
    fn begun(&self, probe: ProbeId) -> Option<MonotonicTime>;
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Nothing to carry out: a round has begun.
    RoundBegan {
        /// Which.
        round: Round,
        /// How late.
        lag: Nanoseconds,
        /// Rounds between the last one and this one in which nobody watched.
        missed: u64,
    },
    /// A probe is to be started.
    Begin {
        /// Its name.
        probe: ProbeId,
        /// Its slot.
        slot: Slot,
        /// On what it is outstanding.
        mount: MountKey,
    },
    /// A slot is skipped.
    Skip {
        /// Its name.
        probe: ProbeId,
        /// The slot.
        slot: Slot,
        /// Because of which probe; `None` if nobody watched when its turn came.
        blocker: Option<ProbeId>,
        /// On what its probe would have been outstanding.
        mount: MountKey,
    },
    /// A probe has come to a deadline.
    Advance(ProbeId, Step),
    /// Nothing to carry out: every slot of the round is over, but for hung ones.
    RoundEnded(u64),
}

/// A probe that has not ended.
#[derive(Debug, Clone)]
struct Flight {
    probe: ProbeId,
    mount: MountKey,
    /// `None` for an adopted one.
    round: Option<u64>,
    state: ProbeState,
}

/// How many rounds there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchLimit {
    /// That many.
    Rounds(u64),
    /// Until somebody says so.
    UntilStopped,
}

/// The agenda.
#[derive(Debug)]
pub struct Agenda {
    schedule: Schedule,
    provisions: Vec<Provision>,
    orphans_max: usize,
    limit: WatchLimit,
    next_probe: ProbeId,
    next_round: Round,
    last_round: Option<u64>,
    open_round: Option<u64>,
    rounds: u64,
    waiting: VecDeque<Slot>,
    flights: Vec<Flight>,
    is_stopping: bool,
}

impl Agenda {
    /// An agenda whose first round begins at the origin of the schedule, and whose first probe has this name.
    pub fn new(
        schedule: Schedule,
        provisions: Vec<Provision>,
        orphans_max: u32,
        limit: WatchLimit,
        first_probe: ProbeId,
    ) -> Self {
        let next_round = schedule.round(0);
        Self {
            schedule,
            provisions,
            orphans_max: orphans_max.max(1) as usize,
            limit,
            next_probe: first_probe,
            next_round,
            last_round: None,
            open_round: None,
            rounds: 0,
            waiting: VecDeque::new(),
            flights: Vec::new(),
            is_stopping: false,
        }
    }

    /// The first round begins at this moment instead of the one that the schedule was made for.
    pub fn begin_at(&mut self, origin: MonotonicTime) {
        self.schedule = self.schedule.moved_to(origin);
        self.next_round = self.schedule.round(0);
    }

    /// Takes over a probe that an earlier watch started.
    pub fn adopt(&mut self, probe: ProbeId, mount: MountKey, state: ProbeState) {
        self.flights.push(Flight { probe, mount, round: None, state });
    }

    /// A process that was at a mount before any probe counts as one from now on. Returns its name.
    pub fn take_over(&mut self, mount: MountKey, deadlines: Deadlines, start: MonotonicTime) -> ProbeId {
        let probe = self.take_probe_id();
        self.adopt(probe, mount, ProbeState::new(deadlines, start));
        probe
    }

    /// The process of a probe that is to begin starts at this moment, from which its deadlines count as its durations do.
    pub fn starts(&mut self, probe: ProbeId, start: MonotonicTime) {
        for flight in self.flights.iter_mut().filter(|flight| flight.probe == probe) {
            flight.state = ProbeState::new(flight.state.deadlines(), start);
        }
    }

    /// A probe has told on which mount it is.
    pub fn found_on(&mut self, probe: ProbeId, mount: &MountKey) {
        for flight in self.flights.iter_mut().filter(|flight| flight.probe == probe) {
            flight.mount.clone_from(mount);
        }
    }

    /// What is to be done next, if anything is due at `now`. To be called until it says `None`.
    pub fn act(&mut self, now: MonotonicTime, surveyor: &dyn Surveyor) -> Option<Action> {
        self.due_step(now, surveyor)
            .or_else(|| self.due_round(now, surveyor))
            .or_else(|| self.due_slot(now, surveyor))
            .or_else(|| self.due_end_of_round())
    }

    /// A name that no probe has, for what is known without one.
    pub const fn unused_probe(&mut self) -> ProbeId {
        self.take_probe_id()
    }

    /// A probe has ended.
    pub fn ended(&mut self, probe: ProbeId) {
        self.flights.retain(|flight| flight.probe != probe);
    }

    /// No round and no slot begins any more; what is in flight is to be ended. Says what to do about each.
    pub fn stop(&mut self, now: MonotonicTime, grace: Nanoseconds) -> Vec<(ProbeId, Step)> {
        self.is_stopping = true;
        self.waiting.clear();
        self.flights
            .iter_mut()
            .filter_map(|flight| Some((flight.probe, flight.state.stop(now, grace)?)))
            .collect()
    }

    /// Whether nothing is left to do but to wait for hung probes.
    pub fn is_over(&self) -> bool {
        let no_more_rounds = self.is_stopping || self.rounds_are_used_up();
        no_more_rounds
            && self.waiting.is_empty()
            && self.flights.iter().all(|flight| flight.state.phase() == ProbePhase::Hung)
            && (self.is_stopping || self.open_round.is_none())
    }

    /// When the agenda is to be asked again if nothing ends before; `None` if only an end can change anything.
    pub fn next_wake(&self, surveyor: &dyn Surveyor) -> Option<MonotonicTime> {
        let next_round = (!self.is_stopping && !self.rounds_are_used_up()).then_some(self.next_round.begin);
        let steps = self.flights.iter().filter_map(|flight| flight.state.due(surveyor.begun(flight.probe)));
        steps.chain(next_round).min()
    }

    /// When the next round begins.
    pub const fn next_round(&self) -> Round {
        self.next_round
    }

    /// Rounds begun.
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Where a probe stands, if it has not ended.
    pub fn state(&self, probe: ProbeId) -> Option<&ProbeState> {
        self.flights.iter().find(|flight| flight.probe == probe).map(|flight| &flight.state)
    }

    /// The name that the next probe will have.
    pub const fn next_probe(&self) -> ProbeId {
        self.next_probe
    }

    /// A name that no other probe has.
    const fn take_probe_id(&mut self) -> ProbeId {
        let probe = self.next_probe;
        self.next_probe = next_probe(probe);
        probe
    }

    fn due_step(&mut self, now: MonotonicTime, surveyor: &dyn Surveyor) -> Option<Action> {
        self.flights.iter_mut().find_map(|flight| {
            let step = flight.state.advance(now, surveyor.begun(flight.probe))?;
            Some(Action::Advance(flight.probe, step))
        })
    }

    fn due_round(&mut self, now: MonotonicTime, surveyor: &dyn Surveyor) -> Option<Action> {
        if self.is_stopping || self.rounds_are_used_up() || now < self.next_round.begin {
            return None;
        }
        if let Some(slot) = self.waiting.pop_front() {
            let mount = surveyor.mount_of(slot.subject);
            let blocker =
                self.outstanding_on(&mount).or_else(|| self.in_the_way()).map(|flight| flight.probe);
            return Some(self.skip(slot, blocker, mount));
        }
        if let Some(ended) = self.open_round.take() {
            return Some(Action::RoundEnded(ended));
        }
        Some(self.begin_round(now))
    }

    fn begin_round(&mut self, now: MonotonicTime) -> Action {
        // Of several rounds that are due only the latest begins.
        let round = self.last_round.map_or(self.next_round, |last| self.schedule.after(last, now));
        let missed = self.last_round.map_or(round.number, |last| round.number - last - 1);
        let slot = |provision: &Provision| Slot {
            subject: provision.subject,
            round: round.number,
            intended: round.begin,
        };
        let mut slots: Vec<Slot> = self.provisions.iter().map(slot).collect();
        self.schedule.shuffle(round.number, &mut slots);
        self.waiting.extend(slots);
        self.open_round = Some(round.number);
        self.last_round = Some(round.number);
        self.next_round = self.schedule.round(round.number + 1);
        self.rounds += 1;
        Action::RoundBegan { round, lag: now.since(round.begin), missed }
    }

    fn due_slot(&mut self, now: MonotonicTime, surveyor: &dyn Surveyor) -> Option<Action> {
        let mut position = 0;
        while let Some(slot) = self.waiting.get(position).copied() {
            let mount = surveyor.mount_of(slot.subject);
            let blocker = self.outstanding_on(&mount).or_else(|| self.holding_back(slot.subject));
            match blocker.map(|flight| (flight.probe, flight.state.phase())) {
                Some((probe, ProbePhase::Hung)) => {
                    self.waiting.remove(position);
                    return Some(self.skip(slot, Some(probe), mount));
                }
                None if self.in_the_way().is_none() && !surveyor.is_visited(&mount) => {
                    self.waiting.remove(position);
                    return Some(self.begin(now, slot, mount));
                }
                _ => position += 1,
            }
        }
        None
    }

    fn due_end_of_round(&mut self) -> Option<Action> {
        let round = self.open_round?;
        let has_work =
            |flight: &Flight| flight.round == Some(round) && flight.state.phase() != ProbePhase::Hung;
        if !self.waiting.is_empty() || self.flights.iter().any(has_work) {
            return None;
        }
        self.open_round = None;
        Some(Action::RoundEnded(round))
    }

    fn begin(&mut self, now: MonotonicTime, slot: Slot, mount: MountKey) -> Action {
        let probe = self.take_probe_id();
        let provision = self.provisions.iter().find(|provision| provision.subject == slot.subject);
        let deadlines = provision.expect("slots are made of provisions").deadlines;
        let state = ProbeState::new(deadlines, now);
        self.flights.push(Flight { probe, mount: mount.clone(), round: Some(slot.round), state });
        Action::Begin { probe, slot, mount }
    }

    const fn skip(&mut self, slot: Slot, blocker: Option<ProbeId>, mount: MountKey) -> Action {
        Action::Skip { probe: self.take_probe_id(), slot, blocker, mount }
    }

    fn outstanding_on(&self, mount: &MountKey) -> Option<&Flight> {
        self.flights.iter().find(|flight| flight.mount == *mount)
    }

    /// The probe that holds up all mounts.
    fn in_the_way(&self) -> Option<&Flight> {
        self.flights.iter().find(|flight| flight.state.phase() == ProbePhase::InFlight)
    }

    /// The oldest hung probe, if there are too many of them for this subject.
    fn holding_back(&self, subject: Subject) -> Option<&Flight> {
        let restraint = self.provisions.iter().find(|provision| provision.subject == subject)?.restraint;
        let mut hung = self.flights.iter().filter(|flight| flight.state.phase() == ProbePhase::Hung);
        let oldest = hung.next()?;
        (restraint == Restraint::HeldBack && 1 + hung.count() >= self.orphans_max).then_some(oldest)
    }

    fn rounds_are_used_up(&self) -> bool {
        matches!(self.limit, WatchLimit::Rounds(rounds) if self.rounds >= rounds)
    }
}
