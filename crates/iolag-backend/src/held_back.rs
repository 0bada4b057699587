//! Requests in lanes that a wrapper holds back, each until a moment of its own: they wait beside each other.

use std::collections::VecDeque;
use std::sync::Arc;

use iolag_model::{Clock, MonotonicTime, Nanoseconds};

use crate::{Completion, LaneSession, Request};

/// A session in lanes, some of whose requests have not reached it.
pub(crate) struct HeldBack {
    inner: Box<dyn LaneSession>,
    clock: Arc<dyn Clock>,
    held: Vec<(MonotonicTime, u32, Request)>,
    /// How many have reached it and have not ended.
    inside: usize,
    /// What ended without having reached it.
    answered: VecDeque<(u32, Completion)>,
}

impl HeldBack {
    pub(crate) fn new(inner: Box<dyn LaneSession>, clock: Arc<dyn Clock>) -> Self {
        Self { inner, clock, held: Vec::new(), inside: 0, answered: VecDeque::new() }
    }

    /// What it is around.
    pub(crate) fn inner(&mut self) -> &mut dyn LaneSession {
        self.inner.as_mut()
    }

    /// Lets a request that is prepared go on.
    pub(crate) fn submit(&mut self, lane: u32, request: &Request) {
        self.inner.submit(lane, request);
        self.inside += 1;
    }

    /// Lets a request go on after this time, and prepares it then: others are prepared in between.
    pub(crate) fn submit_after(&mut self, delay: Nanoseconds, lane: u32, request: &Request) {
        self.held.push((self.clock.now().after(delay), lane, *request));
    }

    /// Lets the request never go on, nor end.
    pub(crate) fn hold_for_ever(&mut self, lane: u32, request: &Request) {
        self.held.push((MonotonicTime(u64::MAX), lane, *request));
    }

    /// Ends a request that goes no further.
    pub(crate) fn answer(&mut self, lane: u32, completion: Completion) {
        self.answered.push_back((lane, completion));
    }

    /// As [`LaneSession::await_any`].
    pub(crate) fn await_any(&mut self, until: MonotonicTime) -> Option<(u32, Completion)> {
        loop {
            if let Some(answered) = self.answered.pop_front() {
                return Some(answered);
            }
            let now = self.clock.now();
            while let Some(due) = self.held.iter().position(|(due, ..)| *due <= now) {
                let (_, lane, request) = self.held.swap_remove(due);
                self.inner.prepare(lane, &request);
                self.submit(lane, &request);
            }
            let next = self.held.iter().map(|(due, ..)| *due).min().unwrap_or(until).min(until);
            if self.inside == 0 {
                self.clock.sleep_until(next);
            } else if let Some(ended) = self.inner.await_any(next) {
                self.inside -= 1;
                return Some(ended);
            }
            if self.clock.now() >= until {
                return None;
            }
        }
    }
}
