//! What `iolag check` does in one directory.
//!
//! ```text
//! round k:  [agree: is the budget used?]  begin  turn of directory 0  agree  turn of directory 1  agree  …
//! ```
//! Directories take strict turns: in each round, directory j works only between meeting j of that round (the beginning is
//! meeting 0) and the next, while the clients of all others wait. So no directory disturbs another, and drift hits all alike.
//! Every client attends every meeting; one that hangs is given up by its keeper, and the others go on.
//!
//! A turn consists of groups (listing, creating, compiling, objects, calls, stream) in an order shuffled by the seed, those
//! that the turn before had no time for first. A group repeats a unit, for example one object's life from create to delete.
//! A unit is started only if it can be expected to end in time, given what it took before; so slow directories get fewer
//! repetitions and fewer rounds, never more time.
//!
//! Limits: round 0 is the cold one as far as iolag is concerned, the caches are as they were found. An object is read shortly
//! after it was written, by the same client: such reads are warm. The stream's reads follow its fsync and may be answered
//! from memory too. One operation that takes longer than all before can exceed the budget; nothing interrupts it.

use std::sync::Arc;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{CheckSpec, Meeting, MonotonicTime, Nanoseconds, Operation, StageRecord};

use crate::check_units::{Group, Stream, Unit};
use crate::{Client, Done, Step};

/// One directory's client. Its requests name objects of rank 0, since it is alone in its directory.
#[derive(Debug)]
pub struct CheckClient {
    spec: CheckSpec,
    place: CheckPlace,
    tasks: CheckTasks,
    stages: Arc<[StageRecord]>,
    random: Random,
    round: usize,
    /// Meetings of this round that were attended, the beginning not counted.
    attended: u32,
    /// When the budget ends; known since the first meeting.
    end: Option<MonotonicTime>,
    state: State,
    turn: Turn,
    unit: Unit,
    costs: [Option<Nanoseconds>; Group::ALL.len()],
    missed: Vec<Group>,
    is_stream_place_made: bool,
}

/// Which of how many directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckPlace {
    /// Its number, from 0: the rank at the meetings.
    pub directory: u32,
    /// How many there are.
    pub directories: u32,
}

/// Which tasks can be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckTasks {
    /// List, create and compile.
    All,
    /// List and create: no compiler was found.
    WithoutCompiler,
    /// None: the target is no directory.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Between two rounds: everybody is asked whether the budget is used.
    BetweenRounds,
    Voting,
    /// The round is to be begun.
    Opening,
    Entering,
    /// Another directory's turn comes first, or was last.
    Waiting,
    Attending,
    Acting,
    /// The turn is over, the stage is not yet.
    Closing,
    Over,
}

/// One directory's share of a round.
#[derive(Debug)]
struct Turn {
    end: MonotonicTime,
    /// Groups that are still to come, the next one last.
    groups: Vec<Group>,
    group: Option<Group>,
    repetition: u32,
    unit_start: MonotonicTime,
    units: u32,
}

/// How many rounds a slow directory is to get at least, if its budget allows.
const ROUNDS_WANTED: u64 = 3;
/// A round is not begun with less than this fraction of the budget left.
const LAST_FRACTION: u64 = 50;

impl CheckClient {
    /// The client of one directory. `stages` is the list of [`crate::stages`] for this spec, one per round; `seed` shuffles.
    pub fn new(
        spec: &CheckSpec,
        place: CheckPlace,
        tasks: CheckTasks,
        stages: Arc<[StageRecord]>,
        seed: u64,
    ) -> Self {
        Self {
            spec: spec.clone(),
            place,
            tasks,
            stages,
            random: Random(seed ^ (u64::from(place.directory) << 32)),
            round: 0,
            attended: 0,
            end: None,
            state: State::Opening,
            turn: Turn::ending_at(MonotonicTime::default()),
            unit: Unit::default(),
            costs: [None; Group::ALL.len()],
            missed: Vec::new(),
            is_stream_place_made: false,
        }
    }

    fn end(&self) -> MonotonicTime {
        self.end.unwrap_or_default()
    }

    fn is_budget_used(&self, now: MonotonicTime) -> bool {
        self.round >= self.stages.len() || self.end().since(now).0 <= self.spec.budget_ns.0 / LAST_FRACTION
    }

    /// Everything that is not the next operation of a unit.
    fn advance(&mut self, now: MonotonicTime) -> Option<Step> {
        match self.state {
            State::BetweenRounds => {
                self.state = State::Voting;
                Some(Step::Agree { value: u64::from(self.is_budget_used(now)) })
            }
            State::Opening => {
                let Some(stage) = self.stages.get(self.round) else {
                    self.state = State::Over;
                    return None;
                };
                self.state = State::Entering;
                Some(Step::Begin { stage: stage.stage, value: 0 })
            }
            State::Waiting => {
                self.state = State::Attending;
                Some(Step::Agree { value: 0 })
            }
            State::Acting => self.act(now),
            State::Closing => {
                self.state = if self.attended + 1 >= self.place.directories {
                    self.round += 1;
                    State::BetweenRounds
                } else {
                    State::Waiting
                };
                Some(Step::End)
            }
            // Over, or asked without having met: then the run is over for everybody.
            State::Voting | State::Entering | State::Attending | State::Over => Some(Step::Finished),
        }
    }

    /// A meeting within the round was attended: whose turn is it?
    fn take_seat(&mut self, now: MonotonicTime) {
        if self.attended == self.place.directory {
            self.begin_turn(now);
        } else if self.attended + 1 == self.place.directories {
            self.round += 1;
            self.state = State::BetweenRounds;
        } else {
            self.state = State::Waiting;
        }
    }

    fn begin_turn(&mut self, now: MonotonicTime) {
        self.state = State::Acting;
        self.turn = Turn::ending_at(now.after(self.share(now)));
        let mut groups: Vec<_> =
            Group::ALL.into_iter().filter(|group| group.is_possible(self.tasks)).collect();
        self.random.shuffle(&mut groups);
        // The next group is taken from the end, so what was missed goes there.
        groups.sort_by_key(|group| self.missed.contains(group));
        self.missed.clear();
        self.turn.groups = groups;
    }

    /// The time that this turn may take: the rest of the budget in equal shares for the directories of this round that
    /// are still to come, and for the rounds that are still wanted.
    fn share(&self, now: MonotonicTime) -> Nanoseconds {
        let turns = u64::from(self.place.directories - self.place.directory);
        let rounds = ROUNDS_WANTED.saturating_sub(self.round as u64).max(2);
        Nanoseconds(self.end().since(now).0 / (turns * rounds))
    }

    /// A unit is over, or the turn has just begun: the next unit is made ready, or the turn is over.
    fn act(&mut self, now: MonotonicTime) -> Option<Step> {
        self.note_cost(now);
        loop {
            let Some(group) = self.turn.group.or_else(|| self.turn.groups.pop()) else {
                self.state = State::Closing;
                return None;
            };
            self.turn.group = Some(group);
            let is_wanted = self.turn.repetition < group.repetitions() && !self.unit.is_broken();
            if is_wanted && self.fits(group, now) {
                self.begin_unit(group, now);
                return None;
            }
            if self.turn.repetition == 0 && !self.unit.is_broken() {
                self.missed.push(group);
            }
            let repetitions = std::mem::take(&mut self.turn.repetition);
            self.turn.group = None;
            let unit = std::mem::take(&mut self.unit);
            if let Some(dataset) = group.dataset(self.round)
                && repetitions > 0
                && unit.is_place_empty()
            {
                let key = ObjectKey { rank: 0, dataset, index: 0 };
                self.unit.remove_place(group, key);
                return None;
            }
        }
    }

    fn note_cost(&mut self, now: MonotonicTime) {
        let Some(group) = self.turn.group else { return };
        if self.unit.is_begun() {
            let took = now.since(self.turn.unit_start);
            let cost = &mut self.costs[group as usize];
            let before = cost.unwrap_or(took);
            *cost = Some(took.max(Nanoseconds(before.0 / 2 + took.0 / 2)));
        }
    }

    /// Whether a unit can be expected to end within the turn. The first unit of a turn may use the whole budget, else
    /// what is slow would never be repeated.
    fn fits(&self, group: Group, now: MonotonicTime) -> bool {
        let Some(cost) = self.costs[group as usize] else { return now < self.turn.end };
        let expected = now.after(cost);
        expected <= self.turn.end || (self.turn.units == 0 && expected <= self.end())
    }

    fn begin_unit(&mut self, group: Group, now: MonotonicTime) {
        let repetition = self.turn.repetition;
        self.turn.repetition += 1;
        self.turn.units += 1;
        self.turn.unit_start = now;
        let dataset = group.dataset(self.round).unwrap_or(STREAM_DATASET);
        let key = ObjectKey { rank: 0, dataset, index: u64::from(repetition) };
        match group {
            Group::Listing => self.unit.list(repetition),
            Group::Creating => self.unit.create_files(self.round as u64),
            Group::Compiling => self.unit.compile(),
            Group::Objects => self.unit.object(key, self.spec.object_bytes),
            Group::Calls => self.unit.calls(key, self.spec.object_bytes),
            Group::Stream => {
                let stream = Stream::new(key, self.spec.stream_bytes, self.spec.block_bytes);
                self.unit.stream(stream, !self.is_stream_place_made, self.turn.end);
            }
        }
    }
}

/// The dataset of the stream. It stays, and with it the stream's file: removing so large a file would be counted with the
/// removal of small ones.
const STREAM_DATASET: u32 = 0;

impl Client for CheckClient {
    fn next(&mut self, now: MonotonicTime) -> Step {
        loop {
            if self.state == State::Acting
                && let Some(request) = self.unit.next(now)
            {
                return Step::Execute { request, intended: None };
            }
            if let Some(step) = self.advance(now) {
                return step;
            }
        }
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        let is_ok = done.completion.is_ok();
        if is_ok && request.operation == Operation::MakeDirectory && request.key.dataset == STREAM_DATASET {
            self.is_stream_place_made = true;
        }
        self.unit.completed(request, is_ok, done);
    }

    fn met(&mut self, meeting: &Meeting, now: MonotonicTime) {
        match self.state {
            State::Voting if meeting.maximum() > 0 => self.state = State::Over,
            State::Voting => self.state = State::Opening,
            State::Entering => {
                self.end.get_or_insert(now.after(self.spec.budget_ns));
                self.attended = 0;
                self.take_seat(now);
            }
            State::Attending => {
                self.attended += 1;
                self.take_seat(now);
            }
            _ => debug_assert!(false, "a driver reports a meeting only to a client that asked for it"),
        }
    }
}

impl Turn {
    fn ending_at(end: MonotonicTime) -> Self {
        let unit_start = MonotonicTime::default();
        Self { end, groups: Vec::new(), group: None, repetition: 0, unit_start, units: 0 }
    }
}

/// splitmix64 (Steele, Lea and Flood 2014): enough to shuffle six groups.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Fisher and Yates's shuffle.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = (self.next() % (last as u64 + 1)) as usize;
            items.swap(last, chosen);
        }
    }
}
