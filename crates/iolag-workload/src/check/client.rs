//! What `iolag check` does in one directory, or on one server.
//!
//! ```text
//! round k:  [set up the listing]  listing  creating  objects  compiling  calls  stream     each in turns of this directory
//! ```
//! A directory works in its own turns ([`CheckTurns`]) and meets nobody: one that is slow uses only its own share, and drift hits
//! all alike.
//!
//! A round consists of groups. In the first their order is that in which a user asks; later it is shuffled by the seed, those that
//! the round before had no time for first. A group repeats a unit, for example one object's life from create to delete. A unit is
//! started only if it can be expected to end in time, given what it took before: within the turn (the first unit of a turn may take
//! longer than one, else what is slow would never be done), within the group's part of what is left, and before the time that is
//! kept for removing everything. Tasks are ended where their part of the time ends, and count as "at least" then. So slow
//! directories get fewer repetitions and fewer rounds, never more time.
//!
//! A server is one more directory, of which only some groups and operations can be asked ([`CheckAbilities`]).
//!
//! Limits: round 0 is the cold one as far as iolag is concerned, the caches are as they were found. An object is read shortly
//! after it was written, by the same client: such reads are warm. The stream's reads follow its fsync and may be answered
//! from memory too. One operation that takes longer than all before can exceed the budget; nothing interrupts it.

use iolag_backend::{ObjectKey, Request};
use iolag_model::{CheckSpec, Level, MonotonicTime, Nanoseconds, Operation, Random};

use super::group::{CheckAbilities, Group};
use super::holdings::Holdings;
use super::stream::Stream;
use super::turns::{CheckTurns, Turn};
use super::unit::Unit;
use crate::tasks::CREATED_FILE_BYTES;
use crate::{Client, Done, Step};

/// One directory's client. Its requests name objects of rank 0, since it is alone in its directory.
#[derive(Debug)]
pub struct CheckClient {
    spec: CheckSpec,
    share: CheckShare,
    abilities: CheckAbilities,
    random: Random,
    round: u32,
    /// Groups of this round that are still to come, the next one last.
    groups: Vec<Group>,
    group: Option<OpenGroup>,
    missed: Vec<Group>,
    /// Units that were begun in this round.
    units: u32,
    unit: Unit,
    unit_start: MonotonicTime,
    /// The last turn in which a unit was begun.
    turn: Option<u64>,
    costs: [Option<Nanoseconds>; Group::ALL.len()],
    listed: Listed,
    holdings: Holdings,
    /// When the request was made that is being executed.
    asked: MonotonicTime,
    stream: StreamPlace,
    state: State,
}

/// One directory's part of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckShare {
    /// Its number, from 0.
    pub directory: u32,
    /// When it may begin something.
    pub turns: CheckTurns,
    /// When everything is to be removed again.
    pub end: MonotonicTime,
    /// After this long an operation counts as hung: no task may take so long.
    pub deadline: Nanoseconds,
    /// How long making the working directory took: the first sign of what removing it will take.
    pub place_cost: Nanoseconds,
    /// Rounds at most.
    pub rounds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Working,
    Over,
}

/// The directory that is listed, as far as it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    /// So many files are there, or were tried.
    Files(u32),
    /// It cannot be made.
    Impossible,
}

/// What the stream has made: it stays, for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamPlace {
    Missing,
    Empty,
    Filled,
}

/// A group whose units are being repeated.
#[derive(Debug, Clone, Copy)]
struct OpenGroup {
    group: Group,
    repetition: u32,
    repetitions: u32,
    /// Its part of the time that is left.
    end: MonotonicTime,
}

impl CheckClient {
    /// The client of one directory; `seed` shuffles.
    pub fn new(spec: &CheckSpec, share: CheckShare, abilities: CheckAbilities, seed: u64) -> Self {
        let mut client = Self {
            spec: spec.clone(),
            share,
            holdings: Holdings::new(share.place_cost, abilities.datasets()),
            abilities,
            random: Random::new(seed ^ (u64::from(share.directory) << 32)),
            round: 0,
            groups: Vec::new(),
            group: None,
            missed: Vec::new(),
            units: 0,
            unit: Unit::default(),
            unit_start: MonotonicTime::default(),
            turn: None,
            costs: [None; Group::ALL.len()],
            listed: Listed::Files(0),
            asked: MonotonicTime::default(),
            stream: StreamPlace::Missing,
            state: State::Working,
        };
        client.groups = client.possible_groups();
        client.groups.reverse();
        client
    }

    /// Groups of a round, in the order in which a user asks.
    fn possible_groups(&self) -> Vec<Group> {
        let is_possible = |group: &Group| match (group, self.listed) {
            (Group::Setting | Group::Listing, Listed::Impossible) => false,
            (Group::Setting, Listed::Files(made)) => {
                made < self.spec.listed_files && group.is_possible(&self.abilities)
            }
            _ => group.is_possible(&self.abilities),
        };
        Group::ALL.into_iter().filter(is_possible).collect()
    }

    /// When nothing may be going on but removing.
    fn stop(&self) -> MonotonicTime {
        MonotonicTime(self.share.end.0.saturating_sub(self.holdings.removal().0))
    }

    /// Everything that is not the next operation of a unit.
    fn advance(&mut self, now: MonotonicTime) -> Option<Step> {
        self.note_cost(now);
        let Some(open) = self.group.or_else(|| self.open_group(now)) else {
            self.begin_round();
            return None;
        };
        let is_wanted = open.repetition < open.repetitions && !self.unit.is_broken();
        if !is_wanted || !self.fits(open, now) {
            self.close_group(open, now);
            return None;
        }
        match self.share.turns.at(now) {
            _ if self.holdings.is_waiting() => {}
            // A turn that comes after the end is none: removing does not wait for it.
            Turn::Later(until) => return Some(Step::Pause { until: until.min(self.stop()) }),
            Turn::Own { number, end } => {
                let expected = now.after(self.cost(open.group));
                if expected > end && self.turn == Some(number) {
                    return Some(Step::Pause { until: end.min(self.stop()) });
                }
                self.turn = Some(number);
            }
        }
        self.begin_unit(open, now);
        None
    }

    fn begin_round(&mut self) {
        self.round += 1;
        if self.round >= self.share.rounds || self.units == 0 {
            self.state = State::Over;
            return;
        }
        self.units = 0;
        self.groups = self.possible_groups();
        self.random.shuffle(&mut self.groups);
        // The next group is taken from the end, so what was missed goes there, and what others wait for behind it.
        self.groups.sort_by_key(|group| (*group == Group::Setting, self.missed.contains(group)));
        self.missed.clear();
    }

    /// The next group of the round gets its part of the time: the more are still to come, the less.
    fn open_group(&mut self, now: MonotonicTime) -> Option<OpenGroup> {
        let missing = self.groups.len() as u64;
        let group = self.groups.pop()?;
        let part = Nanoseconds(self.stop().since(now).0 / (1 + missing / 2));
        let repetitions = match (group, self.listed) {
            (Group::Setting, Listed::Files(made)) => {
                let missing = self.spec.listed_files - made;
                let cost = Nanoseconds(self.cost(group).0.saturating_mul(u64::from(missing)));
                // What is not listed in the end was made in vain.
                if self.holdings.is_waiting() && cost > part { 0 } else { missing }
            }
            // A directory that is not complete is not listed.
            (Group::Listing, Listed::Files(made)) if made < self.spec.listed_files => 0,
            (Group::Setting | Group::Listing, Listed::Impossible) => 0,
            // Where every request is slow, each row comes once before any comes twice.
            _ if self.round == 0 && self.holdings.is_waiting() => 1,
            _ => group.repetitions(),
        };
        self.group = Some(OpenGroup { group, repetition: 0, repetitions, end: now.after(part) });
        self.group
    }

    fn close_group(&mut self, open: OpenGroup, now: MonotonicTime) {
        if open.repetition == 0 && !self.unit.is_broken() {
            self.missed.push(open.group);
        }
        self.group = None;
        let unit = std::mem::take(&mut self.unit);
        if open.group == Group::Setting && unit.is_broken() {
            self.listed = Listed::Impossible;
        }
        let dataset = open.group.dataset(self.round).filter(|_| open.repetition > 0 && unit.is_place_empty());
        let is_made = self.abilities.datasets().are_made();
        if let Some(dataset) = dataset.filter(|_| is_made && now < self.stop()) {
            self.unit.remove_place(open.group, key(dataset, 0));
        }
    }

    fn note_cost(&mut self, now: MonotonicTime) {
        if !self.unit.end() {
            return;
        }
        let Some(open) = self.group else { return };
        let took = now.since(self.unit_start);
        let cost = &mut self.costs[open.group as usize];
        let before = cost.unwrap_or(took);
        *cost = Some(took.max(Nanoseconds(before.0 / 2 + took.0 / 2)));
    }

    /// What a unit of this group took lately; before the first one, what it may take.
    fn cost(&self, group: Group) -> Nanoseconds {
        let first = || Nanoseconds(self.holdings.request_cost().0 * group.requests());
        self.costs[group as usize].unwrap_or_else(first)
    }

    fn fits(&self, open: OpenGroup, now: MonotonicTime) -> bool {
        let expected = now.after(self.cost(open.group));
        expected <= self.stop() && now < self.stop() && (open.repetition == 0 || expected <= open.end)
    }

    fn begin_unit(&mut self, open: OpenGroup, now: MonotonicTime) {
        if let Some(group) = &mut self.group {
            group.repetition += 1;
        }
        self.units += 1;
        self.unit_start = now;
        let dataset = open.group.dataset(self.round).unwrap_or(STREAM_DATASET);
        let key = key(dataset, u64::from(open.repetition));
        let until = self.task_end(open, now);
        match open.group {
            Group::Setting => {
                let Listed::Files(made) = &mut self.listed else { return };
                self.unit.list_place(self::key(LISTED_DATASET, u64::from(*made)), self.spec.object_bytes);
                *made += 1;
            }
            Group::Listing => self.unit.list(open.repetition, until),
            Group::Creating => self.unit.create_files(u64::from(self.round), until),
            Group::Compiling => self.unit.compile(until),
            Group::Objects => self.unit.object(key, self.spec.object_bytes, &self.abilities),
            Group::Calls => self.unit.calls(key, self.spec.object_bytes),
            Group::Stream => {
                let stream = Stream::new(key, self.spec.stream_bytes, self.spec.block_bytes, open.end);
                self.unit.stream(stream, self.stream == StreamPlace::Missing);
            }
        }
    }

    /// When a task of this group is to be ended. Half of what is left belongs to the others, and to removing what was created;
    /// that happens before the next creation, at a stretch, and must stay far from the deadline.
    fn task_end(&self, open: OpenGroup, now: MonotonicTime) -> MonotonicTime {
        let half = Nanoseconds(self.stop().since(now).0 / 2);
        match open.group {
            Group::Creating => open.end.min(now.after(half.min(Nanoseconds(self.share.deadline.0 / 3)))),
            _ => now.after(half.min(Nanoseconds(self.share.deadline.0 / 4 * 3))),
        }
    }

    fn note_holdings(&mut self, request: &Request, is_ok: bool, done: &Done) {
        let took = done.end.since(done.start);
        let is_first = self.costs[Group::Compiling as usize].is_none();
        match request.operation {
            Operation::MakeDirectory | Operation::CallMkdir if is_ok => self.holdings.directory_made(took),
            Operation::RemoveDirectory | Operation::CallRmdir if is_ok => self.holdings.directory_removed(),
            Operation::Create if is_ok => self.holdings.file_made(took),
            Operation::CallCreate if is_ok => self.holdings.something_made(0, 1),
            Operation::Delete | Operation::CallUnlink if is_ok => self.holdings.file_removed(took),
            Operation::TaskCompile if is_first => self.holdings.something_made(1, 2),
            Operation::TaskCreate => {
                let files = done.completion.bytes / CREATED_FILE_BYTES;
                self.holdings.many_made(done.start.since(self.asked), files, took);
            }
            Operation::StreamWrite if self.stream == StreamPlace::Empty => {
                self.stream = StreamPlace::Filled;
                self.holdings.something_made(0, 1);
            }
            _ => {}
        }
    }
}

/// The dataset of the stream. It stays, and with it the stream's file: removing so large a file would be counted with the
/// removal of small ones.
const STREAM_DATASET: u32 = 0;
/// The dataset that is listed.
const LISTED_DATASET: u32 = 1;
/// Name of that dataset's directory, as [`crate::TaskOptions`] wants it.
pub const LISTED_DIRECTORY: &str = "0_1";

const fn key(dataset: u32, index: u64) -> ObjectKey {
    ObjectKey { rank: 0, dataset, index }
}

impl Client for CheckClient {
    fn next(&mut self, now: MonotonicTime) -> Step {
        while self.state == State::Working {
            if now >= self.stop() {
                // What it leaves is removed with the working directory.
                self.unit.leave();
            }
            if let Some(request) = self.unit.next(now) {
                if request.operation.level() == Level::Task && now >= request.until() {
                    // The one before has taken all the time of this one.
                    self.unit.leave();
                    continue;
                }
                self.asked = now;
                return Step::Execute { request, intended: None };
            }
            if let Some(step) = self.advance(now) {
                return step;
            }
        }
        Step::Finished
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        let is_ok = done.completion.is_ok();
        if is_ok && request.operation == Operation::MakeDirectory && request.key.dataset == STREAM_DATASET {
            self.stream = StreamPlace::Empty;
        }
        self.note_holdings(request, is_ok, done);
        self.unit.completed(request, is_ok, done);
    }
}
