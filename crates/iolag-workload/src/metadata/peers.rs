//! What a client knows about the others: how far they are, and so which objects exist.
//!
//! Every client brings its position (objects consumed per dataset) to the meeting that begins a stage. From the values of
//! these meetings, and from nothing else, all clients compute the same answers. So they keep them together, once: a copy for each
//! would take the square of their number.
//!
//! A client that was given up brings nothing any more. What it did after its last meeting is unknown: at most one iteration.
//! That uncertainty is kept as `slack`, so that nobody asks for an object that may not be there.

use std::ops::Range;

use iolag_model::{Meeting, Phase};

use crate::Sharing;

/// All clients of a run as each of them knows them.
#[derive(Debug)]
pub(crate) struct Peers {
    sharing: Sharing,
    precreated_objects: u64,
    /// The most that a client consumes in one iteration.
    objects_per_iteration: u64,
    peers: Vec<Peer>,
    last_phase: Option<Phase>,
    /// Stages whose meeting was taken over.
    stages: usize,
}

#[derive(Debug, Clone, Copy)]
struct Peer {
    start: u64,
    position: u64,
    /// How much further than `position` it may be.
    slack: u64,
    presence: Presence,
    datasets: Datasets,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Here,
    GivenUp,
}

/// Whether a client's own datasets can be worked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Datasets {
    Complete,
    /// Their maker was given up before they were complete: nobody works in them.
    Unfinished,
}

impl Peers {
    pub(crate) fn new(sharing: Sharing, precreated_objects: u64, consumed: u64, starts: &[u64]) -> Self {
        let peer = |start: &u64| Peer {
            start: *start,
            position: *start,
            slack: 0,
            presence: Presence::Here,
            datasets: Datasets::Complete,
        };
        Self {
            sharing,
            precreated_objects,
            objects_per_iteration: consumed,
            peers: starts.iter().map(peer).collect(),
            last_phase: None,
            stages: 0,
        }
    }

    /// Takes over what the clients brought to the meeting that begins the stage with this index. The first of them to come from it
    /// does; nobody is at the next meeting before all who are still expected have come from this one.
    pub(crate) fn met(&mut self, meeting: &Meeting, stage: usize, phase: Phase) {
        if stage < self.stages {
            return;
        }
        self.stages = stage + 1;
        let is_precreation = |phase| phase == Phase::Precreate;
        for (rank, peer) in self.peers.iter_mut().enumerate() {
            match meeting.values.get(rank).copied().flatten() {
                Some(position) => peer.position = position,
                None => {
                    if peer.presence == Presence::Here && self.last_phase == Some(Phase::Benchmark) {
                        peer.slack = self.objects_per_iteration;
                    }
                    let never_made = is_precreation(phase) || self.last_phase.is_some_and(is_precreation);
                    if peer.presence == Presence::Here && never_made {
                        peer.datasets = Datasets::Unfinished;
                    }
                    peer.presence = Presence::GivenUp;
                }
            }
        }
        self.last_phase = Some(phase);
    }

    /// Whether `rank` works in dataset `dataset`: what it reads and where it writes are complete.
    pub(crate) fn is_open(&self, rank: u32, dataset: u32) -> bool {
        let is_complete = |owner: u32| self.peers[owner as usize].datasets == Datasets::Complete;
        is_complete(self.sharing.read_rank(rank, dataset))
            && is_complete(self.sharing.write_rank(rank, dataset))
    }

    /// How many objects of dataset `dataset` the client `rank` may consume in an iteration that begins at its `position`
    /// without reaching for one that does not exist yet, even if its writer makes none meanwhile.
    pub(crate) fn objects_ahead(&self, rank: u32, dataset: u32, position: u64) -> u64 {
        let owner = self.sharing.read_rank(rank, dataset);
        let (filled, _) = self.progress_in(self.sharing.writer_of(owner, dataset), dataset);
        (self.precreated_objects + filled).saturating_sub(position)
    }

    /// The objects that certainly exist in dataset `dataset` of `owner`, and whether these are all.
    pub(crate) fn remaining(&self, owner: u32, dataset: u32) -> (Range<u64>, Certainty) {
        let (consumed, consumed_slack) = self.progress_in(self.sharing.remover_of(owner, dataset), dataset);
        let (filled, filled_slack) = self.progress_in(self.sharing.writer_of(owner, dataset), dataset);
        let certainty =
            if consumed_slack + filled_slack == 0 { Certainty::Exact } else { Certainty::Partial };
        (consumed + consumed_slack..self.precreated_objects + filled, certainty)
    }

    /// Position and slack of `rank` in dataset `dataset`, where it may not have worked at all.
    fn progress_in(&self, rank: u32, dataset: u32) -> (u64, u64) {
        let peer = &self.peers[rank as usize];
        if self.is_open(rank, dataset) { (peer.position, peer.slack) } else { (peer.start, 0) }
    }
}

/// Whether a range of objects is all there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// Exactly these exist.
    Exact,
    /// These exist; there may be others, since a client was given up.
    Partial,
}
