//! Any target, with errors, short transfers and hangs at known places.
//!
//! What goes wrong is decided in `prepare` and happens in `execute`. Every rule has its own random numbers, seeded by the run's
//! seed, the client and the rule's place, and its own count of operations: rules do not shift each other. Where several
//! rules strike the same operation, the first one counts.

mod grammar;

use std::any::Any;
use std::sync::Arc;

use iolag_model::{Clock, FailureCode, MonotonicTime, Random, mix};

use crate::held_back::HeldBack;
use crate::wrapper::{Disturbance, Wrapper, seed_of_repetition};
use crate::{
    AsyncExecution, AsyncSession, Backend, Completion, LaneSession, Mark, Request, Session, SessionOptions,
};
use grammar::{Fault, When};
pub(crate) use grammar::{Rule, parse_rules};

/// A target with faults.
pub(crate) type FaultyBackend = Wrapper<FaultRules>;

/// Which operations go wrong, and how.
pub(crate) struct FaultRules {
    /// As the user wrote it: `eio@0.01`, `stat:eio@0.1,write:short@0.05,hang=30s@#100`.
    text: String,
    rules: Arc<[Rule]>,
    clock: Arc<dyn Clock>,
}

impl FaultyBackend {
    /// `inner` with faults by `rules`, which the user wrote as `text`.
    pub(crate) fn new(
        text: &str,
        rules: Arc<[Rule]>,
        inner: Box<dyn Backend>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self::around(inner, FaultRules { text: text.to_owned(), rules, clock })
    }
}

impl FaultRules {
    fn faults(&self, options: &SessionOptions) -> Faults {
        let client = mix(seed_of_repetition(options)) ^ u64::from(options.client.0);
        Faults {
            rules: Arc::clone(&self.rules),
            progress: (0..self.rules.len() as u64)
                .map(|rule| Progress { random: Random::of_stream(client, rule), seen: 0 })
                .collect(),
            next: None,
        }
    }
}

impl Disturbance for FaultRules {
    const KIND: &'static str = "faulty";

    fn text(&self) -> &str {
        &self.text
    }

    fn wrap(&self, inner: Box<dyn Session>, options: &SessionOptions) -> Box<dyn Session> {
        Box::new(FaultySession { faults: self.faults(options), clock: Arc::clone(&self.clock), inner })
    }

    fn wrap_lanes(
        &self,
        inner: Box<dyn LaneSession>,
        options: &SessionOptions,
        lanes: u32,
    ) -> Box<dyn LaneSession> {
        Box::new(FaultyLanes {
            faults: self.faults(options),
            decided: vec![None; lanes as usize],
            inner: HeldBack::new(inner, Arc::clone(&self.clock)),
        })
    }

    fn wrap_async(&self, inner: Box<dyn AsyncSession>, options: &SessionOptions) -> Box<dyn AsyncSession> {
        Box::new(FaultyAsyncSession { faults: self.faults(options), inner })
    }
}

/// One client's faults.
struct Faults {
    rules: Arc<[Rule]>,
    progress: Vec<Progress>,
    next: Option<Fault>,
}

/// How far one rule has come with one client.
struct Progress {
    random: Random,
    seen: u64,
}

impl Faults {
    /// Decides what happens to this request.
    fn decide(&mut self, request: &Request) {
        self.next = None;
        for (rule, progress) in self.rules.iter().zip(&mut self.progress) {
            if !rule.concerns(request.operation) {
                continue;
            }
            progress.seen += 1;
            let strikes = match rule.when {
                When::Nth(nth) => progress.seen == nth,
                When::Probability(probability) => progress.random.unit() < probability,
            };
            if strikes && self.next.is_none() {
                self.next = Some(rule.fault);
            }
        }
    }

    /// What the inner session is asked: less, if the transfer is to be short; nothing, if there is to be an error.
    fn forwarded(&self, request: &Request) -> Option<Request> {
        match self.next {
            Some(Fault::Error(_) | Fault::HangForEver) => None,
            Some(Fault::Short) => Some(Request { bytes: request.bytes / 2, ..*request }),
            Some(Fault::HangFor(_)) | None => Some(*request),
        }
    }

    fn shorten(&self, completion: Completion) -> Completion {
        match self.next {
            Some(Fault::Short) if completion.is_ok() => Completion { code: FailureCode::SHORT, ..completion },
            _ => completion,
        }
    }
}

struct FaultySession {
    faults: Faults,
    clock: Arc<dyn Clock>,
    inner: Box<dyn Session>,
}

#[deny(clippy::missing_trait_methods)]
impl Session for FaultySession {
    fn prepare(&mut self, request: &Request) {
        self.faults.decide(request);
        if let Some(forwarded) = self.faults.forwarded(request) {
            self.inner.prepare(&forwarded);
        }
    }

    fn execute(&mut self, request: &Request) -> Completion {
        match self.faults.next {
            None => self.inner.execute(request),
            Some(Fault::Error(code)) => Completion::failed(code),
            Some(Fault::HangForEver) => hang_for_ever(),
            Some(Fault::HangFor(duration)) => {
                self.clock.sleep_until(self.clock.now().after(duration));
                self.inner.execute(request)
            }
            Some(Fault::Short) => {
                let halved = Request { bytes: request.bytes / 2, ..*request };
                self.faults.shorten(self.inner.execute(&halved))
            }
        }
    }

    fn inspects(&self) -> bool {
        self.inner.inspects()
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        match self.faults.forwarded(request) {
            Some(forwarded) => self.inner.inspect(&forwarded, completion),
            None => completion,
        }
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

/// Sleeps until the process is killed; a signal that has a handler does not end it.
fn hang_for_ever() -> ! {
    loop {
        rustix::event::pause();
    }
}

struct FaultyLanes {
    faults: Faults,
    /// By lane.
    decided: Vec<Option<Fault>>,
    inner: HeldBack,
}

impl FaultyLanes {
    /// The faults, of which that of this lane is next.
    fn of_lane(&mut self, lane: u32) -> &Faults {
        self.faults.next = self.decided[lane as usize];
        &self.faults
    }
}

#[deny(clippy::missing_trait_methods)]
impl LaneSession for FaultyLanes {
    fn prepare(&mut self, lane: u32, request: &Request) {
        self.faults.decide(request);
        self.decided[lane as usize] = self.faults.next;
        if let (None | Some(Fault::Short), Some(forwarded)) =
            (self.faults.next, self.faults.forwarded(request))
        {
            self.inner.inner().prepare(lane, &forwarded);
        }
    }

    fn submit(&mut self, lane: u32, request: &Request) {
        let fault = self.decided[lane as usize];
        match (fault, self.of_lane(lane).forwarded(request)) {
            (Some(Fault::Error(code)), _) => self.inner.answer(lane, Completion::failed(code)),
            (Some(Fault::HangFor(time)), _) => self.inner.submit_after(time, lane, request),
            (_, Some(forwarded)) => self.inner.submit(lane, &forwarded),
            (_, None) => self.inner.hold_for_ever(lane, request),
        }
    }

    fn await_any(&mut self, until: MonotonicTime) -> Option<(u32, Completion)> {
        let (lane, completion) = self.inner.await_any(until)?;
        Some((lane, self.of_lane(lane).shorten(completion)))
    }

    fn inspect(&mut self, lane: u32, request: &Request, completion: Completion) -> Completion {
        match self.of_lane(lane).forwarded(request) {
            Some(forwarded) => self.inner.inner().inspect(lane, &forwarded, completion),
            None => completion,
        }
    }

    fn message(&mut self, lane: u32) -> Option<String> {
        self.inner.inner().message(lane)
    }
}

struct FaultyAsyncSession {
    faults: Faults,
    inner: Box<dyn AsyncSession>,
}

#[deny(clippy::missing_trait_methods)]
impl AsyncSession for FaultyAsyncSession {
    fn prepare(&mut self, request: &Request) {
        self.faults.decide(request);
        if let Some(forwarded) = self.faults.forwarded(request) {
            self.inner.prepare(&forwarded);
        }
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        match self.faults.next {
            None => self.inner.execute(request),
            Some(Fault::Error(code)) => Box::pin(async move { Completion::failed(code) }),
            Some(Fault::HangForEver) => Box::pin(std::future::pending()),
            Some(Fault::HangFor(duration)) => {
                let execution = self.inner.execute(request);
                Box::pin(async move {
                    tokio::time::sleep(duration.as_duration()).await;
                    execution.await
                })
            }
            Some(Fault::Short) => Box::pin(async move {
                let halved = Request { bytes: request.bytes / 2, ..*request };
                let completion = self.inner.execute(&halved).await;
                self.faults.shorten(completion)
            }),
        }
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        match self.faults.forwarded(request) {
            Some(forwarded) => self.inner.inspect(&forwarded, completion),
            None => completion,
        }
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
