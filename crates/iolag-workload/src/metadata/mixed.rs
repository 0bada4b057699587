//! The metadata workload of study 004: precreate, benchmark with a constant working set, cleanup.
//!
//! One [`MetadataClient`] per rank; the pattern is that of md-workbench (docs/metadata.md gives it in formulas). Every client
//! walks through the same list of stages and meets the others at the beginning of each.
//!
//! Invariants:
//! - An object is asked for only if it exists, provided that at least as many objects are precreated as an iteration
//!   consumes: each client limits its iteration to what its datasets held when the iteration began.
//! - A client's position is its own. Where a time limit stops clients at different objects, the next iteration and the
//!   cleanup go on from the positions that were brought to their meetings.
//! - Nothing is counted as done that was not: what is skipped after a failure yields no request.
//!
//! Limits: an operation that failed leaves its dataset one object larger or smaller for good; the accounting says by how much.
//! An iteration that is interrupted in the middle of a row (object i of all datasets) leaves that row half consumed.

use std::ops::Range;
use std::sync::Arc;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{
    Access, Meeting, MetadataSpec, MonotonicTime, Nanoseconds, Operation, Phase, StageRecord, Think,
    TimeLimit, WearOut,
};

use super::accounting::{Place, Progress, SharedPeers};
use super::peers::{Certainty, Peers};
use super::script::{Effect, Scripts, Turn};
use crate::{Accounting, Client, Done, Pacer, Sharing, Step};

/// One client of the metadata workload (patterns code and paper).
#[derive(Debug)]
pub struct MetadataClient {
    rank: u32,
    datasets: u32,
    precreated_objects: u64,
    objects: u64,
    access: Access,
    time_limit: Option<TimeLimit>,
    think: Think,
    scripts: Scripts,
    sharing: Sharing,
    stages: Arc<[StageRecord]>,
    /// The stage that comes next, or has been begun.
    stage: usize,
    peers: Arc<SharedPeers>,
    progress: Arc<Progress>,
    /// Objects consumed per dataset, in all iterations so far and in earlier runs.
    position: u64,
    state: State,
    walk: Walk,
    turn: Turn,
    pacer: Pacer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The next stage has not been begun.
    BetweenStages,
    /// At the meeting that begins a stage.
    Entering,
    /// At the meeting that decides how many rows everybody does.
    Agreeing,
    /// The directory of the next lane is to be made.
    MakingDirectories,
    /// All lanes of a row, then the next row.
    Rows,
    /// All objects of a lane, then its directory, then the next lane.
    Removing,
}

/// Where a client is in its stage: lanes are the datasets that it works in, rows the objects in each.
#[derive(Debug)]
struct Walk {
    place: Place,
    lanes: Vec<Lane>,
    /// The lane that comes next.
    lane: usize,
    /// Rows that are complete.
    row: u64,
    /// Rows to do.
    rows: u64,
    /// The object that row 0 consumes.
    first: u64,
    start: MonotonicTime,
    limit: Limit,
}

/// What a client does in one dataset during a stage.
#[derive(Debug)]
struct Lane {
    dataset: u32,
    read_rank: u32,
    write_rank: u32,
    /// Objects to remove, in cleanup.
    remaining: Range<u64>,
    /// Whether these are all, in cleanup.
    certainty: Certainty,
}

/// What ends a stage besides its last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    None,
    Stop(Nanoseconds),
    /// Everybody learns how far the fastest is, once the time is over or the rows are done.
    Equalise(Nanoseconds),
}

impl MetadataClient {
    /// The client with rank `rank`. `stages` is the list of [`crate::Workload::stages`] for this spec, `accounting` is shared by all
    /// clients and knows their number and where they start. The spec must have passed [`crate::Workload::validate`].
    pub fn new(spec: &MetadataSpec, rank: u32, stages: Arc<[StageRecord]>, accounting: &Accounting) -> Self {
        let scripts = Scripts::new(spec);
        Self {
            rank,
            datasets: spec.datasets,
            precreated_objects: spec.precreated_objects,
            objects: spec.objects,
            access: spec.access,
            time_limit: spec.time_limit,
            think: spec.think,
            turn: Turn::over(&scripts.create),
            scripts,
            sharing: accounting.sharing(),
            stages,
            stage: 0,
            peers: accounting.peers(),
            progress: accounting.progress(rank),
            position: accounting.start_position(rank),
            state: State::BetweenStages,
            walk: Walk::new(Place::Own, Vec::new(), MonotonicTime::default()),
            pacer: Pacer::closed_loop(Think::None),
        }
    }

    /// Objects consumed per dataset so far; [`Accounting::positions`] tells it of all clients.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Everything that is not the next operation on the same object.
    fn advance(&mut self, now: MonotonicTime) -> Option<Step> {
        match self.state {
            State::Rows => self.advance_row(now),
            State::BetweenStages => {
                let Some(stage) = self.stages.get(self.stage) else { return Some(Step::Finished) };
                self.state = State::Entering;
                Some(Step::Begin { stage: stage.stage, value: self.position })
            }
            // Asked without having met: the run is over for everybody.
            State::Entering | State::Agreeing => Some(Step::Finished),
            State::MakingDirectories => self.make_directory(),
            State::Removing => self.remove_next(),
        }
    }

    fn begin_stage(&mut self, meeting: &Meeting, now: MonotonicTime) {
        let phase = self.stages[self.stage].phase;
        let shared = Arc::clone(&self.peers);
        let mut peers = shared.take();
        peers.met(meeting, self.stage, phase);
        match phase {
            Phase::Benchmark => self.begin_benchmark(&peers, now),
            Phase::Cleanup => self.begin_cleanup(&peers, now),
            _ => self.begin_precreation(now),
        }
    }

    fn begin_precreation(&mut self, now: MonotonicTime) {
        let lanes = (0..self.datasets).map(|dataset| Lane::own(self.rank, dataset)).collect();
        self.walk = Walk::new(Place::Own, lanes, now);
        self.walk.rows = self.precreated_objects;
        self.turn = Turn::over(&self.scripts.create);
        self.pacer = Pacer::closed_loop(Think::None);
        self.state = State::MakingDirectories;
    }

    fn begin_benchmark(&mut self, peers: &Peers, now: MonotonicTime) {
        let (rank, sharing) = (self.rank, self.sharing);
        let lanes: Vec<_> = (0..self.datasets)
            .filter(|dataset| peers.is_open(rank, *dataset))
            .map(|dataset| Lane {
                read_rank: sharing.read_rank(rank, dataset),
                write_rank: sharing.write_rank(rank, dataset),
                ..Lane::own(rank, dataset)
            })
            .collect();
        let ahead = lanes.iter().map(|lane| peers.objects_ahead(rank, lane.dataset, self.position)).min();
        self.walk = Walk::new(Place::Shared, lanes, now);
        self.walk.first = self.position;
        self.walk.rows = self.objects.min(ahead.unwrap_or(0));
        self.walk.limit = Limit::of(self.time_limit);
        self.turn = Turn::over(&self.scripts.replace);
        // A new pacer: the pause after the last operation of the stage before does not reach into this one.
        self.pacer = Pacer::closed_loop(self.think);
        self.state = State::Rows;
    }

    fn begin_cleanup(&mut self, peers: &Peers, now: MonotonicTime) {
        let own = |dataset| {
            let (remaining, certainty) = peers.remaining(self.rank, dataset);
            Lane { remaining, certainty, ..Lane::own(self.rank, dataset) }
        };
        self.walk = Walk::new(Place::Own, (0..self.datasets).map(own).collect(), now);
        self.turn = Turn::over(&self.scripts.remove);
        self.pacer = Pacer::closed_loop(Think::None);
        self.state = State::Removing;
    }

    fn end_stage(&mut self) -> Option<Step> {
        self.stage += 1;
        self.state = State::BetweenStages;
        Some(Step::End)
    }

    fn make_directory(&mut self) -> Option<Step> {
        match (self.walk.lanes.get(self.walk.lane), self.scripts.make_directory) {
            (Some(lane), Some(make_directory)) => {
                self.walk.lane += 1;
                self.on_directory(make_directory, lane.dataset)
            }
            _ => {
                self.walk.lane = 0;
                self.state = State::Rows;
                None
            }
        }
    }

    /// Removes what remains in a dataset, then the dataset; one that may hold more is left to the removal of the place,
    /// which looks instead of computing.
    fn remove_next(&mut self) -> Option<Step> {
        let Some(lane) = self.walk.lanes.get_mut(self.walk.lane) else { return self.end_stage() };
        let dataset = lane.dataset;
        if let Some(index) = lane.remaining.next() {
            let key = ObjectKey { rank: self.rank, dataset, index };
            self.turn.begin(key, key);
            return None;
        }
        self.walk.lane += 1;
        match lane.certainty {
            Certainty::Exact => {
                self.scripts.remove_directory.and_then(|remove| self.on_directory(remove, dataset))
            }
            Certainty::Partial => None,
        }
    }

    fn on_directory(&self, operation: Operation, dataset: u32) -> Option<Step> {
        let key = ObjectKey { rank: self.rank, dataset, index: 0 };
        Some(Step::Execute { request: Request::new(operation, key, 0), intended: None })
    }

    #[inline]
    fn advance_row(&mut self, now: MonotonicTime) -> Option<Step> {
        if self.walk.lane == self.walk.lanes.len() && self.walk.row < self.walk.rows {
            self.complete_row();
        }
        if self.walk.lane == 0
            && let Some(step) = self.cross_row_boundary(now)
        {
            return Some(step);
        }
        let Walk { row, first, .. } = self.walk;
        let lane = &self.walk.lanes[self.walk.lane];
        let dataset = lane.dataset;
        let old = ObjectKey { rank: lane.read_rank, dataset, index: first + row };
        let index = match self.walk.place {
            Place::Own => row,
            Place::Shared => self.precreated_objects + first + row,
        };
        let new = ObjectKey { rank: lane.write_rank, dataset, index };
        self.turn.begin(old, new);
        self.walk.lane += 1;
        None
    }

    fn complete_row(&mut self) {
        self.walk.lane = 0;
        self.walk.row += 1;
        if self.walk.place == Place::Shared && self.access == Access::Replace {
            self.position = self.walk.first + self.walk.row;
            self.progress.set_position(self.position);
        }
    }

    /// Before each row: whether it is done at all. The time is looked at only here, once for all lanes of a row, so that
    /// all datasets are consumed equally.
    fn cross_row_boundary(&mut self, now: MonotonicTime) -> Option<Step> {
        let Walk { row, rows, start, limit, .. } = self.walk;
        let is_over = |after| row > 0 && now.since(start) >= after;
        match limit {
            Limit::Equalise(after) if row >= rows || is_over(after) => {
                self.state = State::Agreeing;
                Some(Step::Agree { value: row })
            }
            Limit::Stop(after) if is_over(after) => self.end_stage(),
            _ if row >= rows => self.end_stage(),
            _ => None,
        }
    }
}

impl Client for MetadataClient {
    #[inline]
    fn next(&mut self, now: MonotonicTime) -> Step {
        loop {
            if let Some((request, effect)) = self.turn.next() {
                if effect != Effect::None {
                    self.progress.asked(effect, self.walk.place, request.key.dataset);
                }
                return Step::Execute { request, intended: self.pacer.intended() };
            }
            if let Some(step) = self.advance(now) {
                return step;
            }
        }
    }

    #[inline]
    fn completed(&mut self, request: &Request, done: &Done) {
        // Operations on directories are outside any turn, so they have no effect on the number of objects.
        let effect = self.turn.completed(done.completion.is_ok());
        if !done.completion.is_ok() {
            self.progress.failed(request, done.completion.code);
        }
        if effect != Effect::None {
            self.progress.done(effect, self.walk.place, request.key.dataset);
        }
        self.pacer.completed(done);
    }

    fn met(&mut self, meeting: &Meeting, now: MonotonicTime) {
        match self.state {
            State::Entering => self.begin_stage(meeting, now),
            State::Agreeing => {
                // The clock of the limit is not set back: the agreement is made once per iteration.
                self.walk.rows = self.walk.rows.min(meeting.maximum());
                self.walk.limit = Limit::None;
                self.pacer = Pacer::closed_loop(self.think);
                self.state = State::Rows;
            }
            State::BetweenStages | State::MakingDirectories | State::Rows | State::Removing => {
                debug_assert!(false, "a driver reports a meeting only to a client that asked for it");
            }
        }
    }
}

impl Walk {
    fn new(place: Place, lanes: Vec<Lane>, start: MonotonicTime) -> Self {
        Self { place, lanes, lane: 0, row: 0, rows: 0, first: 0, start, limit: Limit::None }
    }
}

impl Lane {
    fn own(rank: u32, dataset: u32) -> Self {
        Self { dataset, read_rank: rank, write_rank: rank, remaining: 0..0, certainty: Certainty::Exact }
    }
}

impl Limit {
    fn of(limit: Option<TimeLimit>) -> Self {
        match limit {
            None => Self::None,
            Some(TimeLimit { after_ns, wear_out: WearOut::Stop }) => Self::Stop(after_ns),
            Some(TimeLimit { after_ns, wear_out: WearOut::Equalise }) => Self::Equalise(after_ns),
        }
    }
}
