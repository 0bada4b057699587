//! The blocking form of a session that exists only as an asynchronous one: what speaks a protocol by tasks is used by a thread.

use std::any::Any;

use iolag_model::FailureCode;
use tokio::runtime::{Builder, Runtime};

use crate::{AsyncOpening, AsyncSession, BackendError, Completion, Mark, Request, Session};

/// A session, and the runtime in which its thread waits for it.
///
/// Limits: the place that the future of a request takes is allocated and freed between the two readings of the clock, some 20 ns. A
/// session that cannot be asked again is not replaced: it goes on to fail.
pub struct Blocking {
    /// Dropped before its runtime.
    session: Box<dyn AsyncSession>,
    runtime: Runtime,
}

impl Blocking {
    /// Opens the session, on the thread that will use it.
    ///
    /// # Errors
    /// If it does not open, or the system has no descriptors left.
    pub fn open(opening: AsyncOpening<'_>) -> Result<Self, BackendError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
            let code = FailureCode::from_errno(error.raw_os_error().unwrap_or(libc::EIO));
            let path = "a runtime for a session".to_owned();
            BackendError::Failed { action: "make", path, class: code.class(), code }
        })?;
        Ok(Self { session: runtime.block_on(opening)?, runtime })
    }
}

/// Deny: a method that the trait gets later must reach the session within.
#[deny(clippy::missing_trait_methods)]
impl Session for Blocking {
    fn prepare(&mut self, request: &Request) {
        self.session.prepare(request);
    }

    fn execute(&mut self, request: &Request) -> Completion {
        self.runtime.block_on(self.session.execute(request))
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.session.inspect(request, completion)
    }

    /// It does not say.
    fn inspects(&self) -> bool {
        true
    }

    fn message(&mut self) -> Option<String> {
        self.session.message()
    }

    fn marks(&self) -> &[Mark] {
        self.session.marks()
    }

    /// A request over a network is no short one.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}
