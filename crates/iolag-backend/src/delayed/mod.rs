//! Any target, made slower by a known time.
//!
//! The delay of an operation is drawn in `prepare`, waited for first thing in `execute`, and then the operation is
//! forwarded. Blocking sessions wait by the clock they were given: under a simulated clock 5 ms are exactly 5 ms, in real time
//! never less. Asynchronous sessions wait by the timer of tokio, which has a resolution of 1 ms and always rounds up.

mod grammar;

use std::sync::Arc;

use iolag_model::{Clock, Nanoseconds};

use crate::random::Random;
use crate::{
    AsyncExecution, AsyncSession, Backend, BackendError, Capabilities, Completion, Description, Inventory,
    Leftover, Place, Request, Session, SessionOptions,
};
pub(crate) use grammar::parse_operation;
use grammar::{Latencies, parse_latencies};

/// A target behind a known delay.
pub struct DelayedBackend {
    text: String,
    latencies: Arc<Latencies>,
    clock: Arc<dyn Clock>,
    inner: Box<dyn Backend>,
}

impl DelayedBackend {
    /// `inner`, delayed as `delays` says: `5ms`, `2ms,create=20ms~exp`, `stat=1ms~lognormal(0.5)`.
    ///
    /// # Errors
    /// If `delays` cannot be understood.
    pub fn new(delays: &str, inner: Box<dyn Backend>, clock: Arc<dyn Clock>) -> Result<Self, BackendError> {
        let latencies = parse_latencies(delays)
            .map_err(|reason| BackendError::Target { target: format!("delayed:{delays}:"), reason })?;
        Ok(Self { text: delays.to_owned(), latencies: Arc::new(latencies), clock, inner })
    }

    fn delays(&self, options: &SessionOptions) -> Delays {
        Delays {
            latencies: Arc::clone(&self.latencies),
            random: Random::new(options.seed, u64::from(options.client.0)),
            next: Nanoseconds::ZERO,
        }
    }
}

/// Deny: a method that the traits get later must not go past the delay unseen.
#[deny(clippy::missing_trait_methods)]
impl Backend for DelayedBackend {
    fn describe(&self) -> Description {
        let inner = self.inner.describe();
        Description {
            kind: "delayed",
            target: format!("delayed:{}:{}", self.text, inner.target),
            semantics: inner.semantics,
        }
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn expect_place(&self, place: &Place) {
        self.inner.expect_place(place);
    }

    fn create_place(&self) -> Result<Place, BackendError> {
        self.inner.create_place()
    }

    fn reopen_place(&self) -> Result<Place, BackendError> {
        self.inner.reopen_place()
    }

    fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError> {
        let inner = self.inner.open_session(options)?;
        Ok(Box::new(DelayedSession { delays: self.delays(options), clock: Arc::clone(&self.clock), inner }))
    }

    fn open_async_session(
        &self,
        options: &SessionOptions,
    ) -> Option<Result<Box<dyn AsyncSession>, BackendError>> {
        let inner = self.inner.open_async_session(options)?;
        Some(inner.map(|inner| {
            Box::new(DelayedAsyncSession { delays: self.delays(options), inner }) as Box<dyn AsyncSession>
        }))
    }

    fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        self.inner.inventory(rank, dataset)
    }

    fn remove_place(&self) -> Result<Vec<Leftover>, BackendError> {
        self.inner.remove_place()
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
        Box::pin(async move {
            if self.delays.next > Nanoseconds::ZERO {
                tokio::time::sleep(self.delays.next.as_duration()).await;
            }
            self.inner.execute(request).await
        })
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.inner.inspect(request, completion)
    }
}

#[cfg(test)]
mod tests;
