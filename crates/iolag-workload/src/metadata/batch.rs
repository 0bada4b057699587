//! The other school's workload (mdtest's): make a tree, create all, stat all, read all, remove all, remove the tree.
//!
//! Between the stages all clients meet, so that every stage shows one operation alone and at its best: a file system that
//! optimises for batches looks better here than under the mixed pattern of [`crate::MetadataClient`], and the difference
//! between the two is the point.
//!
//! With offset O, a client stats the objects of the client O above, reads those of 2·O above and removes those of 3·O above,
//! as mdtest does with -N. P objects per dataset are made and all are accessed, dataset by dataset; I is not used.
//!
//! Invariant: datasets whose maker was given up before they were complete are left alone by everybody.

use std::sync::Arc;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{Meeting, MetadataSpec, MonotonicTime, Operation, Phase, StageRecord, Think};

use super::accounting::{Place, Progress};
use super::script::{Effect, Scripts, Turn};
use crate::{Accounting, Client, Done, Pacer, Sharing, Step};

/// One client of the batch workload.
#[derive(Debug)]
pub struct BatchClient {
    rank: u32,
    datasets: u32,
    objects: u64,
    think: Think,
    scripts: Scripts,
    sharing: Sharing,
    stages: Arc<[StageRecord]>,
    stage: usize,
    /// By rank: whether its datasets can be worked in, and whether it is still here.
    peers: Vec<Peer>,
    last_phase: Option<Phase>,
    progress: Arc<Progress>,
    state: State,
    sweep: Sweep,
    turn: Turn,
    pacer: Pacer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peer {
    Here,
    /// Given up after its datasets were made.
    Gone,
    /// Given up before they were complete.
    Unfinished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    BetweenStages,
    Entering,
    Directories(Operation),
    Objects,
}

/// Where a client is in its stage.
#[derive(Debug, Clone, Copy)]
struct Sweep {
    owner: u32,
    place: Place,
    dataset: u32,
    index: u64,
}

impl BatchClient {
    /// The client with rank `rank`; the arguments are those of [`crate::MetadataClient::new`].
    pub fn new(spec: &MetadataSpec, rank: u32, stages: Arc<[StageRecord]>, accounting: &Accounting) -> Self {
        let scripts = Scripts::new(spec);
        let sharing = accounting.sharing();
        Self {
            rank,
            datasets: spec.datasets,
            objects: spec.precreated_objects,
            think: spec.think,
            turn: Turn::over(&scripts.create),
            scripts,
            sharing,
            stages,
            stage: 0,
            peers: vec![Peer::Here; sharing.clients() as usize],
            last_phase: None,
            progress: accounting.progress(rank),
            state: State::BetweenStages,
            sweep: Sweep { owner: rank, place: Place::Own, dataset: 0, index: 0 },
            pacer: Pacer::closed_loop(spec.think),
        }
    }

    fn advance(&mut self) -> Option<Step> {
        match self.state {
            State::BetweenStages => {
                let Some(stage) = self.stages.get(self.stage) else { return Some(Step::Finished) };
                self.state = State::Entering;
                Some(Step::Begin { stage: stage.stage, value: 0 })
            }
            // Asked without having met: the run is over for everybody.
            State::Entering => Some(Step::Finished),
            _ if self.sweep.dataset == self.datasets => {
                self.stage += 1;
                self.state = State::BetweenStages;
                Some(Step::End)
            }
            State::Directories(operation) => {
                let request = Request::new(operation, self.key(0), 0);
                self.sweep.dataset += 1;
                Some(Step::Execute { request, intended: self.pacer.intended() })
            }
            State::Objects => {
                self.next_object();
                None
            }
        }
    }

    #[inline]
    fn next_object(&mut self) {
        let key = self.key(self.sweep.index);
        self.turn.begin(key, key);
        self.sweep.index += 1;
        if self.sweep.index == self.objects {
            (self.sweep.index, self.sweep.dataset) = (0, self.sweep.dataset + 1);
        }
    }

    fn key(&self, index: u64) -> ObjectKey {
        ObjectKey { rank: self.sweep.owner, dataset: self.sweep.dataset, index }
    }

    fn begin_stage(&mut self, phase: Phase) {
        let (rank, sharing) = (self.rank, self.sharing);
        let (owner, place, lines) = match phase {
            Phase::BatchStat => (sharing.stat_rank(rank, 0), Place::Shared, &self.scripts.stat),
            Phase::BatchRead => (sharing.read_rank(rank, 0), Place::Shared, &self.scripts.read),
            Phase::BatchRemove => (sharing.remove_rank(rank, 0), Place::Shared, &self.scripts.remove),
            _ => (rank, Place::Own, &self.scripts.create),
        };
        self.turn = Turn::over(lines);
        self.state = match phase {
            Phase::TreeCreate => self.scripts.make_directory.map(State::Directories),
            Phase::TreeRemove => self.scripts.remove_directory.map(State::Directories),
            _ => None,
        }
        .unwrap_or(State::Objects);
        let dataset = if self.is_possible(phase, owner) { 0 } else { self.datasets };
        self.sweep = Sweep { owner, place, dataset, index: 0 };
        // A new pacer: the pause after the last operation of the stage before does not reach into this one.
        self.pacer = Pacer::closed_loop(self.think);
    }

    /// Whether the datasets of `owner` are complete and, for removing the tree, have been emptied.
    fn is_possible(&self, phase: Phase, owner: u32) -> bool {
        let peer = |rank: u32| self.peers[rank as usize];
        peer(owner) != Peer::Unfinished
            && (phase != Phase::TreeRemove || peer(self.sharing.remover_of(owner, 0)) == Peer::Here)
    }

    fn note_absent(&mut self, meeting: &Meeting, phase: Phase) {
        let makes = |phase| matches!(phase, Phase::TreeCreate | Phase::BatchCreate);
        let absent =
            if makes(phase) || self.last_phase.is_some_and(makes) { Peer::Unfinished } else { Peer::Gone };
        for (peer, value) in self.peers.iter_mut().zip(meeting.values.iter()) {
            if value.is_none() && *peer != Peer::Unfinished {
                *peer = if *peer == Peer::Here || makes(phase) { absent } else { *peer };
            }
        }
        self.last_phase = Some(phase);
    }
}

impl Client for BatchClient {
    #[inline]
    fn next(&mut self, _now: MonotonicTime) -> Step {
        loop {
            if let Some((request, effect)) = self.turn.next() {
                if effect != Effect::None {
                    self.progress.asked(effect, self.sweep.place, request.key.dataset);
                }
                return Step::Execute { request, intended: self.pacer.intended() };
            }
            if let Some(step) = self.advance() {
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
            self.progress.done(effect, self.sweep.place, request.key.dataset);
        }
        self.pacer.completed(done);
    }

    fn met(&mut self, meeting: &Meeting, _now: MonotonicTime) {
        debug_assert_eq!(self.state, State::Entering, "a meeting is reported to a client that asked for it");
        let phase = self.stages[self.stage].phase;
        self.note_absent(meeting, phase);
        self.begin_stage(phase);
    }
}
