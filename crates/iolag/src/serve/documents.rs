//! The document of the live page: what a report of the history would say now, made by a child when somebody asks.
//!
//! Making it may take seconds of a processor that belongs to others. So one is made at a time, everybody who asks gets the same, and
//! it is kept for as long as making it must not be more than a small share of the time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::serve::attended::{apart, ask_child};

/// Makes the document, or says in a sentence why not; called in a child, may hang.
pub type MakeDocument = Arc<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>;

/// A document is kept for so many times the time that it took: at most a twentieth of a processor is used.
const KEPT_FACTOR: u32 = 20;
const KEPT_MIN: Duration = Duration::from_secs(4);
/// How long somebody waits who can be given an older one, and who cannot.
const PATIENCE_WITH_OLD: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(60);
/// After a failure.
const PAUSE: Duration = Duration::from_secs(2);

/// Where askers and the maker meet.
#[derive(Debug, Default)]
pub(super) struct Documents {
    state: Mutex<DocumentState>,
    wanted: Notify,
    done: Notify,
}

#[derive(Debug, Default)]
struct DocumentState {
    latest: Option<Made>,
    trouble: Option<String>,
}

#[derive(Debug, Clone)]
struct Made {
    document: Bytes,
    at: Instant,
    took: Duration,
}

impl Documents {
    /// The document as it is now, or as it was not long ago.
    ///
    /// # Errors
    /// One sentence, if there is none yet.
    pub(super) async fn ask(&self) -> Result<Bytes, String> {
        if let Some(document) = self.fresh() {
            return Ok(document);
        }
        let patience = if self.state().latest.is_some() { PATIENCE_WITH_OLD } else { PATIENCE };
        let done = self.done.notified();
        self.wanted.notify_one();
        // Who has waited long enough gets what there is.
        let _ = timeout(patience, done).await;
        let state = self.state();
        match (&state.latest, &state.trouble) {
            (_, Some(trouble)) => Err(trouble.clone()),
            (Some(made), None) => Ok(made.document.clone()),
            (None, None) => Err("the history is still being read: ask again in a minute".to_owned()),
        }
    }

    fn fresh(&self) -> Option<Bytes> {
        let state = self.state();
        let made = state.latest.as_ref().filter(|_| state.trouble.is_none())?;
        let kept = (made.took * KEPT_FACTOR).max(KEPT_MIN);
        (made.at.elapsed() < kept).then(|| made.document.clone())
    }

    fn state(&self) -> MutexGuard<'_, DocumentState> {
        // Every change is whole before it is seen.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes documents for those who ask, for as long as it is polled. The process has one thread: it forks.
pub(super) async fn make(documents: Arc<Documents>, make: MakeDocument) {
    loop {
        documents.wanted.notified().await;
        if documents.fresh().is_none() {
            let begin = Instant::now();
            let made = ask_child("reporter", "the history", || apart(|| make()).and_then(|made| made)).await;
            let has_failed = made.is_err();
            {
                let mut state = documents.state();
                match made {
                    Ok(document) => {
                        let made = Made { document, at: Instant::now(), took: begin.elapsed() };
                        *state = DocumentState { latest: Some(made), trouble: None };
                    }
                    Err(sentence) => state.trouble = Some(sentence),
                }
            }
            documents.done.notify_waiters();
            if has_failed {
                sleep(PAUSE).await;
            }
        }
        documents.done.notify_waiters();
    }
}
