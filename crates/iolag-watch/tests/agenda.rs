//! The agenda against a simulated machine: no processes, no clock, thousands of rounds.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{MonotonicTime, Nanoseconds, ProbeId, ProbePhase};
use iolag_watch::{
    Action, Agenda, AtDeadline, Deadlines, MountKey, Provision, Restraint, Schedule, Slot, Step, Subject,
    Surveyor, WatchLimit,
};
use proptest::prelude::*;

/// How a simulated probe behaves.
#[derive(Debug, Clone, Copy)]
enum Nature {
    /// It ends this long after its start, unless it is ended before.
    Ends(u64),
    /// It ends at this moment and no signal helps.
    Unkillable(u64),
}

/// A probe in flight on the simulated machine.
#[derive(Debug, Clone)]
struct Simulated {
    mount: MountKey,
    start: u64,
    end: u64,
    is_killable: bool,
}

/// A simulated machine: each target lies on a mount.
struct Machine {
    mount_of_target: Vec<usize>,
    in_flight: RefCell<BTreeMap<ProbeId, Simulated>>,
    /// Where a process is that is no probe.
    visited: RefCell<Option<MountKey>>,
}

impl Surveyor for Machine {
    fn mount_of(&self, subject: Subject) -> MountKey {
        match subject {
            Subject::Task { target, .. } => MountKey::Device(format!("0:{}", self.mount_of_target[target])),
            Subject::Covariate(index) => MountKey::Covariate(index.to_string()),
        }
    }

    fn is_visited(&self, mount: &MountKey) -> bool {
        self.visited.borrow().as_ref() == Some(mount)
    }

    fn begun(&self, probe: ProbeId) -> Option<MonotonicTime> {
        self.in_flight.borrow().get(&probe).map(|probe| MonotonicTime(probe.start))
    }
}

/// What became of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Begun { probe: ProbeId, at: u64 },
    Skipped { blocker: Option<ProbeId> },
}

struct Simulation {
    machine: Machine,
    agenda: Agenda,
    now: u64,
    told: BTreeMap<(u64, Subject), Told>,
    rounds: Vec<u64>,
    ended_rounds: Vec<u64>,
    lags: Vec<u64>,
    outstanding_max: usize,
}

impl Simulation {
    fn new(
        provisions: Vec<Provision>,
        mounts: &[usize],
        schedule: Schedule,
        orphans_max: u32,
        rounds: u64,
    ) -> Self {
        let machine = Machine {
            mount_of_target: mounts.to_vec(),
            in_flight: RefCell::default(),
            visited: RefCell::default(),
        };
        let limit = WatchLimit::Rounds(rounds);
        let agenda = Agenda::new(schedule, provisions, orphans_max, limit, ProbeId(1));
        Self {
            machine,
            agenda,
            now: 0,
            told: BTreeMap::new(),
            rounds: Vec::new(),
            ended_rounds: Vec::new(),
            lags: Vec::new(),
            outstanding_max: 0,
        }
    }

    /// Runs to the end. `nature` says how the probe of a slot behaves, `stall` how long the watch is held up after a moment.
    fn run(&mut self, nature: impl Fn(Slot) -> Nature, stall: impl Fn(u64) -> u64) {
        for _ in 0..10_000_000 {
            let ended: Vec<ProbeId> = {
                let in_flight = self.machine.in_flight.borrow();
                in_flight.iter().filter(|(_, probe)| probe.end <= self.now).map(|(id, _)| *id).collect()
            };
            for probe in ended {
                self.machine.in_flight.borrow_mut().remove(&probe);
                self.agenda.ended(probe);
            }
            while let Some(action) = self.agenda.act(MonotonicTime(self.now), &self.machine) {
                self.carry_out(action, &nature);
            }
            if self.agenda.is_over() {
                return;
            }
            let end = self.machine.in_flight.borrow().values().map(|probe| probe.end).min();
            let wake = self.agenda.next_wake(&self.machine).map(|wake| wake.0);
            let next = [end, wake]
                .into_iter()
                .flatten()
                .min()
                .expect("a watch that is not over waits for something");
            assert!(next > self.now, "the agenda must not want to be asked again at once");
            self.now = next + stall(next);
        }
        panic!("the simulation does not end");
    }

    fn carry_out(&mut self, action: Action, nature: &impl Fn(Slot) -> Nature) {
        match action {
            Action::RoundBegan { round, lag, missed } => {
                let expected = self.rounds.last().map_or(round.number, |last| round.number - last - 1);
                assert_eq!(missed, expected);
                assert!(self.rounds.last().is_none_or(|last| *last < round.number));
                self.rounds.push(round.number);
                self.lags.push(lag.0);
            }
            Action::RoundEnded(round) => self.ended_rounds.push(round),
            Action::Begin { probe, slot, mount } => self.begin(probe, slot, mount, nature(slot)),
            Action::Skip { slot, blocker, mount, .. } => {
                if let Some(blocker) = blocker {
                    assert!(
                        self.machine.in_flight.borrow().contains_key(&blocker),
                        "a blocker is outstanding"
                    );
                }
                let is_outstanding =
                    self.machine.in_flight.borrow().values().any(|probe| probe.mount == mount);
                assert!(blocker.is_some() || !is_outstanding, "what is in the way is named");
                self.tell(slot, Told::Skipped { blocker });
            }
            Action::Advance(probe, Step::Terminate) => {
                let mut in_flight = self.machine.in_flight.borrow_mut();
                let probe = in_flight.get_mut(&probe).expect("only what is in flight is ended");
                if probe.is_killable {
                    probe.end = self.now + 1;
                }
            }
            Action::Advance(..) => {}
        }
    }

    fn begin(&mut self, probe: ProbeId, slot: Slot, mount: MountKey, nature: Nature) {
        let mut in_flight = self.machine.in_flight.borrow_mut();
        assert!(in_flight.values().all(|other| other.mount != mount), "one outstanding probe per mount");
        let in_the_way = in_flight
            .keys()
            .filter_map(|other| self.agenda.state(*other))
            .filter(|state| state.phase() == ProbePhase::InFlight)
            .count();
        assert_eq!(in_the_way, 0, "probes within their soft deadlines do not overlap");
        let (end, is_killable) = match nature {
            Nature::Ends(after) => (self.now + after.max(1), true),
            Nature::Unkillable(end) => (end.max(self.now + 1), false),
        };
        in_flight.insert(probe, Simulated { mount, start: self.now, end, is_killable });
        self.outstanding_max = self.outstanding_max.max(in_flight.len());
        drop(in_flight);
        self.tell(slot, Told::Begun { probe, at: self.now });
    }

    fn tell(&mut self, slot: Slot, told: Told) {
        let before = self.told.insert((slot.round, slot.subject), told);
        assert_eq!(before, None, "every slot is told once");
    }
}

const SOFT: u64 = 20;
const HARD: u64 = 50;

fn provision(subject: Subject, at_deadline: AtDeadline) -> Provision {
    let deadlines = Deadlines { soft: Nanoseconds(SOFT), hard: Nanoseconds(HARD), at_deadline };
    Provision { subject, deadlines, restraint: Restraint::HeldBack }
}

fn millions(count: u64) -> u64 {
    count * 1_000_000
}

#[test]
fn a_hang_of_four_hundred_rounds_blocks_its_mount_alone() {
    let task = |target| Subject::Task { target, task: 0 };
    let end = AtDeadline::End { grace: Nanoseconds(5) };
    let provisions =
        vec![provision(task(0), end), provision(task(1), end), provision(Subject::Covariate(0), end)];
    // The period is that of the grid's smallest, a million times the durations above.
    let schedule = Schedule::new(MonotonicTime(0), Nanoseconds(millions(1)), Nanoseconds::ZERO, 3);
    let mut simulation = Simulation::new(provisions, &[0, 1], schedule, 8, 1000);
    let nature = |slot: Slot| match slot {
        Slot { subject, round: 300, .. } if subject == task(0) => Nature::Unkillable(millions(700) - 1),
        _ => Nature::Ends(3),
    };
    simulation.run(nature, |_| 0);
    assert_eq!(simulation.rounds, (0..1000).collect::<Vec<_>>());
    assert_eq!(simulation.ended_rounds, simulation.rounds);
    assert!(simulation.lags.iter().all(|lag| *lag == 0));
    assert_eq!(simulation.outstanding_max, 2);
    let Told::Begun { probe: culprit, .. } = simulation.told[&(300, task(0))] else { panic!() };
    for round in 0..1000 {
        let told = simulation.told[&(round, task(0))];
        match round {
            301..700 => assert_eq!(told, Told::Skipped { blocker: Some(culprit) }, "{round}"),
            _ => assert!(matches!(told, Told::Begun { .. }), "{round} {told:?}"),
        }
        for other in [task(1), Subject::Covariate(0)] {
            let Told::Begun { at, .. } = simulation.told[&(round, other)] else { panic!("{round}") };
            assert!(at - millions(round) <= SOFT + 6, "{round}: {at}");
        }
    }
}

#[test]
fn with_too_many_hung_probes_only_controls_go_on() {
    let task = |target| Subject::Task { target, task: 0 };
    let mut provisions: Vec<_> = (0..4).map(|target| provision(task(target), AtDeadline::Wait)).collect();
    provisions[3].restraint = Restraint::Free;
    let schedule = Schedule::new(MonotonicTime(0), Nanoseconds(millions(1)), Nanoseconds::ZERO, 3);
    let mut simulation = Simulation::new(provisions, &[0, 1, 2, 3], schedule, 2, 10);
    let nature = |slot: Slot| match slot.subject {
        Subject::Task { target: 0 | 1, .. } => Nature::Unkillable(u64::MAX),
        _ => Nature::Ends(3),
    };
    simulation.run(nature, |_| 0);
    for round in 1..10 {
        assert!(matches!(simulation.told[&(round, task(2))], Told::Skipped { blocker: Some(_) }), "{round}");
        assert!(matches!(simulation.told[&(round, task(3))], Told::Begun { .. }), "{round}");
    }
}

/// An agenda for one round of one task on each of two targets, which lie on mounts of their own, and that machine.
fn two_targets() -> (Agenda, Machine) {
    let task = |target| Subject::Task { target, task: 0 };
    let provisions = vec![provision(task(0), AtDeadline::Wait), provision(task(1), AtDeadline::Wait)];
    let schedule = Schedule::new(MonotonicTime(0), Nanoseconds(millions(1)), Nanoseconds::ZERO, 3);
    let mut agenda = Agenda::new(schedule, provisions, 8, WatchLimit::Rounds(1), ProbeId(1));
    let machine =
        Machine { mount_of_target: vec![0, 1], in_flight: RefCell::default(), visited: RefCell::default() };
    assert!(matches!(agenda.act(MonotonicTime(0), &machine), Some(Action::RoundBegan { .. })));
    (agenda, machine)
}

/// The mount on which the next probe begins, which ends at once.
fn begun_on(agenda: &mut Agenda, machine: &Machine) -> Option<MountKey> {
    match agenda.act(MonotonicTime(1), machine)? {
        Action::Begin { probe, mount, .. } => {
            agenda.ended(probe);
            Some(mount)
        }
        other => panic!("{other:?}"),
    }
}

fn device(minor: u32) -> MountKey {
    MountKey::Device(format!("0:{minor}"))
}

#[test]
fn a_mount_that_is_visited_is_left_alone_until_the_visitor_is_gone() {
    let (mut agenda, machine) = two_targets();
    machine.visited.replace(Some(device(0)));
    assert_eq!(begun_on(&mut agenda, &machine), Some(device(1)));
    assert_eq!(begun_on(&mut agenda, &machine), None);
    assert!(!agenda.is_over(), "its slot waits");
    machine.visited.replace(None);
    assert_eq!(begun_on(&mut agenda, &machine), Some(device(0)));
}

#[test]
fn the_deadline_counts_from_the_start_of_the_process() {
    // As long as its task has not begun there is nothing else to count from, and its duration is that since the start.
    let (mut agenda, machine) = two_targets();
    let Some(Action::Begin { probe, .. }) = agenda.act(MonotonicTime(1), &machine) else { panic!() };
    agenda.starts(probe, MonotonicTime(9));
    assert_eq!(agenda.next_wake(&machine), Some(MonotonicTime(9 + SOFT)));
    let slow = agenda.act(MonotonicTime(9 + SOFT), &machine);
    assert_eq!(slow, Some(Action::Advance(probe, Step::Slow)));
    assert_eq!(agenda.next_wake(&machine), Some(MonotonicTime(9 + HARD)));
}

#[test]
fn a_process_that_is_taken_over_counts_as_a_probe_where_it_is_found() {
    let deadlines =
        Deadlines { soft: Nanoseconds::ZERO, hard: Nanoseconds(HARD), at_deadline: AtDeadline::Wait };
    let (mut agenda, machine) = two_targets();
    let own = MountKey::Target("one".into());
    let probe = agenda.take_over(own, deadlines, MonotonicTime(0));
    assert_eq!(agenda.act(MonotonicTime(1), &machine), Some(Action::Advance(probe, Step::Slow)));
    agenda.found_on(probe, &device(0));
    assert_eq!(begun_on(&mut agenda, &machine), Some(device(1)));
    assert_eq!(begun_on(&mut agenda, &machine), None);
    assert_eq!(
        agenda.act(MonotonicTime(HARD), &machine),
        Some(Action::Advance(probe, Step::Hang)),
        "deadlines count from its own start"
    );
    let skipped = agenda.act(MonotonicTime(HARD), &machine);
    assert!(matches!(&skipped, Some(Action::Skip { blocker, .. }) if *blocker == Some(probe)), "{skipped:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_slot_is_told_once_and_no_mount_has_two_probes(
        mounts in prop::collection::vec(0_usize..3, 1..5),
        tasks in 1_usize..4,
        covariates in 0_usize..3,
        waits: bool,
        orphans_max in 1_u32..5,
        jitter in 0_u64..2_000_000,
        seed: u64,
        rounds in 1_u64..40,
        // Durations in hundredths of a period; the last ones are hangs.
        natures in prop::collection::vec(prop_oneof![6 => 1_u64..30, 2 => 30_u64..900, 1 => 900_u64..3000], 1..30),
        stalls in prop::collection::vec(prop_oneof![20 => Just(0_u64), 1 => 1_u64..500], 1..50),
    ) {
        let period = millions(1);
        let at_deadline = if waits { AtDeadline::Wait } else { AtDeadline::End { grace: Nanoseconds(period / 20) } };
        let deadlines = Deadlines { soft: Nanoseconds(period / 5), hard: Nanoseconds(period * 3), at_deadline };
        let subjects = (0..mounts.len())
            .flat_map(|target| (0..tasks).map(move |task| Subject::Task { target, task }))
            .chain((0..covariates).map(Subject::Covariate));
        let provisions: Vec<_> = subjects
            .map(|subject| Provision { subject, deadlines, restraint: Restraint::HeldBack })
            .collect();
        let count = provisions.len();
        let schedule = Schedule::new(MonotonicTime(0), Nanoseconds(period), Nanoseconds(jitter), seed);
        let mut simulation = Simulation::new(provisions, &mounts, schedule, orphans_max, rounds);
        let hash = |number: u64| (number ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let nature = |slot: Slot| {
            let subject = match slot.subject {
                Subject::Task { target, task } => target * 16 + task,
                Subject::Covariate(index) => 1000 + index,
            };
            let hundredths = natures[hash(slot.round * 2000 + subject as u64) as usize % natures.len()];
            let length = hundredths * period / 100;
            if hundredths >= 900 { Nature::Unkillable(slot.intended.0 + length) } else { Nature::Ends(length) }
        };
        let stall = |moment: u64| stalls[hash(moment) as usize % stalls.len()] * period / 100;
        simulation.run(nature, stall);
        prop_assert_eq!(simulation.rounds.len() as u64, rounds);
        prop_assert_eq!(&simulation.ended_rounds, &simulation.rounds);
        prop_assert_eq!(simulation.told.len(), count * simulation.rounds.len());
        let probes: BTreeSet<ProbeId> = simulation
            .told
            .values()
            .filter_map(|told| if let Told::Begun { probe, .. } = told { Some(*probe) } else { None })
            .collect();
        let begun = simulation.told.values().filter(|told| matches!(told, Told::Begun { .. })).count();
        prop_assert_eq!(probes.len(), begun);
        prop_assert!(simulation.lags.iter().all(|lag| *lag <= 6 * period));
    }
}
