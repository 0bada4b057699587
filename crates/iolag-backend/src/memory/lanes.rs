//! Several requests in flight in memory: each is executed when it is submitted, and ends when somebody asks for an end.

use std::collections::VecDeque;

use iolag_model::MonotonicTime;

use super::session::MemorySession;
use crate::{Completion, LaneSession, Request, Session};

/// One client with buffers for each lane; what is open is open to all of them.
pub(super) struct MemoryLanes {
    lanes: Vec<MemorySession>,
    /// The lane that was last in use: it knows what is open.
    last: usize,
    ended: VecDeque<(u32, Completion)>,
}

impl MemoryLanes {
    pub(super) fn new(lanes: Vec<MemorySession>) -> Self {
        Self { ended: VecDeque::with_capacity(lanes.len()), lanes, last: 0 }
    }

    fn lane(&mut self, lane: u32) -> &mut MemorySession {
        let last = std::mem::replace(&mut self.last, lane as usize);
        let open = self.lanes[last].open();
        let lane = &mut self.lanes[lane as usize];
        lane.set_open(open);
        lane
    }
}

impl LaneSession for MemoryLanes {
    fn prepare(&mut self, lane: u32, request: &Request) {
        Session::prepare(self.lane(lane), request);
    }

    fn submit(&mut self, lane: u32, request: &Request) {
        let completion = Session::execute(self.lane(lane), request);
        self.ended.push_back((lane, completion));
    }

    fn await_any(&mut self, _until: MonotonicTime) -> Option<(u32, Completion)> {
        self.ended.pop_front()
    }

    fn inspect(&mut self, lane: u32, request: &Request, completion: Completion) -> Completion {
        Session::inspect(&mut self.lanes[lane as usize], request, completion)
    }
}
