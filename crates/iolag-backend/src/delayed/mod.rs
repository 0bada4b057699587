//! Any target, made slower by a known time.
//!
//! The delay of an operation is drawn in `prepare`, waited for first thing in `execute`, and then the operation is
//! forwarded. Blocking sessions wait by the clock they were given: under a simulated clock 5 ms are exactly 5 ms, in real time
//! never less. Asynchronous sessions wait by the timer of tokio, which has a resolution of 1 ms and always rounds up.

mod grammar;

use std::any::Any;
use std::sync::Arc;

use iolag_model::{Clock, MonotonicTime, Nanoseconds, Random};

use crate::held_back::HeldBack;
use crate::wrapper::{Disturbance, Wrapper, seed_of_repetition};
use crate::{
    AsyncExecution, AsyncSession, Backend, Completion, LaneSession, Mark, Request, Session, SessionOptions,
};
pub(crate) use grammar::{Latencies, parse_latencies, parse_operation};

/// A target behind a known delay.
pub(crate) type DelayedBackend = Wrapper<Delay>;

/// How long operations are delayed.
pub(crate) struct Delay {
    /// As the user wrote it: `5ms`, `2ms,create=20ms~exp`, `stat=1ms~lognormal(0.5)`.
    text: String,
    latencies: Arc<Latencies>,
    clock: Arc<dyn Clock>,
}

impl DelayedBackend {
    /// `inner`, delayed by `latencies`, which the user wrote as `text`.
    pub(crate) fn new(
        text: &str,
        latencies: Arc<Latencies>,
        inner: Box<dyn Backend>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self::around(inner, Delay { text: text.to_owned(), latencies, clock })
    }
}

impl Delay {
    fn delays(&self, options: &SessionOptions) -> Delays {
        Delays {
            latencies: Arc::clone(&self.latencies),
            random: Random::of_stream(seed_of_repetition(options), u64::from(options.client.0)),
            next: Nanoseconds::ZERO,
        }
    }
}

impl Disturbance for Delay {
    const KIND: &'static str = "delayed";

    fn text(&self) -> &str {
        &self.text
    }

    fn wrap(&self, inner: Box<dyn Session>, options: &SessionOptions) -> Box<dyn Session> {
        Box::new(DelayedSession { delays: self.delays(options), clock: Arc::clone(&self.clock), inner })
    }

    fn wrap_lanes(
        &self,
        inner: Box<dyn LaneSession>,
        options: &SessionOptions,
        lanes: u32,
    ) -> Box<dyn LaneSession> {
        Box::new(DelayedLanes {
            delays: self.delays(options),
            drawn: vec![Nanoseconds::ZERO; lanes as usize],
            inner: HeldBack::new(inner, Arc::clone(&self.clock)),
        })
    }

    fn wrap_async(&self, inner: Box<dyn AsyncSession>, options: &SessionOptions) -> Box<dyn AsyncSession> {
        Box::new(DelayedAsyncSession { delays: self.delays(options), inner })
    }
}

/// One client's delays.
struct Delays {
    latencies: Arc<Latencies>,
    random: Random,
    next: Nanoseconds,
}

impl Delays {
    fn draw(&mut self, request: &Request) {
        self.next = match self.latencies.of(request.operation) {
            Some(latency) => latency.draw(&mut self.random),
            None => Nanoseconds::ZERO,
        };
    }
}

struct DelayedSession {
    delays: Delays,
    clock: Arc<dyn Clock>,
    inner: Box<dyn Session>,
}

#[deny(clippy::missing_trait_methods)]
impl Session for DelayedSession {
    fn prepare(&mut self, request: &Request) {
        self.delays.draw(request);
        self.inner.prepare(request);
    }

    fn execute(&mut self, request: &Request) -> Completion {
        if self.delays.next > Nanoseconds::ZERO {
            self.clock.sleep_until(self.clock.now().after(self.delays.next));
        }
        self.inner.execute(request)
    }

    fn inspects(&self) -> bool {
        self.inner.inspects()
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.inner.inspect(request, completion)
    }

    fn message(&mut self) -> Option<String> {
        self.inner.message()
    }

    fn marks(&self) -> &[Mark] {
        self.inner.marks()
    }

    /// Past the wrapper nobody may go.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

/// The delays of requests in flight pass beside each other.
struct DelayedLanes {
    delays: Delays,
    /// By lane.
    drawn: Vec<Nanoseconds>,
    inner: HeldBack,
}

#[deny(clippy::missing_trait_methods)]
impl LaneSession for DelayedLanes {
    fn prepare(&mut self, lane: u32, request: &Request) {
        self.delays.draw(request);
        self.drawn[lane as usize] = self.delays.next;
        if self.delays.next == Nanoseconds::ZERO {
            self.inner.inner().prepare(lane, request);
        }
    }

    fn submit(&mut self, lane: u32, request: &Request) {
        match self.drawn[lane as usize] {
            Nanoseconds::ZERO => self.inner.submit(lane, request),
            delay => self.inner.submit_after(delay, lane, request),
        }
    }

    fn await_any(&mut self, until: MonotonicTime) -> Option<(u32, Completion)> {
        self.inner.await_any(until)
    }

    fn inspect(&mut self, lane: u32, request: &Request, completion: Completion) -> Completion {
        self.inner.inner().inspect(lane, request, completion)
    }

    fn message(&mut self, lane: u32) -> Option<String> {
        self.inner.inner().message(lane)
    }
}

struct DelayedAsyncSession {
    delays: Delays,
    inner: Box<dyn AsyncSession>,
}

#[deny(clippy::missing_trait_methods)]
impl AsyncSession for DelayedAsyncSession {
    fn prepare(&mut self, request: &Request) {
        self.delays.draw(request);
        self.inner.prepare(request);
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        let delay = self.delays.next;
        let execution = self.inner.execute(request);
        Box::pin(async move {
            if delay > Nanoseconds::ZERO {
                tokio::time::sleep(delay.as_duration()).await;
            }
            execution.await
        })
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.inner.inspect(request, completion)
    }

    fn message(&mut self) -> Option<String> {
        self.inner.message()
    }

    fn marks(&self) -> &[Mark] {
        self.inner.marks()
    }

    fn is_usable(&self) -> bool {
        self.inner.is_usable()
    }
}

#[cfg(test)]
mod tests;
