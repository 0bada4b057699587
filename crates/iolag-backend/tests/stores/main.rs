//! Backends of servers, each against the real server.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod conforming;
mod failing;
#[cfg(feature = "mongodb")]
mod mongo;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use iolag_backend::{Backend, BackendError, Target, WORKING_NAME};
use iolag_model::MonotonicClock;

/// The backend of a target.
fn backend(target: &str) -> Box<dyn Backend> {
    Target::parse(target).unwrap().backend(WORKING_NAME, Arc::new(MonotonicClock)).unwrap()
}

/// What a working place cannot be made for.
fn refusal(target: &str) -> BackendError {
    backend(target).create_place(&iolag_backend::conformance::maker()).unwrap_err()
}

/// Names for places of their own.
#[derive(Default)]
struct Fresh(AtomicU32);

impl Fresh {
    fn next(&self) -> String {
        format!("place{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}
